package redissource

import "time"

// gathering lets pushes wait for others, so that one round trip reads them all, while nothing but renewals is
// pushed: nobody waits for one. The first that shows something else ends it.
type gathering struct {
	renewals int       // that were seen one after another
	last     time.Time // when something pushed was last read
}

const (
	gatherAfter = 100                   // renewals, one after another
	gatherFor   = 10 * time.Millisecond // well below sources.Promptness: a change that waits so long is still told at its instant
)

// saw takes note of a reading.
func (g *gathering) saw(renewal bool) {
	if g.renewals++; !renewal {
		g.renewals = 0
	}
}

// read takes note that n pushed keys are read now.
func (g *gathering) read(now time.Time, n int) {
	if n > 0 {
		g.last = now
	}
}

// until is when what is pushed may be read; in the past: at once.
func (g *gathering) until() time.Time {
	if g.renewals < gatherAfter {
		return time.Time{}
	}
	return g.last.Add(gatherFor)
}
