package coord_test

import (
	"testing"
	"time"
)

func TestALeaseTellsEachConfirmation(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		l := w.lock(w.s, "job")
		for range 3 {
			confirmed, before := l.Renewed(), l.TrustedUntil()
			select {
			case <-confirmed:
			case <-l.Context().Done():
				t.Fatal("it ended")
			}
			if until := l.TrustedUntil(); !until.After(before) {
				t.Errorf("confirmed, and trusted until %v as before (%v)", until, before)
			}
			if got := l.WindowEnd().Sub(l.TrustedUntil()).Round(time.Millisecond); got != margin {
				t.Errorf("the window ends %v after trust, want the margin, %v", got, margin)
			}
		}
	})
}
