package sqlite

import (
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

const h, m, sec = time.Hour, time.Minute, time.Second

func TestWhatWasWrittenIsRead(t *testing.T) {
	t.Parallel()
	o := place(t)
	w := begun(t, o, 0)
	running, ended := term("a", 1*m, 0), term("a", 1*m, 2*m)
	ended.End = sources.StampBetween(after(110*sec), after(2*m), sources.Seen)
	ended.Sure, ended.Every = after(100*sec), 250*time.Millisecond
	next := term("b", 3*m, 0)
	next.Owner.Label, next.Program = "worker", 9
	write(t, w, batchOf(0, m, history.LaneChange{Ref: ref("x"), Kind: sources.KindElection, Scope: "s", Terms: []sources.Term{running}}))
	s := store(t, o)
	if l := laneOf(t, s, "x", span(0, h)); len(l.Terms) != 1 || l.Terms[0].End != (sources.Stamp{}) || l.Kind != sources.KindElection {
		t.Errorf("read %+v, want a running term", l)
	}
	b := batchOf(m, 3*m, history.LaneChange{Ref: ref("x"), Scope: "s", Terms: []sources.Term{ended, next}, Levels: []sources.Level{{At: after(m), Taken: 3, High: sources.NoLimit}}})
	b.Keyframe = nil
	b.Events = []sources.Event{event(2*m, "x"), {Seq: 9, At: after(3 * m), Kind: sources.EventSourceUp, Ref: sources.Ref{Source: "leases"}, Scope: "s", Detail: "hi"}}
	b.Dark = []history.DarkChange{{Source: "leases", Scope: "s", Dark: sources.Dark{From: after(150 * sec), To: after(160 * sec)}}, {Ref: ref("x"), Source: "leases", Scope: "s", Dark: sources.Dark{From: after(170 * sec)}}}
	write(t, w, b)
	l := laneOf(t, s, "x", span(0, h))
	next.Hue = 1
	if want := []sources.Term{ended, next}; !equal(l.Terms, want) {
		t.Errorf("terms %+v\nwant  %+v", l.Terms, want)
	}
	if want := []sources.Dark{{From: after(150 * sec), To: after(160 * sec)}, {From: after(170 * sec)}}; !equal(l.Dark, want) {
		t.Errorf("dark %+v, want %+v", l.Dark, want)
	}
	events, err := s.Events(t.Context(), after(2*m), 10, 10, history.EventFilter{})
	b.Events[0].Mono = 0 // it is not stored
	if want := []history.Event{{Event: b.Events[0], Run: 1}, {Event: b.Events[1], Run: 1}}; err != nil || !equal(events, want) {
		t.Errorf("events %+v, %v\nwant  %+v", events, err, want)
	}
	if events, err := s.Events(t.Context(), after(2*m), 10, 0, history.EventFilter{Refs: []sources.Ref{ref("x")}}); err != nil || len(events) != 0 {
		t.Errorf("events before %+v, %v: want none", events, err)
	}
	for path, mode := range map[string]os.FileMode{o.Path: 0o600, o.Path + "-wal": 0o600, filepath.Dir(o.Path): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v: want the mode %o", path, info.Mode(), err, mode)
		}
	}
}

// equal compares what was stored: the zone of a time is not.
func equal(a, b any) bool {
	return reflect.DeepEqual(local(reflect.ValueOf(a)), local(reflect.ValueOf(b)))
}

func local(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Slice:
		var list []any
		for i := range v.Len() {
			list = append(list, local(v.Index(i)))
		}
		return list
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			return at.UnixNano()
		}
		if s, ok := v.Interface().(sources.Stamp); ok {
			return [3]any{s.At.UnixNano(), s.How, s.After().UnixNano()}
		}
		var list []any
		for i := range v.NumField() {
			list = append(list, local(v.Field(i)))
		}
		return list
	}
	return v.Interface()
}

