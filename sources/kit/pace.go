package kit

import (
	"cmp"
	"math"
	"slices"
	"time"

	"coordtop/sources"
)

// Pace computes the pause between two reads of a server that pushes nothing, from the cost of a read and
// the time of the last change. The zero Pace pauses for a second, or for longer if a read costs much.
type Pace struct {
	Min, Max time.Duration // 0: a second; 0: without bound
	Changed  time.Time     // when an owner or a waiter last changed
	Cost     time.Duration // of a look: the least of the last few
	recent   []time.Duration
}

const (
	usualPause = time.Second
	restless   = 10 * time.Second // after a change
	onePartIn  = 20               // of the time may be spent on looks

	// recentLooks is the number of slow looks in a row that count as costly. A stall of this
	// machine or of the network seems to be one costly look, and an average would carry a stall of half
	// a second through many looks, which would be seconds apart.
	recentLooks = 3
)

// AddCost records the cost of a look.
func (p *Pace) AddCost(cost time.Duration) {
	p.recent = append(p.recent[max(0, len(p.recent)+1-recentLooks):], cost)
	p.Cost = slices.Min(p.recent)
}

// Pause returns the pause between two looks. eager: a waiter, or a row on screen, makes a change urgent.
func (p *Pace) Pause(now time.Time, eager bool) time.Duration {
	if eager || now.Sub(p.Changed) < restless {
		return p.Bound(0)
	}
	return p.Bound(usualPause)
}

// Bound returns the pause nearest to wanted that the limits and the cost allow.
func (p *Pace) Bound(wanted time.Duration) time.Duration {
	return min(max(wanted, cmp.Or(p.Min, usualPause), p.Floor()), cmp.Or(p.Max, math.MaxInt64))
}

// Floor returns the shortest pause that the cost of a look allows.
func (p *Pace) Floor() time.Duration { return onePartIn * p.Cost }

// promptest bounds the three round trips that a push from a server far away may take.
const promptest = 300 * time.Millisecond

// RoundTrips are the last round trips of a connection. The zero value is usable; it is not safe for
// concurrent use.
type RoundTrips struct {
	trips [16]time.Duration // in no order
	added int
}

// Add adds a round trip, which is a microsecond at least.
func (r *RoundTrips) Add(trip time.Duration) {
	r.trips[r.added%len(r.trips)] = max(trip, time.Microsecond)
	r.added++
}

// Shortest returns the shortest of the last round trips. 0: none was measured.
func (r *RoundTrips) Shortest() time.Duration {
	if r.added == 0 {
		return 0
	}
	return slices.Min(r.trips[:min(r.added, len(r.trips))])
}

// Tolerance returns the longest time that a prompt connection takes for a push and the read after it.
func (r *RoundTrips) Tolerance() time.Duration {
	return min(max(sources.Promptness, 3*r.Shortest()), promptest)
}
