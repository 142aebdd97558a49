package tape

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/sources/tape/internal/pack"
)

var update = flag.Bool("update", false, "write the recording of a new version of the codec")

// goldenRun is a short run with something of everything, at fixed times.
func goldenRun(t *testing.T) (middle *sources.Keyframe, inputs []sources.Input) {
	t.Helper()
	start := time.Unix(1_796_000_000, 123_456_789)
	ref := sources.Ref{Source: "redis", Space: "0", Name: "app:leader"}
	quota := sources.Ref{Source: "redis", Space: "0", Name: "app:quota"}
	at := func(ms int) sources.Instant {
		d := time.Duration(ms) * time.Millisecond
		return sources.Instant{Wall: start.Add(d), Mono: time.Second + d + 17}
	}
	limits := sources.DefaultThresholds()
	led := func(ms int, id string) *sources.Primitive {
		now := at(ms).Wall
		return &sources.Primitive{Ref: ref, Kind: sources.KindElection, Limit: 1, LimitHow: sources.Told, Taken: 1, OwnersHow: sources.Told, At: now, ForgetAfter: time.Hour,
			Owners: []sources.Owner{{ID: id, Label: "host-" + id, Permits: 1, Lease: 30 * time.Second, Data: sources.NewBlob([]byte("shard 4"), 7),
				Expires: sources.StampBetween(now.Add(29*time.Second), now.Add(30*time.Second), sources.Told), Attrs: []sources.Attr{{Key: "a", Value: "b", Odd: true}}}}}
	}
	shared := &sources.Primitive{Ref: quota, Kind: sources.KindSemaphore, Limit: 3, LimitHow: sources.Told, Taken: 2, OwnersHow: sources.Told, At: at(20).Wall,
		Owners: []sources.Owner{{ID: "7", Permits: 2, NoExpiry: true}}, Queue: sources.Queue{How: sources.Told, Len: 1, At: at(20).Wall, Waiters: []sources.Waiter{{ID: "8", Permits: 3, Order: 9}}}}
	change := func(ms int, c sources.Change) sources.Input {
		c.At = at(ms).Wall
		return sources.Input{Kind: sources.InputChange, Source: "redis", At: at(ms + 1), Change: c}
	}
	inputs = []sources.Input{
		{Kind: sources.InputStarted, At: at(0), Thresholds: &limits},
		{Kind: sources.InputSources, At: at(1), Added: []sources.AddedSource{{Name: "redis", Type: "redis", Address: "localhost:6379"}, {Name: "pg", Type: "postgres"}}},
		{Kind: sources.InputConnected, Source: "redis", At: at(2)},
		change(20, sources.Change{Scope: "main", Alive: []string{"main"}, Relists: true, Synced: true, Set: []*sources.Primitive{led(20, "a"), shared},
			About: &sources.About{Mode: "tracking", Version: "7.2", Incarnation: "r1", Warnings: []string{"w"}}}),
		{Kind: sources.InputPublished, At: at(22)},
		change(5000, sources.Change{Scope: "main", Alive: []string{"main"}, Set: []*sources.Primitive{led(5000, "a")}, After: at(4990).Wall}),
		{Kind: sources.InputExpected, At: at(5100), Expected: &sources.Expected{Ending: sources.Ending{Ref: ref, Owner: "a", Cause: sources.CauseEvicted}, Within: time.Minute}},
		{Kind: sources.InputNote, At: at(5101), Note: &sources.Event{At: at(5101).Wall, Kind: sources.EventAction, Ref: ref, Detail: "released"}},
		change(5200, sources.Change{Scope: "main", Set: []*sources.Primitive{led(5200, "b")}, Ended: []sources.Ending{{Ref: ref, Owner: "a", Cause: sources.CauseDeleted, How: sources.Told}}}),
		{Kind: sources.InputDisconnected, Source: "pg", At: at(5300), Problem: sources.Final(nil, "no such host"), Retry: at(9000).Wall},
		{Kind: sources.InputPublished, At: at(5301)},
		change(6000, sources.Change{Scope: "main", Gone: []sources.Ref{quota}, Unseen: []sources.Unseen{{Ref: ref, From: at(5900).Wall, To: at(5950).Wall}}}),
		{Kind: sources.InputSilent, Source: "redis", Scope: "main", At: at(12_000)},
		{Kind: sources.InputClockStep, At: at(13_000), Step: -time.Minute},
		{Kind: sources.InputPublished, At: at(13_001)},
	}
	r := sources.NewReplayer(sources.HubOptions{})
	for i := range inputs {
		inputs[i].Seq = uint64(i) + 1
		if err := r.Apply(inputs[i]); err != nil {
			t.Fatal(err)
		}
		if i == 8 { // with a draft, and an expectation that is used up
			middle = r.Hub().Keyframe()
		}
	}
	return middle, inputs
}

