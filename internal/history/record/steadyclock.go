package record

import (
	"time"

	"coordtop/sources"
)

const (
	steadyAfter = time.Hour   // a wall clock that went on evenly for so long is right
	evenly      = time.Minute // by how much it may differ from the monotonic clock meanwhile
)

// steadyClock is the clock by which old records are dropped: the wall clock, but one that was set ahead by
// mistake must not drop what was recorded. Until the wall clock has gone on evenly for a while the time goes on
// from where it was before. The zero steadyClock has no time yet.
type steadyClock struct {
	last  sources.Instant
	begun time.Duration // on the monotonic clock, when the wall clock began to go evenly
	from  time.Time     // the time at begun
}

// start begins with the end of the recording before; zero: there was none.
func (c *steadyClock) start(before time.Time, now sources.Instant) {
	if before.IsZero() {
		before = now.Wall
	}
	*c = steadyClock{now, now.Mono, sources.Earlier(before, now.Wall)}
}

// at returns the time now. The instants do not go back on the monotonic clock.
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
