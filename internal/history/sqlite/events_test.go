package sqlite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coordtop/internal/ground/raced"
	"coordtop/internal/history"
	"coordtop/sources"
)

// TestEventsAreThoseThatAFilterChooses asks files of each version for events of two runs, some of
// which happened at one instant or while the clock was set back.
func TestEventsAreThoseThatAFilterChooses(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it asks and compares in one goroutine")
	o, r := place(t), rand.New(rand.NewPCG(1, 1))
	var all []history.Event
	for run := range time.Duration(2) {
		w := begun(t, o, run*h)
		b := batchOf(run*h, run*h+m)
		for seq := range uint64(300) {
			e := event(run*h+time.Duration(r.IntN(60))*sec, fmt.Sprint("x", r.IntN(4)))
			e.Mono = 0 // it is not stored
			e.Seq, e.Kind = seq+1, sources.EventKind(r.IntN(int(sources.EventCountChanged)+1))
			if r.IntN(4) == 0 {
				e.Ref.Name, e.RefKind = "", sources.KindUnknown
			}
			b.Events, all = append(b.Events, e), append(all, history.Event{Event: e, Run: int64(run) + 1})
		}
		write(t, w, b)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(all, func(x, y history.Event) int { return x.Compare(&y) })
	const questions = 50
	compare := func(version string) {
		s := store(t, o)
		for n := range questions {
			var of history.EventFilter
			for range r.IntN(4) {
				of.Kinds = append(of.Kinds, sources.EventKind(r.IntN(int(sources.EventCountChanged)+1)))
			}
			for range r.IntN(4) {
				of.Refs = append(of.Refs, ref(fmt.Sprint("x", r.IntN(5)))) // of the last nothing is recorded
			}
			at := after(time.Duration(r.IntN(2))*h + time.Duration(r.IntN(60))*sec)
			before, later := r.IntN(20), r.IntN(400)
			var want []history.Event
			for _, e := range all {
				if (of.Kinds == nil || slices.Contains(of.Kinds, e.Kind)) && (of.Refs == nil || slices.Contains(of.Refs, e.Ref)) {
					want = append(want, e)
				}
			}
			i, _ := slices.BinarySearchFunc(want, at, func(e history.Event, at time.Time) int { return e.At.Compare(at) })
			want = want[max(i-before, 0):min(i+later, len(want))]
			if got, err := s.Events(t.Context(), at, before, later, of); err != nil || len(got)+len(want) > 0 && !equal(got, want) {
				t.Fatalf("%s, question %d: %d before and %d from %v of %+v: %d events, %v, want %d", version, n, before, later, at, of, len(got), err, len(want))
			}
		}
	}
	compare("this version")
	rowsOf(t, o, all)
	compare("version 5")
	change(t, o.Path, "drop index event_kind; alter table event drop column kind; alter table run drop column title; alter table run drop column color; alter table term drop column sure; alter table term drop column every; drop table part; pragma user_version = 1001")
	compare("the first version")
	if err := begun(t, o, 2*h).Close(); err != nil {
		t.Fatal(err)
	}
	compare("migrated")
	w := begun(t, o, 3*h)
	b := batchOf(3*h, 3*h+m)
	for seq := range uint64(20) {
		e := event(30*sec, "x1")
		e.Seq, e.Mono, e.Kind = seq+1, 0, sources.EventAcquired
		b.Events, all = append(b.Events, e), append(all, history.Event{Event: e, Run: 4})
	}
	write(t, w, b)
	slices.SortFunc(all, func(x, y history.Event) int { return x.Compare(&y) })
	compare("gone on with")
}
