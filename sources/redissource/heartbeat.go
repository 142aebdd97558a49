package redissource

import (
	"sync"
	"time"

	"coordtop/sources"
)

// heartbeat knows how far a connection on which the server pushes can be believed, from its pings
// and their answers. The server answers in order: when a ping is answered, every push of what
// happened before the ping was sent has arrived. It is safe for concurrent use.
type heartbeat struct {
	mu          sync.Mutex
	outstanding []time.Time // sending of the pings without an answer, oldest first
	confirmed   time.Time   // sending of the newest ping with one
	heard       time.Time   // when that answer came
	told        time.Time   // when it was last told that the server answers
	roundTrip   time.Duration
	trips       sources.RoundTrips
}

// pingPause is the pause between two pings. It bounds how long a push can be late without
// being found out, so it is below sources.Promptness; a link that is farther away is granted more.
const pingPause = 20 * time.Millisecond

// pause is the one before the next ping: longest at most.
func (p *heartbeat) pause(longest time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(max(pingPause, 2*p.trips.Shortest()), longest)
}

// pingDue reports whether a ping is of use. While one waits for its answer another is sent
// only after longest: a link that does not move is not filled up.
func (p *heartbeat) pingDue(now time.Time, longest time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.outstanding)
	return n == 0 || now.Sub(p.outstanding[n-1]) >= longest
}

func (p *heartbeat) sent(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outstanding = append(p.outstanding, at)
}

func (p *heartbeat) answered(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.outstanding) == 0 {
		return
	}
	p.confirmed = p.outstanding[0]
	p.heard = at
	p.measuredLocked(max(at.Sub(p.confirmed), time.Microsecond))
	p.outstanding = p.outstanding[1:]
}

// confirm notes that what was sent then was answered now, and was not a ping: that can take
// longer than the link does.
func (p *heartbeat) confirm(sent, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.confirmed, p.heard = sent, now
	if trip := max(now.Sub(sent), time.Microsecond); trip < p.trips.Shortest() {
		p.measuredLocked(trip)
	}
}

func (p *heartbeat) measuredLocked(trip time.Duration) {
	p.roundTrip = trip
	p.trips.Add(trip)
}

// tellAlive reports whether it is to be told that the server answers, which is not done
// more often than once in every.
func (p *heartbeat) tellAlive(now time.Time, every time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.told) < every {
		return false
	}
	p.told = now
	return true
}

// confirmedAt is when the newest ping was sent that was answered.
func (p *heartbeat) confirmedAt() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.confirmed
}

// reset forgets a connection that was left.
func (p *heartbeat) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outstanding, p.confirmed, p.heard, p.told, p.roundTrip = nil, time.Time{}, time.Time{}, time.Time{}, 0
	p.trips = sources.RoundTrips{}
}

// silence is for how long nothing was heard, while a ping waits for its answer; else 0.
func (p *heartbeat) silence(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(p.outstanding) == 0:
		return 0
	case p.heard.IsZero():
		return now.Sub(p.outstanding[0])
	}
	return now.Sub(p.heard)
}

// trip is the last round trip; 0: none was measured yet.
func (p *heartbeat) trip() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.roundTrip
}

// tolerance is how long a prompt link may take for a push or a read.
func (p *heartbeat) tolerance() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trips.Tolerance()
}

// notice describes a push that arrives now.
func (p *heartbeat) notice(now time.Time) notice {
	p.mu.Lock()
	defer p.mu.Unlock()
	return notice{first: now, last: now, floor: p.confirmed}
}
