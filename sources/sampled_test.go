package sources_test

import (
	"testing"
	"time"

	"coordtop/sources"
)

// TestBoundsThatRestOnLooksCarryTheirPace polls a row, at two paces, and has it pushed after that.
func TestBoundsThatRestOnLooksCarryTheirPace(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		pace := func(every time.Duration) {
			w.tell(sources.Change{About: &sources.About{Mode: "polling", Sampling: every}, Alive: []string{"main"}})
		}
		look := func(owners ...sources.Owner) {
			at := time.Now()
			p := election("app", owners...)
			w.tell(sources.Change{After: at.Add(-250 * time.Millisecond), At: at, Set: []*sources.Primitive{p}, Alive: []string{"main"}})
		}
		w.list(election("app"))
		pace(250 * time.Millisecond)
		time.Sleep(time.Second)
		look(bound("a"))
		time.Sleep(time.Second)
		pace(time.Second)
		time.Sleep(time.Second)
		look()
		if e := w.last(sources.EventReleased); e.Held.Every != time.Second || e.Held.Min != 2*time.Second-250*time.Millisecond {
			t.Errorf("it was held for %+v, want looks every second at the slowest", e.Held)
		}
		pace(250 * time.Millisecond)
		time.Sleep(2 * time.Second)
		look(bound("b"))
		e := w.last(sources.EventAcquired)
		if e.Gap.Every != time.Second || e.LastSeen.ID != "a" || e.Last != (sources.OwnerRef{}) {
			t.Errorf("taken after %+v, last %v, last seen %v: want looks every second, and a as no more than last seen", e.Gap, e.Last, e.LastSeen)
		}
		time.Sleep(time.Second)
		pace(0)
		w.set(election("app"))
		terms := w.row("app").Terms
		if terms[0].Every != time.Second || terms[1].Every != time.Second {
			t.Errorf("the terms had looks every %v and %v, want a second with the gap before", terms[0].Every, terms[1].Every)
		}
		time.Sleep(time.Second)
		w.set(election("app", bound("c")))
		if e := w.last(sources.EventAcquired); e.Gap.Every != 0 || e.Last.ID != "b" || e.LastSeen != e.Last {
			t.Errorf("pushed, taken after %+v, last %v, last seen %v", e.Gap, e.Last, e.LastSeen)
		}
		w.set(election("app"))
		if e := w.last(sources.EventReleased); e.Held.Every != 0 {
			t.Errorf("pushed, it was held for %+v", e.Held)
		}
	})
}

// TestWhoWasSeenLastIsToldOverDarkness has nobody own a row before darkness and behind it.
func TestWhoWasSeenLastIsToldOverDarkness(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", bound("a")))
		time.Sleep(time.Second)
		w.set(election("app"))
		w.dark(10*time.Second, election("app"))
		w.set(election("app", bound("b")))
		if e := w.last(sources.EventAcquired); e.LastSeen.ID != "a" || e.Last != (sources.OwnerRef{}) {
			t.Errorf("last %v, last seen %v: want nobody, and a", e.Last, e.LastSeen)
		}
	})
}

// TestTheLowestLeaseIsTheLowestAtAnyInstant lets a lease run down between two renewals.
func TestTheLowestLeaseIsTheLowestAtAnyInstant(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", time.Minute)))
		time.Sleep(12 * time.Second)
		lowest := func() time.Duration { return w.row("app").LowestLeaseAt(time.Now()) }
		if got := lowest(); got != 48*time.Second {
			t.Errorf("with 48 s left, never below %v", got)
		}
		w.set(election("app", leased("a", time.Minute)))
		time.Sleep(2 * time.Second)
		if got := lowest(); got != 48*time.Second {
			t.Errorf("renewed with 48 s left, never below %v", got)
		}
		time.Sleep(time.Hour)
		if got := lowest(); got != 0 {
			t.Errorf("the lease is over, and it was never below %v", got)
		}
	})
}

// TestTheDarknessBeforeANewRowIsNotItsPace finds a row behind a darkness that was not there before.
func TestTheDarknessBeforeANewRowIsNotItsPace(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.tell(sources.Change{Relists: true, Set: []*sources.Primitive{election("app", bound("a"))}, Synced: true, Alive: []string{"main"}, About: &sources.About{Mode: "polling", Sampling: time.Second}})
		time.Sleep(time.Second)
		w.beat()
		w.dark(10*time.Minute, election("app", bound("a")), election("new", bound("b")))
		time.Sleep(time.Second)
		w.set(election("new"))
		if every := w.row("new").Terms[0].Every; every > 2*time.Second {
			t.Errorf("looks every %v", every)
		}
	})
}

// TestAnotherMayHaveOwnedBeforeWhatWasReadLate has pushes read late, with the source never silent for its limit.
func TestAnotherMayHaveOwnedBeforeWhatWasReadLate(t *testing.T) {
	t.Parallel()
	for late, want := range map[time.Duration]string{sources.Promptness: "a", sources.Promptness + time.Millisecond: ""} {
		inWorld(t, func(w *world) {
			w.start()
			w.list(election("app", bound("a")))
			time.Sleep(time.Second)
			w.set(election("app"))
			time.Sleep(time.Second)
			w.tell(sources.Change{Set: []*sources.Primitive{election("app", bound("b"))}, After: time.Now().Add(-late), Alive: []string{"main"}})
			if e := w.last(sources.EventAcquired); e.LastSeen.ID != "a" || e.Last.ID != want {
				t.Errorf("%v late: last %q, last seen %q, want %q and a", late, e.Last.ID, e.LastSeen.ID, want)
			}
			time.Sleep(time.Second)
			hidden := election("app")
			hidden.OwnersHow = sources.Unknown
			w.tell(sources.Change{Set: []*sources.Primitive{hidden}, After: time.Now().Add(-late), Alive: []string{"main"}})
			if e := w.last(sources.EventOwnerUnknown); e.LastSeen.ID != "b" || (e.Last.ID != "") != (want != "") {
				t.Errorf("%v late: unknown after %q, last seen %q", late, e.Last.ID, e.LastSeen.ID)
			}
		})
	}
}