// TestARecordingOfEachVersionIsRead reads what this version of the codec wrote when it was new.
// A codec that writes something else needs a new version, and a new file; the old one stays.
func TestARecordingOfEachVersionIsRead(t *testing.T) {
	t.Parallel()
	name := recordingOf(codecVersion)
	middle, inputs := goldenRun(t)
	list := slices.Concat(pieces(new(sources.Keyframe), inputs, len(inputs), EncoderOptions{}), pieces(middle, inputs[middle.Seq:], len(inputs), EncoderOptions{}))
	var s pack.Stream
	s.Forget()
	s.Write(nil)
	for _, piece := range list {
		s.Text(string(piece))
	}
	if *update {
		if err := os.WriteFile(name, s.Rest(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, s.Rest()) {
		t.Errorf("the same run is recorded in other bytes than those of %s", name)
	}
	for version := 1; version < codecVersion; version++ {
		old, err := os.ReadFile(recordingOf(version))
		if err != nil {
			t.Fatal(err)
		}
		readGolden(t, old, inputs)
	}
	readGolden(t, file, inputs)
}

// readGolden reads the groups of a file, which are parts of inputs.
func readGolden(t *testing.T, file []byte, inputs []sources.Input) {
	t.Helper()
	var f pack.Stream
	f.Read(file)
	for len(f.Rest()) > 0 {
		k, again, err := decoded([][]byte{[]byte(f.Text("")), []byte(f.Text(""))})
		if err != nil {
			t.Fatal(err)
		}
		if want := inputs[k.Seq:]; !reflect.DeepEqual(again, want) {
			t.Errorf("behind input %d the inputs were\n%+v\nand are\n%+v", k.Seq, want, again)
		}
		r, err := replayed(sources.NewReplayerAt(k, sources.HubOptions{}), again)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := replayed(sources.NewReplayer(sources.HubOptions{}), inputs)
		if err != nil {
			t.Fatal(err)
		}
		if was, is := whole.Hub().State(), r.Hub().State(); !reflect.DeepEqual(was, is) {
			t.Errorf("the state was\n%+v\nand is\n%+v", was, is)
		}
	}
}

// recordingOf is the file of a version.
func recordingOf(version int) string { return fmt.Sprintf("testdata/recording-%d.bin", version) }

func TestARecordingOfANewerVersionIsSaidToBe(t *testing.T) {
	t.Parallel()
	whole := pieces(new(sources.Keyframe), []sources.Input{{Kind: sources.InputPublished}}, 1, EncoderOptions{})
	for name, list := range map[string][][]byte{
		"a reader must be newer": {append([]byte(codecMagic), 9, codecVersion+1, 0)},
		"a keyframe has more":    {append([]byte(codecMagic), 9, codecVersion, 0x80, 0x80, 0x80, 0x80, 1)},
		"an input has more":      {whole[0], {0, byte(sources.InputPublished), 0, 0, 0x80, 0x80, 0x80, 1}},
		"a kind is new":          {whole[0], {0, byte(sources.InputPublished) + 1, 0, 0, 0}},
	} {
		if _, _, err := decoded(list); !errors.Is(err, ErrNewerRecording) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, list := range map[string][][]byte{
		"nothing": {nil}, "something else": {[]byte("SQLite format 3")}, "cut": {whole[0], whole[1][:len(whole[1])-1]}, "more": {append(whole[0][:len(whole[0]):len(whole[0])], 0)},
	} {
		if _, _, err := decoded(list); !errors.Is(err, sources.ErrRecording) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestADamagedRecordingDoesNoHarm changes each byte of a recording in some ways.
func TestADamagedRecordingDoesNoHarm(t *testing.T) {
	t.Parallel()
	middle, inputs := goldenRun(t)
	whole := pieces(middle, inputs[middle.Seq:], len(inputs), EncoderOptions{})
	for part := range whole {
		for at, was := range whole[part] {
			for _, is := range []byte{0, 1, 0x80, 0xff, was ^ 1, was ^ 8, was + 1} {
				damaged := slices.Clone(whole)
				damaged[part] = slices.Clone(whole[part])
				damaged[part][at] = is
				k, again, err := decoded(damaged)
				if err != nil {
					continue
				}
				r := sources.NewReplayerAt(k, sources.HubOptions{Events: 100})
				_, _ = replayed(r, again) // it may be no recording
				state := r.Hub().State()
				for _, row := range state.Rows {
					if row != nil {
						row.Status(state)
						row.RecordedSince(state)
						row.Unobserved(state)
					}
				}
			}
		}
	}
}

// FuzzDecoder decodes any bytes, and replays what comes of them.
func FuzzDecoder(f *testing.F) {
	whole := pieces(new(sources.Keyframe), []sources.Input{{Seq: 1, Kind: sources.InputStarted, Thresholds: &sources.Thresholds{}}}, 1, EncoderOptions{})
	f.Add(whole[0], whole[1])
	if file, err := os.ReadFile(recordingOf(codecVersion)); err == nil {
		var s pack.Stream
		for s.Read(file); len(s.Rest()) > 0; {
			f.Add([]byte(s.Text("")), []byte(s.Text("")))
		}
	}
	f.Fuzz(func(t *testing.T, keyframe, inputs []byte) {
		d := NewDecoder()
		k, err := d.Keyframe(keyframe)
		if err != nil {
			if k != nil || !errors.Is(err, sources.ErrRecording) && !errors.Is(err, ErrNewerRecording) {
				t.Fatal(k, err)
			}
			k = new(sources.Keyframe)
			_, _ = d.Keyframe(NewEncoder(EncoderOptions{}).Keyframe(nil, k))
		}
		r := sources.NewReplayerAt(k, sources.HubOptions{Events: 100})
		err = d.Inputs(inputs, func(in *sources.Input) bool { return r.Apply(*in) == nil })
		if err != nil && !errors.Is(err, sources.ErrRecording) && !errors.Is(err, ErrNewerRecording) {
			t.Fatal(err)
		}
		r.Hub().Keyframe()
	})
}

// Not parallel: what others allocate meanwhile would be counted too.
func TestDecodingAllocatesNoMoreThanItsInputIsWorth(t *testing.T) {
	const each, size = 300, 100_000
	whole := pieces(new(sources.Keyframe), nil, 1, EncoderOptions{})
	// A change (1<<2) that sets (1<<2) one primitive, which is new, with owners (1<<1).
	head := []byte{0, byte(sources.InputChange), 0, 0, 1 << 2, 1 << 2, 1 + 1, 0, 1, 1, 1, 1 << 1}
	lists := map[string][]byte{"a long list": nil, "a short list that says that it is long": nil, "zeros": make([]byte, size)}
	long := binary.AppendUvarint(head, size+1)
	lists["a short list that says that it is long"] = long
	lists["a long list"] = append(slices.Clone(long), make([]byte, size)...)
	for name, b := range lists {
		var before, after runtime.MemStats
		d := NewDecoder()
		if _, err := d.Keyframe(whole[0]); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&before)
		n := 0
		err := d.Inputs(b, func(*sources.Input) bool { n++; return true })
		runtime.ReadMemStats(&after)
		took := after.TotalAlloc - before.TotalAlloc
		t.Log(name, len(b), "bytes", n, "inputs", took, "allocated", err)
		if took > each*uint64(len(b))+1<<16 {
			t.Errorf("%s: %d bytes allocate %d", name, len(b), took)
		}
	}
}
