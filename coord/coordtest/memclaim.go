package coordtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/failure"
)

// renewingSession is a session of a SessionRenews service, which has a queue, and one window for all grants.
type renewingSession struct{ *memSession }

var (
	_ coord.DriverSession = (*renewingSession)(nil)
	_ coord.Renewer       = (*renewingSession)(nil)
	_ coord.Queuer        = (*renewingSession)(nil)
	_ coord.Provisioner   = (*renewingSession)(nil)
	_ coord.Describer     = (*renewingSession)(nil)
	_ coord.Watcher       = (*renewingSession)(nil)
	_ coord.DriverSession = (*pollingSession)(nil)
	_ coord.Describer     = (*pollingSession)(nil)
	_ coord.Watcher       = (*pollingSession)(nil)
)

func (s *renewingSession) Renew(ctx context.Context) (coord.Window, error) {
	if err := s.Err(); err != nil {
		return coord.Window{}, fmt.Errorf("renewing the session: %w: %w", err, coord.ErrLost)
	}
	s.mu.Lock()
	debts := s.debts
	s.mu.Unlock()
	asked := time.Now()
	err := s.call(ctx, VerbRenew, func() { s.m.ExpireSession(s.id) }, func(context.Context) error {
		for _, h := range debts {
			s.m.withdraw(h)
		}
		return s.m.prolong(s.id)
	})
	if err = orLost(err, s.Err()); err != nil {
		if errors.Is(err, coord.ErrLost) {
			s.end(err)
		}
		return coord.Window{}, fmt.Errorf("renewing the session: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.debts = s.debts[len(debts):]
	s.window = s.m.window(asked, s.ttl)
	return s.window, nil
}

// orLost returns err, but for a failure after the end of the grant or session an error that wraps ErrLost and over, the
// cause of that end.
func orLost(err, over error) error {
	if err == nil || over == nil || errors.Is(err, coord.ErrLost) {
		return err
	}
	return fmt.Errorf("%w: %w", over, coord.ErrLost)
}

func (s *renewingSession) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	if err := s.check(c); err != nil {
		return nil, false, err
	}
	h := s.ask(c)
	g := s.grant(h, s.ttl)
	var e *entry
	err := s.call(ctx, VerbAcquire, nil, func(ctx context.Context) (err error) {
		if e, err = s.m.claim(h, c, s.ttl, c.Wait != 0, g.end); err != nil || e == nil {
			return err
		}
		return s.m.await(ctx, e, c)
	})
	return s.conclude(ctx, g, e, err)
}

// errWaitOver is the error of await when the claim's Wait runs out.
var errWaitOver = errors.New("wait ran out")

// await blocks until a claim in the queue is served. When the wait runs out the service takes the claim out of the
// queue, unless the claim was served at that instant.
func (m *Mem) await(ctx context.Context, e *entry, c coord.Claim) error {
	select {
	case <-e.granted:
		return nil
	default:
		note(c)
	}
	var over <-chan time.Time
	if c.Wait > 0 {
		t := time.NewTimer(c.Wait)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-e.granted:
		return nil
	case <-e.over:
		return fmt.Errorf("taken out of the queue: %w", e.why)
	case <-ctx.Done():
		return ctx.Err()
	case <-over:
	}
	err := errWaitOver
	m.do(func(now time.Time) {
		if e.owned != nil {
			err = nil
			return
		}
		m.endLocked(e, now, coord.ErrReleased)
	})
	return err
}

// owe lets the next renewal of the session withdraw a claim that could not be withdrawn.
func (s *memSession) owe(h handle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.debts = append(s.debts, h)
}

// note calls c.Waiting, because the service has queued the claim.
func note(c coord.Claim) {
	if c.Waiting != nil {
		c.Waiting()
	}
}

// conclude returns the driver's answer for the outcome of a claim.
func (s *memSession) conclude(ctx context.Context, g *memGrant, e *entry, err error) (coord.Grant, bool, error) {
	if err == nil && e != nil {
		g.fence = e.owned.Fence // set before granted was closed, never changed after
		if s.adopt(g) {
			if s.id != "" {
				return g, true, nil
			}
			return &renewingGrant{g}, true, nil
		}
		err = s.Err()
	}
	g.end(coord.ErrReleased)
	if err == nil || errors.Is(err, errWaitOver) {
		return nil, false, nil
	}
	s.clear(ctx, g.handle, err)
	return nil, false, fmt.Errorf("acquiring: %w", err)
}

// clear withdraws a claim that ended with err, in case it reached the service. If it cannot do so now, the next renewal
// of the session does. If each grant renews, it does nothing then, and the claim runs out.
func (s *memSession) clear(ctx context.Context, h handle, err error) {
	if errors.Is(err, errSessionOver) {
		s.end(err)
	}
	if final(err) {
		return
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
	defer cancel()
	withdraw := func(context.Context) error { s.m.withdraw(h); return nil }
	if s.link.do(late, VerbLeave, nil, withdraw) != nil && s.id != "" {
		s.owe(h)
	}
}

// final reports whether the service refused, so that nothing can be left behind there.
func final(err error) bool {
	return failure.IsAny(err, coord.ErrLost, coord.ErrNotFound, coord.ErrRefused, coord.ErrUnsupported)
}

// pollingSession is a session of a GrantRenews service, which keeps no queue, and where each grant has its own window.
type pollingSession struct{ *memSession }

// Acquire implements coord.DriverSession. A waiting claim tries repeatedly, and trust runs from the sending of the
// successful try.
func (s *pollingSession) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	if err := s.check(c); err != nil {
		return nil, false, err
	}
	ttl := cmp.Or(max(c.TTL, 0), s.ttl)
	start := time.Now()
	for {
		h := s.ask(c)
		g := s.grant(h, ttl)
		var e *entry
		err := s.call(ctx, VerbAcquire, nil, func(context.Context) (err error) {
			e, err = s.m.claim(h, c, ttl, false, g.end)
			return err
		})
		if err != nil || e != nil {
			return s.conclude(ctx, g, e, err)
		}
		g.end(coord.ErrReleased)
		if c.Wait != 0 {
			note(c)
		}
		pause := s.m.o.Poll
		if c.Wait >= 0 {
			pause = min(pause, time.Until(start.Add(c.Wait)))
		}
		if pause <= 0 {
			return nil, false, nil
		}
		if err := s.pause(ctx, pause); err != nil {
			return nil, false, fmt.Errorf("acquiring: %w", err)
		}
	}
}

func (s *memSession) pause(ctx context.Context, d time.Duration) error {
	both, cancel := s.under(ctx)
	defer cancel()
	if err := backoff.Sleep(both, d); err != nil {
		return cmp.Or(ctx.Err(), s.Err())
	}
	return nil
}
