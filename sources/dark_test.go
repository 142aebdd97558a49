package sources_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
)

// dark cuts the connection for so long, and finds what is listed then.
func (w *world) dark(d time.Duration, found ...*sources.Primitive) {
	w.t.Helper()
	w.fail()
	time.Sleep(d)
	for _, p := range found {
		p.At = time.Now()
	}
	w.tell(sources.Change{Relists: true, Set: found, Synced: true, Alive: []string{"main"}})
}

// fail cuts the connection.
func (w *world) fail() {
	w.t.Helper()
	w.script.OnConnect(func() []sources.Change { return nil })
	w.script.Fail(errors.New("reset"))
	synctest.Wait()
}

// beat tells that the server answers, and nothing else.
func (w *world) beat() {
	w.t.Helper()
	w.tell(sources.Change{Alive: []string{"main"}})
}

// bound is an owner that owns without an end.
func bound(id string) sources.Owner { return sources.Owner{ID: id, Label: id, NoExpiry: true} }

// last returns the newest event of this kind.
func (w *world) last(kind sources.EventKind) sources.Event {
	w.t.Helper()
	events, _ := w.hub.Subscribe(0).Events(0)
	slices.Reverse(events)
	for _, e := range events {
		if e.Kind == kind {
			return e
		}
	}
	w.t.Fatalf("no event %v", kind)
	return sources.Event{}
}

func TestAGapCountsOnlyWhatWasObservedFree(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", time.Hour)))
		time.Sleep(time.Second)
		w.set(election("app"))
		time.Sleep(3 * time.Second)
		w.beat()
		w.dark(18*time.Second, election("app")) // somebody may have led meanwhile
		for range 12 {
			time.Sleep(time.Second)
			w.beat()
		}
		running := w.row("app").Gaps(w.hub.State(), time.Now(), time.Hour)
		w.set(election("app", leased("c", time.Hour)))
		e := w.last(sources.EventAcquired)
		if want := (sources.Interval{Min: 12 * time.Second, Max: 33 * time.Second}); e.Gap != want {
			t.Errorf("the event tells a gap of %v, want %v: only the end of it was seen without a break", e.Gap, want)
		}
		if e.Last != (sources.OwnerRef{}) {
			t.Errorf("the event names %v as the owner before: another may have owned it in the dark", e.Last)
		}
		for when, got := range map[string]sources.GapStats{"running": running, "over": w.row("app").Gaps(w.hub.State(), time.Now(), time.Hour)} {
			sum, longest := sources.Interval{Min: 15 * time.Second, Max: 33 * time.Second}, sources.Interval{Min: 12 * time.Second, Max: 33 * time.Second}
			if got.Count != 1 || got.Sum != sum || got.Longest != longest {
				t.Errorf("%s: %+v, want one gap, %v in all, %v at a stretch", when, got, sum, longest)
			}
		}
	})
}

func TestATakingInTheDarkTellsNothingOfWhoCameBefore(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", bound("a")))
		w.set(election("app"))
		time.Sleep(3 * time.Second)
		w.beat()
		w.dark(5*time.Second, election("app", bound("c"))) // b may have led before it
		e := w.last(sources.EventAcquired)
		if want := (sources.Interval{Max: 8 * time.Second}); e.Gap != want || e.Last != (sources.OwnerRef{}) {
			t.Errorf("told with a gap of %v after %q, want %v after nobody that is known", e.Gap, e.Last.ID, want)
		}
		w.dark(5*time.Second, election("app")) // and after it
		time.Sleep(time.Second)
		w.set(election("app", bound("d")))
		if e := w.last(sources.EventAcquired); e.Last != (sources.OwnerRef{}) {
			t.Errorf("told after %q: another may have led in the dark since", e.Last.ID)
		}
	})
}

func TestTheFirstListingIsNoDarkness(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		asked := time.Now()
		time.Sleep(time.Millisecond)
		read := time.Now()
		time.Sleep(time.Millisecond)
		w.tell(sources.Change{Relists: true, At: read, Set: []*sources.Primitive{election("app", bound("a"))}, Synced: true, Alive: []string{"main"}})
		time.Sleep(time.Second)
		w.tell(sources.Change{After: asked, Set: []*sources.Primitive{election("app")}})
		time.Sleep(time.Second)
		w.set(election("app", bound("b")))
		if e := w.last(sources.EventAcquired); e.Last.ID != "a" {
			t.Errorf("told after %q, want a: nothing was missed in between", e.Last.ID)
		}
		if dark := w.row("app").Unobserved(w.hub.State()); len(dark) > 0 {
			t.Errorf("not observed: %v", dark)
		}
	})
}

