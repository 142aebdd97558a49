package sources_test

import (
	"testing"
	"time"

	"coordtop/sources"
)

// TestAGapIsNotCountedOverWhatMayHaveChangedUnseen has a row that may have been owned and
// given up again while nobody looked, with the source never silent for its limit.
func TestAGapIsNotCountedOverWhatMayHaveChangedUnseen(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", time.Hour)))
		time.Sleep(time.Second)
		w.set(election("app"))
		time.Sleep(4 * time.Second)
		now := time.Now()
		ref := w.row("app").Ref
		for _, s := range []time.Duration{-2 * time.Second, -1500 * time.Millisecond} { // they meet
			w.tell(sources.Change{Unseen: []sources.Unseen{{Ref: ref, From: now.Add(s), To: now.Add(s + time.Second)}}, Alive: []string{"main"}})
		}
		w.tell(sources.Change{Unseen: []sources.Unseen{{Ref: sources.Ref{Source: ref.Source, Name: "unknown"}, From: now, To: now}}})
		row, st := w.row("app"), w.hub.State()
		want := sources.Dark{From: now.Add(-2 * time.Second).Round(0), To: now.Add(-500 * time.Millisecond).Round(0)}
		if dark := row.Unobserved(st); len(dark) != 1 || dark[0] != want {
			t.Errorf("not observed: %v, want %v", dark, want)
		}
		time.Sleep(time.Second)
		w.set(election("app", leased("c", time.Hour)))
		e := w.last(sources.EventAcquired)
		if want := (sources.Interval{Min: 1500 * time.Millisecond, Max: 5 * time.Second}); e.Gap != want || e.Last != (sources.OwnerRef{}) {
			t.Errorf("the event tells a gap of %v after %v, want %v after nobody that is known", e.Gap, e.Last, want)
		}
	})
}

// TestAnOwnerThatMayHaveRenewedUnseenHasNotExpired has a lease end in a stretch in which it
// may have been renewed, and given up.
func TestAnOwnerThatMayHaveRenewedUnseenHasNotExpired(t *testing.T) {
	t.Parallel()
	for _, unseen := range []bool{true, false} {
		inWorld(t, func(w *world) {
			w.start()
			w.list(election("app", leased("a", 5*time.Second)))
			time.Sleep(6 * time.Second)
			c := sources.Change{After: time.Now().Add(-2 * time.Second), At: time.Now(), Alive: []string{"main"}}
			p := election("app")
			p.At = c.At
			c.Set = []*sources.Primitive{p}
			if unseen {
				c.Unseen = []sources.Unseen{{Ref: w.row("app").Ref, From: c.After, To: c.At}}
			}
			w.tell(c)
			kind, cause := sources.EventExpired, sources.CauseExpired
			if unseen {
				kind, cause = sources.EventReleased, sources.CauseUnknown
			}
			if e := w.last(kind); e.Cause != cause {
				t.Errorf("unseen %v: %+v", unseen, e)
			}
		})
	}
}

// TestNobodyIsLastWhereTheUnseenStretchBeganBeforeTheEnd has a source tell as unseen what followed
// the sending of the look that showed the row free.
func TestNobodyIsLastWhereTheUnseenStretchBeganBeforeTheEnd(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", time.Hour)))
		time.Sleep(time.Second)
		w.set(election("app"))
		free := time.Now()
		time.Sleep(4 * time.Second)
		w.tell(sources.Change{Unseen: []sources.Unseen{{Ref: w.row("app").Ref, From: free.Add(-time.Millisecond), To: time.Now()}}, Alive: []string{"main"}})
		time.Sleep(time.Second)
		w.set(election("app", leased("c", time.Hour)))
		if e := w.last(sources.EventAcquired); e.Gap.Min > time.Second || e.Last != (sources.OwnerRef{}) {
			t.Errorf("the event tells a gap of %v after %v, and another may have owned it", e.Gap, e.Last)
		}
	})
}
