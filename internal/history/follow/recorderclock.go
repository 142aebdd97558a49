package follow

import (
	"math"
	"time"

	"coordtop/internal/history"
)

// recorderClock compares the clock of a recorder with ours, from the times that it wrote and the times at which they
// were read.
type recorderClock struct {
	first time.Time // the latest time that was written before the first read
	last  time.Time // the latest time that was written
	turn  time.Time // on our clock: when older and newer were exchanged last

	// older and newer are the largest differences before and since turn. The largest one is the nearest to the truth,
	// because writing and reading only take time.
	older, newer time.Duration
}

const (
	// turnEvery is long against a passing delay of the store, and short against the drift of clocks.
	turnEvery = 5 * time.Minute
	unknown   = time.Duration(math.MinInt64)
)

// begin reports that everything up to at was written before the first read.
func (c *recorderClock) begin(at time.Time) {
	*c = recorderClock{first: at, last: at, older: unknown, newer: unknown}
}

// saw reports that at was written, which was read at now.
func (c *recorderClock) saw(at, now time.Time) {
	switch {
	case c.first.IsZero():
		c.begin(at)
		return
	case !at.After(c.last):
		return
	}
	c.last = at
	if c.turn.IsZero() || now.Sub(c.turn) > turnEvery {
		c.turn, c.older, c.newer = now, c.newer, unknown
	}
	c.newer = max(c.newer, at.Sub(now))
}

// offset returns by how much the recorder's clock is ahead of ours; 0: less than history.SameClock, or not known.
func (c *recorderClock) offset() time.Duration {
	if d := max(c.older, c.newer); c.proven() && d.Abs() >= history.SameClock {
		return d
	}
	return 0
}

// proven reports whether the recorder was seen to write.
func (c *recorderClock) proven() bool { return c.last.After(c.first) }

// behind returns the age of the latest time that was written. It is very long until the recorder was seen to write.
func (c *recorderClock) behind(now time.Time) time.Duration {
	if !c.proven() {
		return math.MaxInt64
	}
	return now.Add(c.offset()).Sub(c.last)
}
