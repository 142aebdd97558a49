package ydbsource

import (
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
)

// TestAGapHoldsOnlyWhatWasObservedOfIt has another lead, and resign, while the source is cut off:
// then there were two gaps, and only the ends of them were observed.
func TestAGapHoldsOnlyWhatWasObservedOfIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, ydbtest.Options{InMemory: true}, "leader")
		a, b, c := r.session(1, testLimit), r.session(1, testLimit), r.session(1, testLimit)
		term := r.lead(a, "leader", "a")
		r.counted(Options{Selections: elections("leader")})
		r.Row("", "leader", "led by a", ledBy("a"))
		time.Sleep(time.Second)
		freed := time.Now()
		r.resign(term)
		r.Event(sources.EventReleased, "leader")
		time.Sleep(2 * time.Second)
		dark := time.Now()
		r.BlackHole(0, true)
		r.Row("", "leader", "stale", is(sources.StatusStale))
		time.Sleep(20 * time.Second)
		r.resign(r.lead(b, "leader", "b"))
		again := time.Now()
		time.Sleep(20 * time.Second)
		resumed := time.Now()
		r.BlackHole(0, false)
		r.Row("", "leader", "without a leader again", is(sources.StatusNoLeader))
		light := time.Now()
		time.Sleep(3 * time.Second)
		took := time.Now()
		r.lead(c, "leader", "c")
		e := r.Event(sources.EventAcquired, "leader")
		if e.Gap.Min > e.At.Sub(again) || e.Gap.Max < took.Sub(again) {
			t.Errorf("the gap is told as %v, and it was %v", e.Gap, took.Sub(again))
		}
		if e.Gap.Min < took.Sub(light) {
			t.Errorf("the gap is told as %v, and %v of it was observed", e.Gap, took.Sub(light))
		}
		if e.Last != (sources.OwnerRef{}) {
			t.Errorf("%+v is told to have owned it last, and b did in the dark", e.Last)
		}
		row := r.Row("", "leader", "led by c", ledBy("c"))
		gaps := row.Gaps(r.Hub.State(), time.Now(), time.Hour)
		before, after := dark.Sub(freed), e.At.Sub(resumed)
		if most := max(before, after) + time.Millisecond; gaps.Longest.Min > most || gaps.P95.Min > most {
			t.Errorf("gaps of %+v, of which no more than %v at a stretch was observed", gaps, most)
		}
		if sum := before + after + time.Millisecond; gaps.Sum.Min > sum {
			t.Errorf("gaps of %v in all, of which no more than %v was observed", gaps.Sum, sum)
		}
		r.Stop()
	})
}

// TestNoGapIsCountedOverWhoMayHaveComeAndGone has b come and go while bytes are held back, and
// between two looks at a mutex that are far apart because there are many.
func TestNoGapIsCountedOverWhoMayHaveComeAndGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, ydbtest.Options{InMemory: true}, "leader")
		selected := elections("leader")
		for _, name := range many(200) {
			selected = append(selected, Selection{Pattern: name, Kind: sources.KindMutex})
		}
		mutex := many(1)[0]
		r.watch(Options{Selections: selected}).synced()
		b, c := r.session(1, testLimit), r.session(1, testLimit)
		lock := func(s *coord.Session) *coord.Lease {
			l, err := s.Mutex(mutex, coord.MutexOptions{}).Lock(t.Context())
			noError(t, err)
			return l
		}
		r.resign(r.lead(b, "leader", "a"))
		first := lock(b)
		r.Event(sources.EventAcquired, mutex)
		time.Sleep(time.Second)
		noError(t, first.Release(t.Context()))
		r.Event(sources.EventReleased, mutex)
		time.Sleep(time.Minute)
		r.BlackHole(0, true)
		r.resign(r.lead(b, "leader", "b"))
		noError(t, lock(b).Release(t.Context()))
		gone := time.Now()
		time.Sleep(80 * time.Millisecond)
		r.BlackHole(0, false)
		time.Sleep(20 * time.Second)
		r.lead(c, "leader", "c")
		lock(c)
		for _, name := range []string{"leader", mutex} {
			if e := r.Event(sources.EventAcquired, name); e.Gap.Min > e.At.Sub(gone) || e.Last != (sources.OwnerRef{}) {
				t.Errorf("the gap of %s is told as %v after %+v, and b left it %v before", name, e.Gap, e.Last, e.At.Sub(gone))
			}
		}
		r.Stop()
	})
}
