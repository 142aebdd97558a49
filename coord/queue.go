package coord

import (
	"context"
	"fmt"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
)

// QueuePlace is a place in the service's queue. Wait waits there for the lease, and Leave gives the place up. The
// caller must call one of them, unless it closes the session. Its methods are safe for concurrent use.
type QueuePlace struct {
	s      *Session
	p      Place
	claim  *claim
	asked  Claim
	before instant

	life context.Context // ends when the place is being left, is used up or the session ends
	quit context.CancelFunc

	turn  chan struct{} // holds one element while a goroutine uses the fields below
	used  bool          // the place became a lease, ran out, was left or ended with the session
	loose func() bool   // unbinds the place from the end of the session
}

// enqueue takes a place; a wait of 0 means without limit.
func (s *Session) enqueue(ctx context.Context, c Claim, wait time.Duration) (*QueuePlace, error) {
	if c.Wait = wait; wait == 0 {
		c.Wait = Forever
	}
	failed := func(err error) (*QueuePlace, error) { return nil, s.claimError("enqueue", c, err) }
	q, ok := s.ds.(Queuer)
	if !ok {
		return failed(fmt.Errorf("a place in a queue: %w", ErrUnsupported))
	}
	mine, err := s.reserve(ctx, c)
	if err != nil {
		return failed(err)
	}
	both, cancel := s.under(ctx)
	defer cancel()
	w := &waiting{s: s, c: c, pauses: backoff.Policy(s.o.Retry).Start()}
	c.Waiting, c.Place = w.noteWaiting, w.notePlace
	before := s.clock.now()
	inner, err := q.Enqueue(both, c)
	if err != nil {
		s.vacate(mine)
		return failed(withCause(ctx, s.keeper.ctx, err))
	}
	p := &QueuePlace{s: s, p: inner, claim: mine, asked: c, before: before, turn: make(chan struct{}, 1)}
	p.life, p.quit = context.WithCancel(s.keeper.ctx)
	p.turn <- struct{}{}
	// The session's Close waits until the name is free, and then notifies the service.
	p.loose = spawn.OnDone(s.keeper.ctx, func() {
		p.turn <- struct{}{}
		defer func() { <-p.turn }()
		p.finish()
	})
	<-p.turn
	return p, nil
}

// finish frees the name, unless it is free already. The caller has the turn.
func (p *QueuePlace) finish() {
	if !p.used {
		p.useUp()
		p.s.vacate(p.claim)
	}
}

func (p *QueuePlace) useUp() {
	p.used = true
	p.quit()
	p.loose()
}

// Wait blocks until the lease is ours. If the Wait of the options runs out, ok is false, err is nil and the place is
// gone. When ctx ends, the place is kept and Wait may be called again; a lease granted at that instant is returned. If
// the place is gone or being left, the error wraps ErrClosed.
func (p *QueuePlace) Wait(ctx context.Context) (l *Lease, ok bool, err error) {
	failed := func(err error) (*Lease, bool, error) { return nil, false, p.s.claimError("acquire", p.asked, err) }
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return failed(withContext(ctx, ErrNotAcquired))
	}
	if err := p.s.over(); err != nil {
		return failed(err)
	}
	if p.used {
		return failed(fmt.Errorf("the place is gone: %w", ErrClosed))
	}
	both, cancel := p.s.under(ctx)
	defer cancel()
	defer spawn.OnDone(p.life, cancel)()
	g, ok, err := p.p.Wait(both)
	switch {
	case err != nil && p.life.Err() != nil && p.s.over() == nil:
		return failed(fmt.Errorf("the place was left: %w", ErrClosed))
	case err != nil:
		return failed(withCause(ctx, p.s.keeper.ctx, err))
	case !ok:
		p.finish()
		return nil, false, nil
	}
	if l, err = p.adopt(ctx, g); err != nil {
		p.finish()
		return failed(err)
	}
	return l, true, nil
}

// adopt makes the lease. The end of ctx does not stop it, because the place is used up and the grant would be lost.
func (p *QueuePlace) adopt(ctx context.Context, g Grant) (*Lease, error) {
	both, cancel := p.s.under(context.WithoutCancel(ctx))
	defer cancel()
	l, err := p.s.adopt(both, p.claim, g, p.before, p.asked)
	if err != nil {
		return nil, withCause(ctx, p.s.keeper.ctx, err)
	}
	p.useUp() // the name is the lease's now
	return l, nil
}

// Leave gives the place up; a Wait under way ends. The service is notified even if ctx has ended, see Lease.Release.
// After the place was used up, a call does nothing.
func (p *QueuePlace) Leave(ctx context.Context) error {
	p.quit()
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	if p.used {
		return nil
	}
	late, cancel := p.s.cleanupContext(ctx)
	defer cancel()
	err := p.p.Leave(late)
	p.finish()
	return p.s.claimError("leave", p.asked, err)
}
