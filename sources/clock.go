package sources

import (
	"errors"
	"fmt"
	"time"
)

var errClock = errors.New("the clock was put forward or this machine slept: not heard from since")

// clockStep is how far wall and monotonic clock may part between two looks.
const clockStep = 2 * time.Second

// checkClockLocked tells when the wall clock was set. After a step forward this machine
// may have slept for so long, which the monotonic clock does not count: leases whose end
// we know by that clock are over earlier than it says. So nothing is believed until it
// was read anew, which takes a new connection of each source.
func (h *Hub) checkClockLocked(now time.Time) {
	drift := h.drift()
	step := drift - h.stepped
	h.stepped = drift
	if step.Abs() <= clockStep {
		return
	}
	way, orSlept := "forward", ", or this machine slept"
	if step < 0 {
		way, orSlept = "back", ""
	}
	h.commitLocked(Event{At: now, Kind: EventClockStep, How: Seen,
		Detail: fmt.Sprintf("the clock was put %s by %v%s", way, step.Abs().Round(time.Millisecond), orSlept)})
	if step > 0 {
		for _, f := range h.feeds {
			f.slept.Store(true)
		}
		for _, sc := range h.scopes {
			if sc.Health == HealthLive {
				h.downLocked(sc, now, errClock)
			}
		}
	}
	h.changedLocked(now, urgent)
}
