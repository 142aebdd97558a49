package kit

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Pace says how often a server that pushes nothing is looked at: seldom enough to cost it little,
// often enough where something happens. The zero Pace pauses for a second, or for longer if a
// look costs much.
type Pace struct {
	Min, Max time.Duration // 0: a second; 0: without bound
	Changed  time.Time     // when an owner or a waiter last changed
	Cost     time.Duration // of a look: the least of the last few
	recent   []time.Duration
}

const (
	usualPause = time.Second
	restless   = 10 * time.Second // after a change
	onePartIn  = 20               // of the time is what looks may take, whatever happens

	// recentLooks is how many looks in a row must be slow before they count as costly. A stall of
	// this machine or of the way looks like a costly look, and an average would remember one of
	// half a second for many looks, each of them seconds apart by then.
	recentLooks = 3
)

// AddCost records what a look cost.
func (p *Pace) AddCost(cost time.Duration) {
	p.recent = append(p.recent[max(0, len(p.recent)+1-recentLooks):], cost)
	p.Cost = slices.Min(p.recent)
}

// Pause is the pause between two looks. eager: somebody waits for a change, or looks at a row.
func (p *Pace) Pause(now time.Time, eager bool) time.Duration {
	if eager || now.Sub(p.Changed) < restless {
		return p.Bound(0)
	}
	return p.Bound(usualPause)
}

// Bound is the pause nearest to the one that is wanted which the limits and the cost allow.
func (p *Pace) Bound(wanted time.Duration) time.Duration {
	return min(max(wanted, cmp.Or(p.Min, usualPause), p.Floor()), cmp.Or(p.Max, math.MaxInt64))
}

// Floor is the least pause that the cost of a look allows.
func (p *Pace) Floor() time.Duration { return onePartIn * p.Cost }
