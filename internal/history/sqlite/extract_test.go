package sqlite

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// TestAnExtractAnswersAsTheWhole compares what a recording of two runs and its extract say of the span, and looks for what
// lies outside of it.
func TestAnExtractAnswersAsTheWhole(t *testing.T) {
	t.Parallel()
	o := place(t)
	first := begun(t, o, 0)
	note := func(at time.Duration, name string) sources.Event {
		e := event(at, name)
		e.Seq = uint64(at / time.Second)
		return e
	}
	b := batchOf(0, 10*m,
		history.LaneChange{Ref: ref("before"), At: after(0), Terms: []sources.Term{term("A", m, 2*m)}},
		history.LaneChange{Ref: ref("runs on"), At: after(0), Terms: []sources.Term{term("A", m, 0)}},
		history.LaneChange{Ref: ref("levels"), Kind: sources.KindSemaphore, At: after(0), Levels: []sources.Level{{At: after(m), High: 1}, {At: after(2 * m), High: 2}}})
	b.Events = []sources.Event{note(m, "before"), note(2*m, "runs on")}
	write(t, first, b)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := begun(t, o, 20*m)
	b = batchOf(20*m, 40*m,
		history.LaneChange{Ref: ref("before"), At: after(20 * m), Terms: []sources.Term{term("B", 25*m, 26*m), term("C", 35*m, 0)}},
		history.LaneChange{Ref: ref("runs on"), At: after(20 * m), Terms: []sources.Term{term("A", m, 0)}},
		history.LaneChange{Ref: ref("levels"), Kind: sources.KindSemaphore, At: after(20 * m), Levels: []sources.Level{{At: after(21 * m), High: 1}, {At: after(22 * m), High: 2}, {At: after(35 * m), High: 3}}})
	b.Events = []sources.Event{note(25*m, "before"), note(35*m, "before")}
	write(t, second, b)
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "x.coordtop")
	whole, asked := store(t, o), span(30*m, 41*m)
	if err := whole.Extract(t.Context(), to, asked); err != nil {
		t.Fatal(err)
	}
	part := store(t, Options{Path: to})
	refs := []sources.Ref{ref("before"), ref("runs on"), ref("levels")}
	for what, ask := range map[string]func(r *Reader) (any, error){
		"lanes": func(r *Reader) (any, error) {
			lanes, err := r.Lanes(t.Context(), refs, span(31*m, 40*m))
			for i := range lanes {
				lanes[i].Since, lanes[i].Holes = time.Time{}, nil // of the extract they are where that begins
			}
			return lanes, err
		},
		"totals": func(r *Reader) (any, error) { return r.Totals(t.Context(), span(31*m, 40*m)) },
		"events": func(r *Reader) (any, error) { return r.Events(t.Context(), after(30*m), 0, 100, history.EventFilter{}) },
	} {
		a, err := ask(whole)
		b, failed := ask(part)
		if err := errors.Join(err, failed); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %v\n%+v\nwant\n%+v", what, err, b, a)
		}
	}
	runs, err := part.Runs(t.Context())
	if err != nil || len(runs) != 1 || runs[0].Live || !runs[0].From.Equal(asked.From) || !runs[0].To.Equal(after(40*m)) {
		t.Errorf("%v %+v", err, runs)
	}
	if events, err := part.Events(t.Context(), after(30*m), 100, 0, history.EventFilter{}); err != nil || len(events) != 0 {
		t.Errorf("%v: it has events of before: %+v", err, events)
	}
	if left, _ := filepath.Glob(to + "-*"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if err := whole.Extract(t.Context(), filepath.Join(t.TempDir(), "y.coordtop"), span(12*m, 15*m)); !errors.Is(err, history.ErrNothing) {
		t.Errorf("of a time in which nothing was recorded: %v", err)
	}
}
