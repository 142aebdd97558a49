package tape

import (
	"coordtop/sources"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// leader is a leader key as redissource reads it.
func leader(i int) *sources.Primitive {
	now := sources.Wall()
	id := fmt.Sprintf("host-%02d:%d", i%64, 1000)
	return &sources.Primitive{
		Ref:  sources.Ref{Source: "redis", Space: "0", Name: fmt.Sprintf("app:leader:%06d", i)},
		Kind: sources.KindElection, Limit: 1, Taken: 1, LimitHow: sources.Told, OwnersHow: sources.Told, At: now, ForgetAfter: time.Hour,
		Owners: []sources.Owner{{
			ID: id, Label: id, Permits: 1, Lease: 30 * time.Second, Guard: fmt.Sprintf("%040x", i),
			Expires: sources.StampBetween(now.Add(29*time.Second), now.Add(30*time.Second), sources.Told),
		}},
	}
}

// renewals is a keyframe of so many leaders, and the Inputs by which each renews its lease so
// many times, in turn, as redissource tells it.
func renewals(t testing.TB, rows, times int) (*sources.Keyframe, []sources.Input) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	at := sources.Instant{Wall: time.Unix(1_796_000_000, 0), Mono: time.Hour}
	jitter := func(most time.Duration) time.Duration { return time.Duration(random.Int64N(int64(most))) }
	seq, limits := uint64(0), sources.DefaultThresholds()
	input := func(in sources.Input) sources.Input {
		seq++
		in.Seq, in.At = seq, at
		return in
	}
	change := func(c sources.Change) sources.Input {
		asked := at.Wall.Add(-jitter(time.Millisecond))
		c.Scope, c.Alive, c.At, c.After = "main", []string{"main"}, at.Wall, asked
		for _, p := range c.Set {
			left := 30*time.Second - jitter(5*time.Millisecond)
			p.At, p.Owners[0].Expires = at.Wall, sources.StampBetween(asked.Add(left), at.Wall.Add(left), sources.Told)
		}
		in := input(sources.Input{Kind: sources.InputChange, Source: "redis", Change: c})
		in.At.Wall, in.At.Mono = at.Wall.Add(20*time.Microsecond), at.Mono+20*time.Microsecond+jitter(time.Microsecond)
		return in
	}
	set := make([]*sources.Primitive, rows)
	for i := range set {
		set[i] = leader(i)
	}
	r, err := replayed(sources.NewReplayer(sources.HubOptions{Events: 1}), []sources.Input{
		input(sources.Input{Kind: sources.InputStarted, Thresholds: &limits}), input(sources.Input{Kind: sources.InputSources, Added: []sources.AddedSource{{Name: "redis", Type: "redis"}}}),
		change(sources.Change{Relists: true, Synced: true, Set: set}), input(sources.Input{Kind: sources.InputPublished}),
	})
	if err != nil {
		t.Fatal(err)
	}
	k := r.Hub().Keyframe()
	var inputs []sources.Input
	for range times {
		for i := range rows {
			pause := time.Millisecond + jitter(100*time.Microsecond)
			at.Wall, at.Mono = at.Wall.Add(pause), at.Mono+pause
			inputs = append(inputs, change(sources.Change{Set: []*sources.Primitive{leader(i)}}))
		}
	}
	return k, inputs
}

func TestARenewalIsRecordedInFewBytes(t *testing.T) {
	t.Parallel()
	k, inputs := renewals(t, 1000, 3)
	list := pieces(k, inputs, len(inputs)/3, EncoderOptions{})
	t.Logf("a keyframe of 1,000 rows: %d B each; a renewal: %d, %d, %d B", len(list[0])/1000, len(list[1])/1000, len(list[2])/1000, len(list[3])/1000)
	if got := len(list[3]) / 1000; got > 30 {
		t.Errorf("a renewal takes %d B", got)
	}
}

// BenchmarkCodec measures a renewal, and a keyframe of 10,000 rows.
func BenchmarkCodec(b *testing.B) {
	k, inputs := renewals(b, 10_000, 2)
	e := NewEncoder(EncoderOptions{})
	group := e.Keyframe(nil, k)
	var body []byte
	for i := range inputs {
		body = e.Input(body, &inputs[i])
	}
	b.Run("encode input", func(b *testing.B) {
		b.ReportAllocs()
		buf, n := make([]byte, 0, len(body)), 0
		e.Keyframe(nil, k)
		for b.Loop() {
			if n++; n == len(inputs) {
				n, buf = 0, buf[:0]
			}
			buf = e.Input(buf, &inputs[n])
		}
		b.ReportMetric(float64(len(body))/float64(len(inputs)), "B/input")
	})
	b.Run("decode inputs", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			d := NewDecoder()
			if _, err := d.Keyframe(group); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if err := d.Inputs(body, func(*sources.Input) bool { return true }); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed())/float64(b.N*len(inputs)), "ns/input")
	})
	b.Run("take keyframe", func(b *testing.B) {
		h := sources.NewReplayerAt(k, sources.HubOptions{}).Hub()
		for b.Loop() {
			h.Keyframe()
		}
	})
	b.Run("encode keyframe", func(b *testing.B) {
		for b.Loop() {
			e.Keyframe(group[:0], k)
		}
		b.ReportMetric(float64(len(group)), "B")
	})
	b.Run("decode keyframe", func(b *testing.B) {
		for b.Loop() {
			if _, err := NewDecoder().Keyframe(group); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("replayer at keyframe", func(b *testing.B) {
		for b.Loop() {
			sources.NewReplayerAt(k, sources.HubOptions{})
		}
	})
}