func TestAGapGoesOnInTheDarkOnlyAsAPossibility(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", time.Hour)))
		w.set(election("app"))
		time.Sleep(2 * time.Second)
		w.beat()
		w.script.OnConnect(func() []sources.Change { return nil })
		w.script.Fail(errors.New("reset"))
		synctest.Wait()
		time.Sleep(10 * time.Second)
		w.settle()
		want := sources.Interval{Min: 2 * time.Second, Max: 12 * time.Second}
		if got := w.row("app").Gaps(w.hub.State(), time.Now(), time.Hour); got.Sum != want {
			t.Errorf("the gap is told as %v, want %v", got.Sum, want)
		}
	})
}

func TestOwnersThatCannotBeToldAreNotObserved(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", time.Hour)))
		hidden := election("app")
		hidden.OwnersHow, hidden.Note = sources.Unknown, "a list, not a string"
		from := time.Now()
		w.set(hidden)
		if e := w.last(sources.EventOwnerUnknown); e.Last.ID != "a" || e.Detail != hidden.Note {
			t.Errorf("told as %+v, want the owner of before and why", e)
		}
		time.Sleep(5 * time.Second)
		w.set(election("app", leased("a", time.Hour)))
		dark := w.row("app").Unobserved(w.hub.State())
		if len(dark) != 1 || !dark[0].From.Equal(from) || !dark[0].To.Equal(from.Add(5*time.Second)) {
			t.Errorf("not observed: %v, want the 5 s from %v on", dark, from)
		}
		if terms := w.row("app").Terms; len(terms) != 1 {
			t.Errorf("terms %+v, want the one that goes on", terms)
		}
	})
}

func TestWhoTakesItAfterAGapIsToldWhoHadItBefore(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app"))
		w.set(election("app", leased("a", time.Hour)))
		if e := w.last(sources.EventAcquired); e.Last != (sources.OwnerRef{}) {
			t.Errorf("before the first owner there was %v", e.Last)
		}
		w.set(election("app"))
		time.Sleep(time.Second)
		w.set(election("app", leased("b", time.Hour)))
		if e := w.last(sources.EventAcquired); e.Last.ID != "a" || e.Previous != (sources.OwnerRef{}) {
			t.Errorf("told as %+v, want a as the last owner, and nobody's end", e)
		}
	})
}

func TestLossesAreCountedAndPoliteHandOversAreNot(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", bound("a")))
		losses := func(want int, after string) {
			t.Helper()
			if got := w.row("app").Losses(time.Now(), 10*time.Minute); got != want {
				t.Errorf("%d losses after %s, want %d", got, after, want)
			}
		}
		w.set(election("app", bound("b")))
		losses(0, "a hand-over without a gap")
		free := func(d time.Duration, next string) {
			w.set(election("app"))
			time.Sleep(d)
			w.set(election("app", bound(next)))
		}
		free(900*time.Millisecond, "c")
		losses(0, "a gap of less than a second")
		free(3*time.Second, "d")
		losses(1, "a gap of 3 s without a told cause")
		free(2500*time.Millisecond, "e")
		losses(1, "a gap as long as is usual here")
		w.tell(sources.Change{Set: []*sources.Primitive{election("app")},
			Ended: []sources.Ending{{Ref: ref("app"), Owner: "e", Cause: sources.CauseSession, How: sources.Told}}})
		losses(2, "a session that ended")
		if e := w.last(sources.EventReleased); !e.Loss {
			t.Errorf("%+v does not say that it is a loss", e)
		}
		time.Sleep(time.Minute)
		w.set(election("app", bound("f")))
		losses(2, "the gap that followed, which is not counted twice")
		w.set(election("app", leased("g", time.Second)))
		time.Sleep(2 * time.Second)
		w.set(election("app"))
		losses(3, "a lease that ran out")
	})
}

func TestALockThatWasFreeForLongWasNotLost(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		lock := func(owners ...sources.Owner) *sources.Primitive {
			p := election("job", owners...)
			p.Kind = sources.KindMutex
			return p
		}
		w.list(lock(bound("a")))
		for _, next := range []string{"b", "c", "d"} {
			w.set(lock())
			time.Sleep(time.Minute)
			w.set(lock(bound(next)))
			if e := w.last(sources.EventAcquired); e.Loss {
				t.Errorf("%s took it after a loss; it was free", next)
			}
		}
	})
}

