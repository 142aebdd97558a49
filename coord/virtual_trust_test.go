package coord_test

import (
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// The service hangs after a renewal was sent: whether it got it or not, the lease
// ends at the end of the last window that was confirmed, less the margin, and before
// the service gives it to anybody.
func TestLeaseEndsBeforeAServiceThatHangsGivesItAway(t *testing.T) {
	t.Parallel()
	for _, fault := range []coordtest.Fault{coordtest.Drop(), coordtest.Hang(), coordtest.HangReply(), coordtest.Fail(nil)} {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(w *world) {
				l := w.lock(w.s, "job")
				next := w.hold(w.rival(), "job")
				time.Sleep(3 * ttl) // several renewals
				confirmed := l.TrustedUntil()
				before := w.link.Calls(coordtest.VerbRenew)
				w.link.Set(coordtest.VerbRenew, fault, 0)
				w.link.Set(coordtest.VerbRelease, coordtest.Drop(), 0) // nor does the service hear that we gave up

				at, cause := w.ended(l)
				w.want("the lease's cause", cause, coord.ErrExpired)
				w.want("Check", l.Check(), coord.ErrExpired)
				if !at.Equal(confirmed) {
					w.Errorf("ended at %v, want %v, the end of what was confirmed", at, confirmed)
				}
				if w.link.Calls(coordtest.VerbRenew) == before {
					w.Error("ended without having asked again")
				}
				got := <-next
				if early := at.Add(margin).Sub(got.at); early > 0 {
					w.Errorf("the rival had it %v before the end of the window", early)
				}
				w.heldAtLeastUntil("job", l.Owner(), at.Add(margin))
			})
		})
	}
}

// heldAtLeastUntil asks the service itself.
func (w *world) heldAtLeastUntil(name, owner string, end time.Time) {
	w.Helper()
	for _, i := range w.mem.Intervals(coord.KindMutex, name) {
		if i.Owner == owner {
			if !i.Until.IsZero() && i.Until.Before(end) {
				w.Errorf("the service took it from %s %v too early", owner, end.Sub(i.Until))
			}
			return
		}
	}
	w.Errorf("the service knows no owner %s", owner)
}

// Trust counts from the sending, however late the answer comes.
func TestTrustCountsFromTheSendingOfARenewal(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		l := w.lock(w.s, "job")
		n := w.link.Calls(coordtest.VerbRenew)
		w.link.Set(coordtest.VerbRenew, coordtest.DelayReply(ttl/4), 1)
		if err := w.link.Await(w.Context(), coordtest.VerbRenew, n+1); err != nil {
			w.Fatal(err)
		}
		asked := time.Now()
		before := l.TrustedUntil()
		time.Sleep(ttl/4 + time.Millisecond)
		if got, want := l.TrustedUntil(), asked.Add(ttl-margin); !got.Equal(want) {
			w.Errorf("trusted until %v (before: %v), want %v: sending + TTL - margin", got, before, want)
		}
	})
}

// A grant that was waited for longer than its TTL is worth a whole window when it is
// given.
func TestGrantWaitedForLongerThanItsTTLIsTrusted(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		first := w.lock(w.rival(), "job")
		time.AfterFunc(10*ttl, func() { _ = first.Release(w.Context()) })
		start := time.Now()
		l := w.lock(w.s, "job")
		if waited := time.Since(start); waited < 10*ttl {
			w.Fatalf("had it after %v, before it was released", waited)
		}
		w.want("Check", l.Check(), nil)
		if left := time.Until(l.TrustedUntil()); left < ttl/2 {
			w.Errorf("trusted for %v when given, want most of a window of %v", left, ttl)
		}
		time.Sleep(5 * ttl)
		w.want("Check five TTLs later", l.Check(), nil)
		if ids := w.owners("job"); len(ids) != 1 || ids[0] != l.Owner() {
			w.Errorf("the service has the owners %q, want %q", ids, l.Owner())
		}
	})
}

// The first renewals fail; there is room for another try before the window ends.
func TestRenewalIsTriedAgainWithinTheWindow(t *testing.T) {
	t.Parallel()
	for _, fault := range []coordtest.Fault{coordtest.Fail(nil), coordtest.LoseReply(), coordtest.Drop()} {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(w *world) {
				l := w.lock(w.s, "job")
				w.link.Set(coordtest.VerbRenew, fault, 1)
				time.Sleep(10 * ttl)
				w.want("Check", l.Check(), nil)
				if i := w.mem.Intervals(coord.KindMutex, "job"); len(i) != 1 || !i[0].Until.IsZero() {
					w.Errorf("the service saw %+v, want one owner who still is", i)
				}
			})
		})
	}
}
