package sources

import "time"

// PublishNow makes a State of what was told so far, for tests that are not about pace.
func (h *Hub) PublishNow() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.publishLocked(h.clock.Now())
}

// ClockThatDrifts is the clock of this machine with a wall clock that is ahead by drift.
func ClockThatDrifts(drift func() time.Duration) Clock { return drifting{SystemClock(), drift} }

type drifting struct {
	Clock
	drift func() time.Duration
}

func (d drifting) Now() Instant {
	now := d.Clock.Now()
	now.Wall = now.Wall.Add(d.drift())
	return now
}
