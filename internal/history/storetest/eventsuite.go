package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

func eventsAreThoseThatAFilterChooses(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 0)
	CompareEvents(t, Store(t, o), WriteEvents(t, o))
}

// WriteEvents writes the events of two runs, some of which happened at one instant or while the clock was set back.
func WriteEvents(t *testing.T, o Place) (all []history.Event) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	for run := range time.Duration(2) {
		w := Begun(t, o, run*h)
		b := BatchOf(run*h, run*h+m)
		for seq := range uint64(300) {
			e := Event(run*h+time.Duration(r.IntN(60))*sec, fmt.Sprint("x", r.IntN(4)))
			e.Mono = 0 // it is not stored
			e.Seq, e.Kind = seq+1, sources.EventKind(r.IntN(int(sources.EventCountChanged)+1))
			if r.IntN(4) == 0 {
				e.Ref.Name, e.RefKind = "", sources.KindUnknown
			}
			b.Events, all = append(b.Events, e), append(all, history.Event{Event: e, Run: int64(run) + 1})
		}
		Write(t, w, b)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// CompareEvents asks s for events, of which all were written.
func CompareEvents(t *testing.T, s Reader, all []history.Event) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	slices.SortFunc(all, func(x, y history.Event) int { return x.Compare(&y) })
	const questions = 50
	for n := range questions {
		var of history.EventFilter
		for range r.IntN(4) {
			of.Kinds = append(of.Kinds, sources.EventKind(r.IntN(int(sources.EventCountChanged)+1)))
		}
		for range r.IntN(4) {
			of.Refs = append(of.Refs, Ref(fmt.Sprint("x", r.IntN(5)))) // of the last nothing is recorded
		}
		at := After(time.Duration(r.IntN(2))*h + time.Duration(r.IntN(60))*sec)
		before, later := r.IntN(20), r.IntN(400)
		var want []history.Event
		for _, e := range all {
			if (of.Kinds == nil || slices.Contains(of.Kinds, e.Kind)) && (of.Refs == nil || slices.Contains(of.Refs, e.Ref)) {
				want = append(want, e)
			}
		}
		i, _ := slices.BinarySearchFunc(want, at, func(e history.Event, at time.Time) int { return e.At.Compare(at) })
		want = want[max(i-before, 0):min(i+later, len(want))]
		if got, err := s.Events(t.Context(), at, before, later, of); err != nil || len(got)+len(want) > 0 && !Equal(got, want) {
			t.Fatalf("question %d: %d before and %d from %v of %+v: %d events, %v, want %d", n, before, later, at, of, len(got), err, len(want))
		}
	}
}