func TestASessionThatIsOnlySeenToBeGoneIsALossByItsGap(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", bound("a")))
		ends := func(owner string, after *sources.Primitive) {
			w.tell(sources.Change{Set: []*sources.Primitive{after},
				Ended: []sources.Ending{{Ref: ref("app"), Owner: owner, Cause: sources.CauseSession, How: sources.Inferred}}})
		}
		losses := func(want int, after string) {
			t.Helper()
			if got := w.row("app").Losses(time.Now(), 10*time.Minute); got != want {
				t.Errorf("%d losses after %s, want %d", got, after, want)
			}
		}
		ends("a", election("app", bound("b")))
		losses(0, "a session gone, followed at once")
		ends("b", election("app"))
		time.Sleep(900 * time.Millisecond)
		w.set(election("app", bound("c")))
		losses(0, "one followed within a second")
		ends("c", election("app"))
		time.Sleep(5 * time.Second)
		w.set(election("app", bound("d")))
		losses(1, "one that nobody followed for 5 s")
	})
}

func TestTheRhythmOfOneOwnerSaysNothingOfTheNext(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", 30*time.Second)))
		for range 5 { // one that renews every 3 s
			time.Sleep(3 * time.Second)
			w.set(election("app", leased("a", 30*time.Second)))
		}
		for range 3 { // and then one that renews every 10 s
			w.set(election("app", leased("b", 30*time.Second)))
			for range 9 {
				time.Sleep(time.Second)
				w.beat()
				w.wantStatus("app", sources.StatusLed)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestJoinsLessLeavesAreTheQueue(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		queued := func(cut int, ids ...string) *sources.Primitive {
			p := election("app", bound("a"))
			p.Queue = sources.Queue{How: sources.Told, Len: len(ids) + cut}
			for _, id := range ids {
				p.Queue.Waiters = append(p.Queue.Waiters, sources.Waiter{ID: id})
			}
			return p
		}
		w.list(queued(0, "v", "w"))
		w.wantQueue("v", "w")
		w.set(queued(0, "w", "x"))
		w.wantQueue("w", "x")
		w.set(queued(3, "y")) // who else waits is not told
		w.set(queued(0, "x", "y"))
		w.wantQueue("x", "y")
		w.dark(time.Minute, queued(0, "y", "z"))
		w.wantQueue("y", "z")
		w.tell(sources.Change{Gone: []sources.Ref{ref("app")}})
		w.wantQueue()
	})
}

// wantQueue adds up all events that were ever told.
func (w *world) wantQueue(want ...string) {
	w.t.Helper()
	events, _ := w.hub.Subscribe(0).Events(0)
	var queue []string
	for _, e := range events {
		at := slices.Index(queue, e.Owner.ID)
		switch {
		case e.Kind == sources.EventWaiterJoined && at >= 0, e.Kind == sources.EventWaiterLeft && at < 0:
			w.t.Errorf("%v of %s, with a queue of %v", e.Kind, e.Owner.ID, queue)
		case e.Kind == sources.EventWaiterJoined:
			queue = append(queue, e.Owner.ID)
		case e.Kind == sources.EventWaiterLeft:
			queue = slices.Delete(queue, at, at+1)
		}
	}
	if slices.Sort(queue); !slices.Equal(queue, want) {
		w.t.Errorf("the events add up to %v, want %v", queue, want)
	}
}

func TestAnEndThatWeBringAboutHasUsAsItsCause(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", bound("a")), election("other", bound("a")), election("over", leased("a", time.Second)))
		w.happened()
		for _, name := range []string{"app", "over"} {
			w.hub.Expect(sources.Ending{Ref: ref(name), Owner: "a", Cause: sources.CauseReleased}, 10*time.Second)
		}
		time.Sleep(2 * time.Second)
		w.set(election("app"), election("other"), election("over"))
		w.wantEvents("released app -a released ours", "released other -a told", "expired over -a expired inferred")
		if got := w.row("app").Terms[0]; got.Cause != sources.CauseReleased || got.How != sources.Ours {
			t.Errorf("the term says %v, known as %v", got.Cause, got.How)
		}
		w.set(election("app", bound("a")))
		time.Sleep(20 * time.Second)
		w.happened()
		w.set(election("app"))
		w.wantEvents("released app -a told") // long after: that was not ours
	})
}
