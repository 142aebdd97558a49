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