func TestTheTimeBetweenTwoRunsIsNotObserved(t *testing.T) {
	t.Parallel()
	o := place(t)
	first := begun(t, o, 0)
	vague := term("a", sec, 0)
	vague.Owner.Fence = 0
	write(t, first, batchOf(0, m, history.LaneChange{Ref: ref("same"), Scope: "s", Terms: []sources.Term{term("a", sec, 0)}},
		history.LaneChange{Ref: ref("vague"), Scope: "s", Terms: []sources.Term{vague}},
		history.LaneChange{Ref: ref("other"), Scope: "s", Terms: []sources.Term{term("a", sec, 0)}}))
	if _, err := Begin(t.Context(), o, history.Run{}); !errors.Is(err, history.ErrBusy) {
		t.Errorf("a second recorder: %v, want ErrBusy", err)
	}
	s := store(t, o)
	if runs, err := s.Runs(t.Context()); err != nil || len(runs) != 1 || !runs[0].Live || !runs[0].To.Equal(after(m)) {
		t.Errorf("runs %+v, %v: want one that is live", runs, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	l := laneOf(t, s, "other", span(0, h))
	if want := (sources.Stamp{At: after(m), How: sources.Bound}); !equal(l.Terms[0].End, want) || !equal(l.Dark, []sources.Dark{{From: after(m)}}) {
		t.Errorf("end %+v, dark %+v: want the end of the run as a bound", l.Terms[0].End, l.Dark)
	}
	second := begun(t, o, 10*m)
	again := term("a", 0, 0)
	again.Start = sources.Stamp{At: after(11 * m), How: sources.AtLeast}
	vague.Start = again.Start
	write(t, second, batchOf(10*m, 12*m, history.LaneChange{Ref: ref("same"), Scope: "s", Terms: []sources.Term{again}},
		history.LaneChange{Ref: ref("vague"), Scope: "s", Terms: []sources.Term{vague}},
		history.LaneChange{Ref: ref("other"), Scope: "s", Terms: []sources.Term{term("b", 11*m, 0)}}))
	if l := laneOf(t, s, "same", span(0, h)); len(l.Terms) != 1 || l.Terms[0].End != (sources.Stamp{}) || !l.Terms[0].Sure.IsZero() {
		t.Errorf("terms %+v: want the one that goes on, as its fence proves", l.Terms)
	}
	l = laneOf(t, s, "other", span(sec, h))
	if len(l.Terms) != 2 || l.Terms[0].End.How != sources.Bound || !equal(l.Dark, []sources.Dark{{From: after(m), To: after(10 * m)}, {From: after(12*m + silent)}}) {
		t.Errorf("terms %+v, dark %+v", l.Terms, l.Dark)
	}
	vague.End = sources.Stamp{At: after(12 * m), How: sources.Seen}
	write(t, second, batchOf(12*m, 13*m, history.LaneChange{Ref: ref("vague"), Scope: "s", Terms: []sources.Term{vague}}))
	if l := laneOf(t, s, "vague", span(0, h)); len(l.Terms) != 1 || !l.Terms[0].Start.At.Equal(after(sec)) || !l.Terms[0].Sure.Equal(after(11*m)) {
		t.Errorf("terms %+v: want the one that may have gone on, sure from the second run on", l.Terms)
	}
}

func TestAFileThatIsNoRecordingIsSaidToBeNone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		spoil   func(t *testing.T, path string)
		theirs  bool
		want    error
		reading error
		note    string
	}{
		{"of another program", func(t *testing.T, path string) { change(t, path, "pragma application_id = 1") }, false, history.ErrForeign, history.ErrForeign, ""},
		{"no SQLite", func(t *testing.T, path string) { overwrite(t, path, []byte("hello, this is a text of somebody")) }, true, history.ErrForeign, history.ErrForeign, ""},
		{"garbage at our own place", func(t *testing.T, path string) { overwrite(t, path, []byte("hello, this is a text of nobody")) }, false, nil, nil, "was damaged"},
		{"newer and readable", func(t *testing.T, path string) { change(t, path, "pragma user_version = 1900") }, false, history.ErrNewer, nil, ""},
		{"newer", func(t *testing.T, path string) { change(t, path, "pragma user_version = 9900") }, false, history.ErrNewer, history.ErrNewer, ""},
		{"damaged at our own place", func(t *testing.T, path string) { overwrite(t, path, damagedOfOthers()) }, false, nil, nil, "was damaged"},
		{"damaged, and none of ours as far as can be read", func(t *testing.T, path string) { overwrite(t, path, damagedOfOthers()) }, true, history.ErrForeign, history.ErrDamaged, ""},
		{"damaged behind its first page", func(t *testing.T, path string) { garble(t, path, math.MaxInt) }, true, nil, nil, "was damaged"},
		{"damaged in its last page", func(t *testing.T, path string) { garble(t, path, 1) }, true, nil, nil, "was damaged"},
		{"read-only", func(t *testing.T, path string) { protect(t, path) }, false, os.ErrPermission, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := place(t)
			if o.Ours = !tt.theirs; tt.theirs { // they made the folder too
				if err := os.Mkdir(filepath.Dir(o.Path), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			w := begun(t, o, 0)
			write(t, w, batchOf(0, m))
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if left, _ := filepath.Glob(o.Path + "-*"); len(left) > 0 {
				t.Errorf("%v is left after a clean end", left)
			}
			tt.spoil(t, o.Path)
			again, err := Begin(t.Context(), o, history.Run{Span: span(2*m, 2*m)})
			if !errors.Is(err, tt.want) {
				t.Fatalf("error %v, want %v", err, tt.want)
			}
			if err == nil {
				if !strings.Contains(again.Note(), tt.note) {
					t.Errorf("note %q, want %q", again.Note(), tt.note)
				}
				if aside, _ := filepath.Glob(o.Path + ".broken-*"); len(aside) != 1 {
					t.Errorf("put aside: %v", aside)
				}
				if err := again.Close(); err != nil {
					t.Error(err)
				}
			}
			if _, err := store(t, o).Runs(t.Context()); !errors.Is(err, tt.reading) {
				t.Errorf("reading: %v, want %v", err, tt.reading)
			}
		})
	}
}

// damagedOfOthers is a file that begins as one of SQLite.
func damagedOfOthers() []byte { return append([]byte("SQLite format 3\x00"), make([]byte, 8000)...) }

// TestAFileOfOthersStaysAsItIs names files of other programs, sound and damaged, as the recording.
func TestAFileOfOthersStaysAsItIs(t *testing.T) {
	t.Parallel()
	sql := func(texts ...string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			overwrite(t, path, nil)
			for _, text := range texts {
				change(t, path, text)
			}
		}
	}
	table := "create table t(a); insert into t select zeroblob(3000) from (values(1),(2),(3),(4))"
	for name, spoil := range map[string]func(t *testing.T, path string){
		"sound":                         sql(table),
		"of a program with a number":    sql(table, "pragma application_id = 7"),
		"without a table":               sql("pragma user_version = 1"),
		"damaged behind its first page": func(t *testing.T, path string) { sql(table)(t, path); garble(t, path, math.MaxInt) },
		"damaged where it begins":       func(t *testing.T, path string) { overwrite(t, path, damagedOfOthers()) },
		"nothing but zeros":             func(t *testing.T, path string) { overwrite(t, path, make([]byte, 8192)) },
		"a text":                        func(t *testing.T, path string) { overwrite(t, path, []byte("hello")) },
		"with what was not written yet": func(t *testing.T, path string) {
			sql(table, "pragma journal_mode = wal")(t, path)
			overwrite(t, path+"-wal", []byte("somebody's"))
			overwrite(t, path+"-journal", []byte("somebody's"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Path: filepath.Join(t.TempDir(), "theirs.db")}
			spoil(t, o.Path)
			if err := os.Chmod(o.Path, 0o644); err != nil {
				t.Fatal(err)
			}
			before := folderOf(t, o.Path)
			if _, err := Begin(t.Context(), o, history.Run{Span: span(0, 0)}); !errors.Is(err, history.ErrForeign) {
				t.Errorf("error %v, want ErrForeign", err)
			}
			if after := folderOf(t, o.Path); !reflect.DeepEqual(after, before) {
				t.Errorf("there are %v, and were %v", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
			}
		})
	}
}

// folderOf is what stands in the folder of a file: modes and contents.
func folderOf(t *testing.T, path string) map[string]string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range all {
		b, err := os.ReadFile(name)
		info, failed := os.Stat(name)
		if err := errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		found[name] = info.Mode().String() + string(b)
	}
	return found
}

