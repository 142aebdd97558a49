package coord

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// claimKey identifies a primitive, which a session can claim once at a time.
type claimKey struct {
	kind Kind
	name string
}

// claim is a claimed name, from the request to the end of the lease. The lease is nil until it is granted. gone is
// closed when the name is free again.
type claim struct {
	claimKey
	lease *Lease
	gone  chan struct{}
}

// acquire claims a primitive and makes a lease of the grant. It waits at most c.Wait; ok is false if nothing was
// granted in that time. After an error that wraps ErrUncertain the primitive may be ours at the service without our
// knowing.
func (s *Session) acquire(ctx context.Context, c Claim) (l *Lease, ok bool, err error) {
	failed := func(err error) (*Lease, bool, error) { return nil, false, s.claimError("acquire", c, err) }
	mine, err := s.reserve(ctx, c)
	if err != nil {
		return failed(err)
	}
	both, cancel := s.under(ctx)
	defer cancel()
	l, ok, err = s.persist(both, mine, c)
	if err == nil && !ok && (ctx.Err() != nil || s.over() != nil) {
		err = ErrNotAcquired // the claim missed because it was cut short
	}
	if err != nil || !ok {
		s.vacate(mine)
	}
	if err != nil {
		return failed(withCause(ctx, s.keeper.ctx, err))
	}
	return l, ok, nil
}

// acquireOrFail calls acquire and returns ErrNotAcquired for a miss. A wait of 0 means without limit.
func (s *Session) acquireOrFail(ctx context.Context, c Claim, wait time.Duration) (*Lease, error) {
	c.Wait = wait
	if wait == 0 {
		c.Wait = Forever
	}
	l, ok, err := s.acquire(ctx, c)
	if err == nil && !ok {
		err = s.claimError("acquire", c, withContext(ctx, ErrNotAcquired))
	}
	return l, err
}

// checkClaim refuses claims that cannot succeed, before anything is sent.
func (s *Session) checkClaim(c Claim) error {
	if err := s.over(); err != nil {
		return err
	}
	switch {
	case c.Name == "":
		return fmt.Errorf("%w: the name is empty", ErrInvalid)
	case c.TTL < 0:
		return fmt.Errorf("%w: TTL is negative (%v)", ErrInvalid, c.TTL)
	case c.Wait < 0 && c.Wait != Forever:
		return fmt.Errorf("%w: Wait is negative (%v)", ErrInvalid, c.Wait)
	case c.TTL > 0 && !s.renews:
		if err := s.o.checkRoom(c.TTL); err != nil {
			return err
		}
	}
	return s.caps.Check(c)
}

func (s *Session) claimError(op string, c Claim, err error) error { return wrap(s.d, op, c, err) }

// reserve checks a claim and reserves its name. A name that is claimed or owned is refused at once. If the lease of the
// name has ended and is still being released, reserve waits for that; this wait is bounded. A reserved name counts as
// running until vacate is called.
func (s *Session) reserve(ctx context.Context, asked Claim) (*claim, error) {
	if err := s.checkClaim(asked); err != nil {
		return nil, err
	}
	for k := (claimKey{asked.Kind, asked.Name}); ; {
		s.mu.Lock()
		old := s.claims[k]
		switch {
		case s.closed:
			s.mu.Unlock()
			return nil, s.over()
		case old == nil:
			c := &claim{claimKey: k, gone: make(chan struct{})}
			s.claims[k] = c
			s.running.Add(1)
			s.mu.Unlock()
			return c, nil
		case old.lease == nil || old.lease.Check() == nil:
			s.mu.Unlock()
			return nil, ErrClaimed
		}
		s.mu.Unlock()
		select {
		case <-old.gone:
		case <-ctx.Done():
			return nil, withContext(ctx, ErrClaimed)
		case <-s.keeper.ctx.Done():
			return nil, s.over()
		}
	}
}

// vacate frees a name.
func (s *Session) vacate(c *claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.claims, c.claimKey)
	close(c.gone)
	s.running.Done()
}

// leaseOf returns the live lease that this session has on a primitive, or nil.
func (s *Session) leaseOf(k claimKey) *Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.claims[k]; c != nil && c.lease != nil && c.lease.Check() == nil {
		return c.lease
	}
	return nil
}

// adopt checks that a grant can be trusted and returns its lease. earliest was read before the claim was sent. If it
// returns an error, it has released the grant, and the name stays reserved for the caller.
func (s *Session) adopt(ctx context.Context, mine *claim, g Grant, earliest instant, c Claim) (*Lease, error) {
	t, err := s.confirm(ctx, g, earliest)
	if err == nil {
		err = ctx.Err() // a grant that raced the cancel is released
	}
	if err == nil {
		l := s.newLease(mine, g, t, c)
		if err = l.Check(); err == nil {
			s.start(l)
			return l, nil
		}
	}
	late, cancel := s.cleanupContext(ctx)
	defer cancel()
	if e := g.Release(late); e != nil {
		g.Abandon()
		err = errors.Join(err, fmt.Errorf("giving it back: %w", e))
	}
	return nil, err
}

// confirm returns the trust in a grant. If each grant is a Renewer, a claim that waited may have used up so much of its
// window that a renewal is due. Then confirm renews the grant at once, and only the answer to that makes it ours. It
// tries for at most the length of a window.
func (s *Session) confirm(ctx context.Context, g Grant, earliest instant) (trust, error) {
	r, renews := g.(Renewer)
	switch {
	case renews == s.renews:
		return trust{}, fmt.Errorf("the driver contradicts itself, session and grant renew: %v: %w", renews, ErrRefused)
	case s.renews:
		return trust{}, nil
	}
	t, err := trustIn(g.Info().Window, earliest, trust{asked: s.opened}, s.o)
	if err != nil {
		return trust{}, err
	}
	if err := s.o.checkRoom(t.valid); err != nil {
		return trust{}, err
	}
	if now := s.clock.now(); t.due(now) > 0 && !t.over(now) {
		return t, nil
	}
	return s.renewNow(ctx, r, t)
}

func (s *Session) renewNow(ctx context.Context, r Renewer, t trust) (trust, error) {
	ctx, cancel := context.WithTimeout(ctx, t.valid)
	defer cancel()
	pause := renewPolicy(t.valid).Start()
	for {
		earliest := s.clock.now()
		try, cancel := context.WithTimeout(ctx, t.valid/2)
		w, err := r.Renew(try)
		cancel()
		if err == nil {
			var fresh trust
			if fresh, err = trustIn(w, earliest, t, s.o); err == nil && !fresh.over(s.clock.now()) {
				return fresh, nil
			}
			if err == nil {
				err = fmt.Errorf("%w: the answer took longer than the window lasts", ErrExpired)
			}
		} else if verdict(err) {
			return trust{}, fmt.Errorf("confirming the grant: %w", err)
		}
		if pause.Wait(ctx) != nil {
			return trust{}, fmt.Errorf("confirming the grant: %w", err)
		}
	}
}
