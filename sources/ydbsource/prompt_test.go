package ydbsource

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
)

// TestAPushThatIsHeldBackIsToldWithItsStretch holds bytes back for too short a time to be noticed
// but by the pings.
func TestAPushThatIsHeldBackIsToldWithItsStretch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, ydbtest.Options{InMemory: true}, "leader")
		r.watch(Options{Selections: elections("leader")}).synced()
		round := 0
		write := func() time.Time {
			round++
			noError(t, r.UpdateSemaphore(app, "leader", fmt.Append(nil, round)))
			return time.Now()
		}
		for held := time.Duration(0); held <= 130*time.Millisecond; held += 3 * time.Millisecond { // at any phase of the pings
			time.Sleep(101 * time.Millisecond)
			r.BlackHole(0, true)
			happened := write()
			time.Sleep(held)
			r.BlackHole(0, false)
			e := r.Event(sources.EventProclaimed, "leader")
			switch instant := e.After.IsZero(); {
			case !instant && (e.After.After(happened) || e.How == sources.Told):
				t.Errorf("held back for %v: told after %v, and it happened %v earlier", held, e.After, e.After.Sub(happened))
			case instant && e.At.Sub(happened) > sources.Promptness:
				t.Errorf("held back for %v: told at an instant, %v after it", held, e.At.Sub(happened))
			case !instant && held == 0:
				t.Errorf("told with a stretch of %v, and nothing was held back", e.At.Sub(e.After))
			}
		}
		r.Stop()
	})
}
