package kit

import (
	"coordtop/sources"
	"slices"
	"time"
)

// promptest is the bound of three round trips, which a push from a server that is far away may take.
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

// Shortest is what the connection takes when nothing holds it up. 0: none was measured.
func (r *RoundTrips) Shortest() time.Duration {
	if r.added == 0 {
		return 0
	}
	return slices.Min(r.trips[:min(r.added, len(r.trips))])
}

// Tolerance is how long a prompt connection may take for a push and the read that follows it.
func (r *RoundTrips) Tolerance() time.Duration {
	return min(max(sources.Promptness, 3*r.Shortest()), promptest)
}
