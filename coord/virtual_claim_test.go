package coord_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// One claim per name in a session, from asking to the end of the lease: YDB would
// grant the second silently, and so does the Mem whose session renews.
func TestSecondClaimOfASessionOnOneNameIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		refused := func(when string) {
			w.Helper()
			start := time.Now()
			_, err := mutex(w.s, "job").Lock(w.Context())
			w.want("Lock "+when, err, coord.ErrClaimed)
			_, ok, err := mutex(w.s, "job").TryLock(w.Context())
			w.want("TryLock "+when, err, coord.ErrClaimed)
			if ok {
				w.Errorf("TryLock %s succeeded", when)
			}
			if took := time.Since(start); took != 0 {
				w.Errorf("it took %v to refuse %s", took, when)
			}
		}
		other := w.lock(w.rival(), "job")
		waiter := w.hold(w.s, "job")
		w.await(coordtest.VerbAcquire, 1)
		refused("while the first waits")
		w.must("releasing", other.Release(w.Context()))
		l := (<-waiter).lease
		refused("while the first is owned")
		w.lock(w.s, "another").Abandon() // names do not get in each other's way
		if _, err := w.s.Election("job", coord.ElectionOptions{}).Campaign(w.Context(), nil); err != nil {
			w.Errorf("an election of the same name: %v", err)
		}
		w.must("releasing", l.Release(w.Context()))
		w.lock(w.s, "job")
	})
}

// A name is free again when the claim for it failed, whatever the reason.
func TestNameIsFreeAfterAClaimThatCameToNothing(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		other := w.lock(w.rival(), "job")
		m := mutex(w.s, "job")
		if _, ok, err := m.TryLock(w.Context()); ok || err != nil {
			w.Fatalf("a try: %v, %v, want a miss", ok, err)
		}
		_, err := m.Lock(w.within(time.Second))
		w.want("waiting", err, context.DeadlineExceeded)
		w.link.Set(coordtest.VerbAcquire, coordtest.Fail(nil), 1)
		_, _, err = m.TryLock(w.Context())
		w.want("with a broken link", err, coordtest.ErrCut)
		w.must("releasing", other.Release(w.Context()))
		l := w.lock(w.s, "job")
		l.Abandon()
		w.want("Check after Abandon", l.Check(), coord.ErrReleased)
	})
}

// The claim's context ends at the instant of the grant. Both sides agree on the winner:
// either there is a lease, or the service has nothing of us.
func TestClaimCancelledAtTheInstantOfItsGrantLeavesNoTrace(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		won := 0
		const rounds = 200
		for i := range rounds {
			name := fmt.Sprint("job", i)
			rival := w.rival()
			other := w.lock(rival, name)
			released := make(chan error, 1)
			time.AfterFunc(time.Second, func() { released <- other.Release(w.Context()) })
			ctx, cancel := context.WithTimeout(w.Context(), time.Second)
			l, err := mutex(w.s, name).Lock(ctx)
			w.must("releasing", <-released)
			if err == nil {
				won++
				w.want("Check of the winner", l.Check(), nil)
				w.must("releasing", l.Release(w.Context()))
			} else {
				w.want("the loser", err, context.DeadlineExceeded)
			}
			if ids := w.owners(name); len(ids) != 0 {
				w.Fatalf("round %d (%v): the service still has the owners %q", i, err, ids)
			}
			if l, ok, err := mutex(rival, name).TryLock(w.Context()); !ok {
				w.Fatalf("round %d: nobody can have it any more: %v, %v", i, l, err)
			}
			cancel()
			rival.Abandon()
		}
		w.Logf("the grant won %d of %d races", won, rounds)
	})
}

// The session is lost while a claim of it waits: the claim ends too.
func TestWaitingClaimEndsWithItsSession(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what string
		end  func(w *world)
		want error
	}{
		{"closed", func(w *world) { w.must("closing", w.s.Close(w.Context())) }, coord.ErrClosed},
		{"abandoned", func(w *world) { w.s.Abandon() }, coord.ErrClosed},
		{"expired", func(w *world) { w.link.Set(coordtest.VerbRenew, coordtest.Drop(), 0) }, coord.ErrExpired},
		{"lost", func(w *world) { w.mem.ExpireSession(w.s.ID()) }, coord.ErrLost},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			shapes := []coordtest.Shape{coordtest.SessionRenews}
			if errors.Is(c.want, coord.ErrClosed) {
				shapes = append(shapes, coordtest.GrantRenews)
			}
			inShapes(t, coordtest.MemOptions{}, func(w *world) {
				rival := w.rival()
				w.lock(rival, "job")
				waiter := w.hold(w.s, "job")
				w.await(coordtest.VerbAcquire, 1)
				c.end(w)
				select {
				case got := <-waiter:
					w.want("the waiting claim", got.err, c.want)
					if errors.Is(got.err, context.Canceled) {
						w.Errorf("the claim says that its context was cancelled, and it was not: %v", got.err)
					}
				case <-time.After(2 * ttl):
					w.Fatal("the claim waits on although its session is over")
				}
				if waiters := w.mem.Waiters(coord.KindMutex, "job"); len(waiters) != 0 && c.what != "expired" {
					w.Errorf("the service still has the waiters %v", waiters)
				}
			}, shapes...)
		})
	}
}
