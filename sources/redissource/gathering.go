package redissource

import "time"

// gathering lets pushes wait for others, so that one round trip reads them all, while nothing but renewals is
// pushed: nobody waits for one. The first that shows something else ends it.
type gathering struct {
	renewals int       // that were seen one after another
	last     time.Time // when something pushed was last read

	counted time.Time // since when keys are counted
	count   int       // of those that were read since
	many    bool      // the second before had manyPushes
}

const (
	gatherAfter = 100                   // renewals, one after another
	gatherFor   = 15 * time.Millisecond // well below sources.Promptness: a change that waits so long is still told at its instant
	manyPushes  = 200                   // a second: fewer are as well read one by one
	nearest     = time.Millisecond      // over a longer round trip a push that waited would be too old
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
	if g.count += n; now.Sub(g.counted) >= time.Second {
		g.counted, g.count, g.many = now, 0, g.count >= manyPushes
	}
}

// calm reports whether nothing but renewals is pushed.
func (g *gathering) calm() bool { return g.renewals >= gatherAfter }

// unread reports whether messages may stay unread until the next ping.
func (g *gathering) unread() bool { return g.calm() && g.many }

// until is when what is pushed may be read; in the past: at once.
func (g *gathering) until() time.Time {
	if !g.calm() {
		return time.Time{}
	}
	return g.last.Add(gatherFor)
}
