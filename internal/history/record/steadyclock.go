package record

import (
	"time"

	"coordtop/sources"
)

const (
	steadyAfter = time.Hour   // a wall clock that went evenly for so long is right
	evenly      = time.Minute // the greatest difference from the monotonic clock between two readings
)

// steadyClock is the clock by which old records are dropped. It follows the wall clock, but a wall clock that was set
// ahead by mistake must not cause records to be dropped. Therefore, until the wall clock has gone evenly for
// steadyAfter, steadyClock advances from its own last time. The zero steadyClock has no time yet.
type steadyClock struct {
	last  sources.Instant
	begun time.Duration // time on the monotonic clock at which the wall clock began to go evenly
	from  time.Time     // the time at begun
}

// start sets the clock to the end of the previous recording, or to now if that is zero.
func (c *steadyClock) start(before time.Time, now sources.Instant) {
	if before.IsZero() {
		before = now.Wall
	}
	*c = steadyClock{now, now.Mono, sources.Earlier(before, now.Wall)}
}

// at returns the time now. now must not be before the instant of an earlier call on the monotonic clock.
func (c *steadyClock) at(now sources.Instant) time.Time {
	if step := now.Wall.Sub(c.last.Wall) - (now.Mono - c.last.Mono); step.Abs() > evenly {
		c.from, c.begun = c.time().Add(now.Mono-c.last.Mono), now.Mono
	}
	c.last = now
	return c.time()
}

// time returns the time at the last instant.
func (c *steadyClock) time() time.Time {
	on := c.last.Mono - c.begun
	if on >= steadyAfter {
		return c.last.Wall
	}
	return sources.Earlier(c.last.Wall, c.from.Add(on))
}
