package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/tables"
	"coordtop/sources"
)

// tidied calls Tidy until nothing is left to do.
func TestWhatIsTooOldIsDropped(t *testing.T) {
	t.Parallel()
	o := place(t)
	o.Limits = Limits{Keep: 48 * h}
	w := begun(t, o, 0)
	for day := range time.Duration(4) {
		from := day * 24 * h
		b := batchOf(from, from+h, history.LaneChange{Ref: ref("x"), Kind: sources.KindElection, Scope: "s", Terms: []sources.Term{term("a", from+m, from+h)}},
			history.LaneChange{Ref: ref("lasts"), Kind: sources.KindElection, Scope: "s", Terms: []sources.Term{term("b", m, 0)}})
		e := event(from+m, "x")
		e.Seq = uint64(day + 1)
		b.Events = []sources.Event{e}
		b.Dark = []history.DarkChange{{Source: "leases", Scope: "s", Dark: sources.Dark{From: after(from + 2*m), To: after(from + 3*m)}}}
		write(t, w, b)
	}
	tidied(t, w, after(74*h))
	s := store(t, o)
	for name, want := range map[string]int{"x": 2, "lasts": 1} {
		if l := laneOf(t, s, name, span(0, 100*h)); len(l.Terms) != want || !l.Since.Equal(after(26*h)) {
			t.Errorf("%s: %d terms since %v, want %d since %v", name, len(l.Terms), l.Since, want, after(26*h))
		}
	}
	l := laneOf(t, s, "x", span(0, 100*h))
	if of := l.WhyUnknown(l.Dark); of[0].Why != history.NotRecorded || of[1].Why != history.Dropped || !of[1].To.Equal(after(26*h)) {
		t.Errorf("what was dropped is %v %v, then %v %v", of[0].Why, of[0].Dark, of[1].Why, of[1].Dark)
	}
	if events, err := s.Events(t.Context(), after(0), 10, 10, history.EventFilter{}); err != nil || len(events) != 2 {
		t.Errorf("%d events, %v: want 2", len(events), err)
	}
	for table, want := range map[string]int64{"gop": 2, "tail": 0, "chunk": 2, "dark": 2, "lane": 2} {
		var n int64
		err := s.ask(t.Context(), func(q *tables.Query) error {
			q.Each(t.Context(), "select count(*) from "+table, nil, []any{&n}, func() {})
			return q.Err
		})
		if err != nil || n != want {
			t.Errorf("%s has %d rows, %v: want %d", table, n, err, want)
		}
	}
}

func TestAFileThatIsTooLargeLosesItsOldestInputsFirst(t *testing.T) {
	t.Parallel()
	o := place(t)
	o.Limits = Limits{Size: 3 << 20}
	w := begun(t, o, 0)
	for n := range time.Duration(8) {
		b := batchOf(n*h, n*h+m, history.LaneChange{Ref: ref("x"), Scope: "s", Terms: []sources.Term{term("a", n*h, n*h+m)}})
		b.Inputs = make([]byte, 1<<19)
		for i := range b.Inputs {
			b.Inputs[i] = byte(i * i >> 7)
		}
		write(t, w, b)
	}
	tidied(t, w, after(8*h))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(o.Path)
	if err != nil || info.Size() > 6<<20 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	if l := laneOf(t, store(t, o), "x", span(0, 9*h)); len(l.Terms) != 8 {
		t.Errorf("%d terms are left, want all 8", len(l.Terms))
	}
}

// TestARecordingOfMinutesStaysBelowItsSize has inputs that are not old, and then terms alone, that are too much.
func TestARecordingOfMinutesStaysBelowItsSize(t *testing.T) {
	t.Parallel()
	o := place(t)
	o.Limits = Limits{Size: 4 << 20}
	w := begun(t, o, 0)
	r := rand.NewChaCha8([32]byte{})
	for n := range 20 * time.Duration(1) {
		b := batchOf(n*m, n*m+m)
		b.Inputs = make([]byte, 1<<19)
		_, _ = r.Read(b.Inputs)
		for i := range 500 {
			name := make([]byte, 100)
			_, _ = r.Read(name)
			b.Lanes = append(b.Lanes, history.LaneChange{Ref: ref(fmt.Sprint(i)), Scope: "s", Terms: []sources.Term{term(string(name), n*m, n*m+sec)}})
		}
		write(t, w, b)
		tidied(t, w, after(n*m+m))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(o.Path)
	if err != nil || info.Size() > (4<<20)*11/10+1000*4096 { // pages that are free are kept for what comes
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	s := store(t, o)
	c, err := s.Cursor(t.Context(), 1, after(0))
	if err == nil {
		t.Errorf("a replay goes back to the beginning: %+v", c)
	}
	if l := laneOf(t, s, "7", span(0, h)); len(l.Terms) < 12 {
		t.Errorf("%d of 20 terms are left", len(l.Terms))
	}
}

// As long as one term a step becomes too old, events become too old as well.
func TestOldEventsGoWhileTermsGrowTooOld(t *testing.T) {
	t.Parallel()
	o := place(t)
	o.Limits = Limits{Keep: h}
	w := begun(t, o, 0)
	for n := range 180 {
		from := time.Duration(n) * time.Minute
		b := batchOf(from, from+time.Minute, history.LaneChange{Ref: ref("x"), Kind: sources.KindElection, Scope: "s", Terms: []sources.Term{term("a", from, from+time.Minute)}})
		e := event(from, "x")
		e.Seq = uint64(n) + 1
		b.Events = []sources.Event{e}
		if n > 0 {
			b.Keyframe = nil
		}
		write(t, w, b)
		if _, err := w.Tidy(after(from + time.Minute)); err != nil { // one step, as the Recorder makes after a write
			t.Fatal(err)
		}
	}
	events, err := store(t, o).Events(t.Context(), after(3*h), 1000, 0, history.EventFilter{})
	if n := len(events); err != nil || n < 59 || n > 62 {
		t.Errorf("%d events of three hours are kept, %v, want those of one: one a minute", n, err)
	}
}
