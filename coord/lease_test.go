package coord_test

import (
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

func TestLeaseIsKeptWhileTheServiceAnswers(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		l := w.lock(w.s, "job")
		time.Sleep(time.Hour)
		w.want("Check after an hour", l.Check(), nil)
		if n := len(w.mem.Intervals(coord.KindMutex, "job")); n != 1 {
			w.Errorf("owned %d times, want once without a break", n)
		}
		w.want("Release", l.Release(w.Context()), nil)
		if w.owned("job") {
			w.Error("still owned after its release")
		}
	})
}

func TestLeaseEndsExactlyAMarginBeforeTheWindowOfAServiceThatHangs(t *testing.T) {
	t.Parallel()
	for _, fault := range []coordtest.Fault{coordtest.Drop(), coordtest.Hang(), coordtest.HangReply(), coordtest.Fail(nil)} {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(w *world) {
				l := w.lock(w.s, "job")
				time.Sleep(3 * ttl)
				confirmed := l.TrustedUntil()
				w.link.Set(coordtest.VerbRenew, fault, 0)
				at, cause := w.ended(l)
				w.want("cause", cause, coord.ErrExpired)
				w.want("Check", l.Check(), coord.ErrExpired)
				if !at.Equal(confirmed) {
					w.Errorf("ended %v after what was confirmed, want exactly then", at.Sub(confirmed))
				}
			})
		})
	}
}
