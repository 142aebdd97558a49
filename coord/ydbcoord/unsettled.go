package ydbcoord

import (
	"context"
	"errors"
	"time"
)

// left takes the claim back as leave does, also after the end of ctx. It returns err, which is why the claim ended, or an
// error that wraps coord.ErrUncertain if the service has not confirmed that nothing of the claim
// is left. What could not be sent is kept to be sent. For a session that is closed it is Close
// that says so.
func (p *place) left(ctx context.Context, within time.Duration, err error) error {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	_ = p.leave(late) // what the service confirmed of it is in unsettled
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if !p.unsureLocked() || p.s.closing || p.s.confirmed {
		return err
	}
	return uncertain(p.s.ttl, err)
}

// answeredLocked takes in the end of the acquire: a refusal or a miss leaves nothing at the
// service. That its session has ended says nothing about it.
func (p *place) answeredLocked() {
	r := p.req
	if p.s.err == nil && !errors.Is(r.err, errSuperseded) && (r.err != nil || !r.reply.GetAcquireSemaphoreResult().GetAcquired()) {
		delete(p.s.unsettled, p)
	}
}

// unsureLocked reports whether the service may have the claim: it was sent, and neither granted
// to our knowledge, nor refused, nor taken back.
func (p *place) unsureLocked() bool {
	_, open := p.s.unsettled[p]
	return open && p.req.sends > 0
}

// unsureLocked reports whether a claim of the session may be granted without our knowing.
func (s *Session) unsureLocked() bool {
	if s.confirmed {
		return false
	}
	for p := range s.unsettled {
		if p.unsureLocked() {
			return true
		}
	}
	return false
}
