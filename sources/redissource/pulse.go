package redissource

import (
	"sync"
	"time"
)

// pulse knows how far the push connection can be believed, from its pings and their
// answers. The server answers in order: when a ping is answered, every push of what
// happened before the ping was sent has arrived. It is safe for concurrent use.
type pulse struct {
	mu          sync.Mutex
	outstanding []time.Time // sending of the pings without an answer, oldest first
	confirmed   time.Time   // sending of the newest ping with one
	heard       time.Time   // when that answer came
	roundTrip   time.Duration
}

// A push that arrived within promptness of what it tells counts as told. A link that is
// farther away than that may take three round trips, up to promptest.
const (
	promptness = 25 * time.Millisecond
	promptest  = 300 * time.Millisecond
)

func (p *pulse) sent(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outstanding = append(p.outstanding, at)
}

func (p *pulse) answered(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.outstanding) == 0 {
		return
	}
	p.confirmed = p.outstanding[0]
	p.heard = at
	p.roundTrip = max(at.Sub(p.confirmed), time.Microsecond)
	p.outstanding = p.outstanding[1:]
}

// confirmedAt is when the newest ping was sent that was answered.
func (p *pulse) confirmedAt() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.confirmed
}

// reset forgets a connection that was left.
func (p *pulse) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outstanding, p.confirmed, p.heard, p.roundTrip = nil, time.Time{}, time.Time{}, 0
}

// silence is for how long nothing was heard, while a ping waits for its answer; else 0.
func (p *pulse) silence(now time.Time) time.Duration {
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
func (p *pulse) trip() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.roundTrip
}

// tolerance is how long a prompt link may take for a push or a read.
func (p *pulse) tolerance() time.Duration {
	return min(max(promptness, 3*p.trip()), promptest)
}

// notice describes a push that arrives now.
func (p *pulse) notice(now time.Time) notice {
	allowed := p.tolerance()
	p.mu.Lock()
	defer p.mu.Unlock()
	waits := len(p.outstanding) > 0 && now.Sub(p.outstanding[0]) > allowed
	return notice{first: now, last: now, floor: p.confirmed, late: waits || 3*p.roundTrip > promptest}
}
