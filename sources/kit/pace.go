package kit

import (
	"cmp"
	"math"
	"slices"
	"time"

	"coordtop/sources"
)

// Pace computes the pause between two reads of a server that pushes nothing, from the cost of a read and the time of
// the last change. The zero Pace pauses for a second, or longer if a read is slow.
type Pace struct {
	Min, Max time.Duration // if 0, Min is a second and Max unlimited
	Changed  time.Time     // when an owner or a waiter last changed
	Cost     time.Duration // of a look: the minimum of the last few
	recent   []time.Duration
}

const (
	usualPause = time.Second
	restless   = 10 * time.Second // after a change
	onePartIn  = 20               // the part of the time that looks may use, inverted

	// recentLooks is the number of consecutive slow looks after which looks count as costly. A stall of this machine or
	// of the network looks like one slow look. With an average, a stall of half a second would make many later looks
	// seconds apart.
	recentLooks = 3
)

// AddCost records the cost of a look.
func (p *Pace) AddCost(cost time.Duration) {
	p.recent = append(p.recent[max(0, len(p.recent)+1-recentLooks):], cost)
	p.Cost = slices.Min(p.recent)
}

// Pause returns the pause between two looks. eager is true if a waiter or a row on screen makes a change urgent.
func (p *Pace) Pause(now time.Time, eager bool) time.Duration {
	if eager || now.Sub(p.Changed) < restless {
		return p.Bound(0)
	}
	return p.Bound(usualPause)
}

// Bound returns the pause nearest to the wanted one that the limits and the cost allow.
func (p *Pace) Bound(wanted time.Duration) time.Duration {
	return min(max(wanted, cmp.Or(p.Min, usualPause), p.Floor()), cmp.Or(p.Max, math.MaxInt64))
}

// Floor returns the shortest pause that the cost of a look allows.
func (p *Pace) Floor() time.Duration { return onePartIn * p.Cost }

// promptest is the maximum of Tolerance, which is three round trips.
const promptest = 300 * time.Millisecond

// RoundTrips has the last round trips of a connection. The zero value is ready to use. It is not safe for concurrent
// use.
type RoundTrips struct {
	trips [16]time.Duration // in no order
	added int
}

// Add adds a round trip, which counts as at least a microsecond.
func (r *RoundTrips) Add(trip time.Duration) {
	r.trips[r.added%len(r.trips)] = max(trip, time.Microsecond)
	r.added++
}

// Shortest returns the shortest of the last round trips. It returns 0 if none was measured.
func (r *RoundTrips) Shortest() time.Duration {
	if r.added == 0 {
		return 0
	}
	return slices.Min(r.trips[:min(r.added, len(r.trips))])
}

// Tolerance returns the longest time that a push and the read after it take on a prompt connection.
func (r *RoundTrips) Tolerance() time.Duration {
	return min(max(sources.Promptness, 3*r.Shortest()), promptest)
}
