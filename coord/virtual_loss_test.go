package coord_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// A driver that is told of the loss tells the core at once.
func TestDriversDoneEndsTheLeaseAtOnce(t *testing.T) {
	t.Parallel()
	inShapes(t, coordtest.MemOptions{Push: true}, func(w *world) {
		l := w.lock(w.s, "job")
		time.Sleep(ttl + ttl/7) // between two renewals
		start := time.Now()
		w.mem.Expire(coord.KindMutex, "job")
		at, cause := w.ended(l)
		if took := at.Sub(start); took != 0 {
			w.Errorf("the lease lived on for %v", took)
		}
		w.want("cause", cause, coord.ErrLost)
		w.want("Check", l.Check(), coord.ErrLost)
	}, coordtest.SessionRenews, coordtest.GrantRenews)
}

// Without being told, the next renewal finds out, and its verdict is final at once.
func TestVerdictOfARenewalEndsTheLeaseAtOnce(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		l := w.lock(w.s, "job")
		time.Sleep(ttl)
		w.mem.Expire(coord.KindMutex, "job")
		n := w.link.Calls(coordtest.VerbRenew)
		w.await(coordtest.VerbRenew, n+1)
		synctest.Wait()
		w.want("Check", l.Check(), coord.ErrLost)
		w.want("cause", context.Cause(l.Context()), coord.ErrLost)
		time.Sleep(5 * ttl)
		if more := w.link.Calls(coordtest.VerbRenew) - n - 1; more != 0 {
			w.Errorf("asked %d times more after the verdict", more)
		}
	})
}

// Where the session is renewed, its loss ends all that it owns; where each grant is,
// a loss ends that grant alone.
func TestLossEndsWhatSharesItsFate(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		one, two := w.lock(w.s, "one"), w.lock(w.s, "two")
		w.mem.Expire(coord.KindMutex, "one")
		_, cause := w.ended(one)
		w.want("cause of the one", cause, coord.ErrLost)
		synctest.Wait()
		if w.s.ID() != "" {
			w.want("Check of the other", two.Check(), coord.ErrLost)
			w.want("cause of the session", context.Cause(w.s.Context()), coord.ErrLost)
			_, _, err := mutex(w.s, "three").TryLock(w.Context())
			w.want("TryLock in a lost session", err, coord.ErrLost)
			return
		}
		time.Sleep(5 * ttl)
		w.want("Check of the other", two.Check(), nil)
		w.want("the session", w.s.Context().Err(), nil)
		w.lock(w.s, "one") // free for us too
	})
}

// Release and the news of the loss come at the same instant.
func TestReleaseThatRacesTheLossHurtsNobody(t *testing.T) {
	t.Parallel()
	for _, push := range []bool{false, true} {
		t.Run(fmt.Sprintf("push %v", push), func(t *testing.T) {
			t.Parallel()
			inShapes(t, coordtest.MemOptions{Push: push}, func(w *world) {
				for i := range 50 {
					raceReleaseAndLoss(w, fmt.Sprint("job", i))
				}
			}, coordtest.SessionRenews, coordtest.GrantRenews)
		})
	}
}

func raceReleaseAndLoss(w *world, name string) {
	s, rival := w.rival(), w.rival()
	defer s.Abandon()
	defer rival.Abandon()
	l := w.lock(s, name)
	next := w.hold(rival, name)
	time.Sleep(time.Second)
	owner := l.Owner()
	time.AfterFunc(time.Second, func() { w.mem.Expire(coord.KindMutex, name, owner) })
	time.Sleep(time.Second)
	if err := l.Release(w.Context()); err != nil {
		w.Errorf("%s: releasing what is being lost: %v", name, err)
	}
	got := <-next
	w.must("the rival's Lock", got.err)
	if cause := context.Cause(l.Context()); !errors.Is(cause, coord.ErrReleased) && !errors.Is(cause, coord.ErrLost) {
		w.Errorf("%s: cause %v, want ErrReleased or ErrLost", name, cause)
	}
	time.Sleep(3 * ttl)
	w.want("the rival's Check", got.lease.Check(), nil)
	if ids := w.owners(name); len(ids) != 1 || ids[0] != got.lease.Owner() {
		w.Errorf("%s: the service has the owners %q, want the rival %q", name, ids, got.lease.Owner())
	}
}

// Release ends the lease before the service is told, so that nobody trusts it while
// the service gives it away.
func TestReleaseEndsTheLeaseBeforeItIsSent(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		l := w.lock(w.s, "job")
		w.link.Set(coordtest.VerbRelease, coordtest.Hang(), 0)
		released := make(chan error, 1)
		go func() { released <- l.Release(w.Context()) }()
		w.await(coordtest.VerbRelease, 1)
		w.want("Check while the release is on its way", l.Check(), coord.ErrReleased)
		w.want("cause", context.Cause(l.Context()), coord.ErrReleased)
		if len(w.owners("job")) != 1 {
			w.Error("the service gave it away before it was asked to")
		}
		// Our next claim must not overtake the release, which would then hit it.
		next := w.hold(w.s, "job")
		synctest.Wait()
		select {
		case got := <-next:
			w.Fatalf("a claim overtook the release before it: %v, %v", got.lease, got.err)
		default:
		}
		w.link.Clear()
		w.must("releasing", <-released)
		w.must("releasing again", l.Release(w.Context()))
		got := <-next
		w.must("the next claim", got.err)
		time.Sleep(3 * ttl)
		w.want("Check of the next lease", got.lease.Check(), nil)
		if ids := w.owners("job"); len(ids) != 1 || ids[0] != got.lease.Owner() {
			w.Errorf("the service has the owners %q, we trust %q", ids, got.lease.Owner())
		}
	})
}

// Closing and abandoning.
func TestSessionsEndEndsItsLeases(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		closed, abandoned := w.rival(), w.rival()
		one, two := w.lock(closed, "one"), w.lock(abandoned, "two")
		w.must("closing", closed.Close(w.Context()))
		abandoned.Abandon()
		w.want("Check after Close", one.Check(), coord.ErrClosed)
		w.want("Check after Abandon", two.Check(), coord.ErrClosed)
		w.want("the closed session's cause", context.Cause(closed.Context()), coord.ErrClosed)
		w.must("closing again", closed.Close(w.Context()))
		w.must("closing after abandoning", abandoned.Close(w.Context()))
		if ids := w.owners("one"); len(ids) != 0 {
			w.Errorf("after Close the service has the owners %q", ids)
		}
		if ids := w.owners("two"); len(ids) != 1 {
			w.Errorf("after Abandon the service has the owners %q, want ours until the TTL ends", ids)
		}
		w.lock(w.s, "two")
	})
}