func change(t *testing.T, path, text string) {
	t.Helper()
	db, err := connect(path, writing, 1)
	if err == nil {
		_, err = db.Exec(text)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// garble overwrites the last so many pages but the first.
func garble(t *testing.T, path string, pages int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const size = 4096
	for i := max(1, len(b)/size-pages) * size; i < len(b); i++ {
		b[i] = 0x5a
	}
	overwrite(t, path, b)
}

func protect(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	if err := errors.Join(os.Chmod(path, 0o400), os.Chmod(filepath.Dir(path), 0o500)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
}

// TestAGroupThatCannotBeReadSaysWhy reads what another version wrote, and what is no group.
func TestAGroupThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	const magic = len("coordtop") // behind it stand the version and the lowest that can read it
	for name, c := range map[string]struct {
		spoil func(b *history.Batch)
		text  string // of SQL
		open  error
		next  error
	}{
		"sound":                      {},
		"a keyframe that is none":    {spoil: func(b *history.Batch) { b.Keyframe = []byte("key") }, open: history.ErrDamaged},
		"a keyframe that is cut":     {spoil: func(b *history.Batch) { b.Keyframe = b.Keyframe[:len(b.Keyframe)-1] }, open: history.ErrDamaged},
		"a keyframe of a newer one":  {spoil: func(b *history.Batch) { b.Keyframe[magic+1] = 99 }, open: history.ErrNewer},
		"a number that is a text":    {text: "update gop set thin = 'x'", open: history.ErrDamaged},
		"a keyframe that is no zstd": {text: "update gop set body = x'00'", open: history.ErrDamaged},
		"Inputs that are none":       {spoil: func(b *history.Batch) { b.Inputs = []byte{0, 0, 0} }, next: history.ErrDamaged},
		"Inputs that are cut":        {spoil: func(b *history.Batch) { b.Inputs = b.Inputs[:len(b.Inputs)-1] }, next: history.ErrDamaged},
		"Inputs of a newer one":      {spoil: func(b *history.Batch) { b.Inputs = []byte{0, byte(sources.InputPublished) + 1, 0, 0, 0} }, next: history.ErrNewer},
		"a chunk that is no zstd":    {text: "update chunk set body = x'00'", next: history.ErrDamaged},
		"a chunk that has nothing":   {text: "update chunk set body = x''", next: history.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, e := place(t), tape.NewEncoder(tape.EncoderOptions{})
			w := begun(t, o, 0)
			b := batchOf(0, 2*chunkAge)
			b.Keyframe = e.Keyframe(nil, &sources.Keyframe{})
			b.Inputs = e.Input(nil, &sources.Input{Seq: 1, Kind: sources.InputPublished, At: sources.Instant{Wall: after(sec), Mono: sec}})
			if c.spoil != nil {
				c.spoil(b)
			}
			write(t, w, b)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if c.text != "" {
				change(t, o.Path, c.text)
			}
			cursor, err := store(t, o).Cursor(t.Context(), 0, after(0))
			if !errors.Is(err, c.open) || err == nil && c.open != nil {
				t.Fatalf("opening: %v, want %v", err, c.open)
			}
			if err != nil {
				return
			}
			p, err := cursor.Next(t.Context())
			if err == nil {
				p, err = cursor.Next(t.Context()) // the first one has the keyframe
			}
			if err == nil && c.next == nil && len(p.Inputs) == 1 {
				return
			}
			if c.next == nil || !errors.Is(err, c.next) || !strings.Contains(err.Error(), o.Path) {
				t.Errorf("%d Inputs, %v; want %v, and which file", len(p.Inputs), err, c.next)
			}
		})
	}
}
