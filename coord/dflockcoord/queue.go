package dflockcoord

import (
	"context"
	"errors"
	"time"

	"coordtop/coord"
	"coordtop/internal/backoff"
	"coordtop/internal/dflockwire"
	"coordtop/internal/failure"
)

// Enqueue implements coord.Queuer.
func (s *session) Enqueue(caller context.Context, c coord.Claim) (coord.Place, error) {
	ctx, leave, err := s.Enter(caller)
	if err != nil {
		return nil, err
	}
	defer leave()
	p, err := s.newPlace(ctx, c)
	if err != nil {
		return nil, p.failed(caller, ctx, err)
	}
	if err := p.join(ctx); err != nil {
		return nil, errors.Join(p.failed(caller, ctx, err), p.leave(context.WithoutCancel(ctx)))
	}
	if !s.Add(p) {
		p.conn.Close()
		return nil, errSessionOver
	}
	s.Start(p.life, p.keep) // ends with the place
	return p, nil
}

// keep keeps the place alive while no Wait runs.
func (p *place) keep() {
	for backoff.Sleep(p.life, p.pace()) == nil {
		select {
		case p.turn <- struct{}{}:
		case <-p.life.Done():
			return
		}
		if !p.ended {
			p.tend()
		}
		<-p.turn
	}
}

// pace is the pause between two calls of tend: short enough for the server's idle cut and for
// the lease of a place that was served.
func (p *place) pace() time.Duration {
	pace := p.s.driver.options.IdleCut
	if p.lease > 0 {
		pace = min(pace, p.lease)
	}
	return pace / 4
}

// tend pings the server, or renews what was granted meanwhile. The next Wait returns an error
// of it.
func (p *place) tend() {
	ctx, cancel := context.WithTimeout(p.life, graceTime)
	defer cancel()
	switch {
	case p.slice != nil:
		select {
		case <-p.slice.done:
			_ = p.endSlice() // if that was an error the connection says so too
		default: // a server that lets a claim wait needs no talking to
		}
	case len(p.got) > 0:
		_, err := renewAll(ctx, p.conn, p.key, p.nonces(), p.got[0].Lease)
		if errors.Is(err, dflockwire.ErrRejected) {
			p.got, p.queued = nil, false
		}
		p.waited = true
	case p.queued:
		_, _ = p.conn.Ping(ctx) // also a server that does not know it has been talked to
	default:
		_ = p.join(ctx)
	}
}

// Wait implements coord.Place.
func (p *place) Wait(caller context.Context) (coord.Grant, bool, error) {
	ctx, leave, err := p.s.Enter(caller)
	if err != nil {
		return nil, false, err
	}
	defer leave()
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, false, failure.With(errors.New("waiting"), ctx.Err(), context.Cause(ctx))
	}
	if p.ended {
		return nil, false, errSessionOver
	}
	g, err := p.wait(ctx)
	switch {
	case g != nil:
		return g, true, nil
	case err == nil:
		return nil, false, p.leave(context.WithoutCancel(ctx))
	case ctx.Err() != nil && p.conn.Err() == nil: // the place is kept
		return nil, false, p.failed(caller, ctx, err)
	}
	return nil, false, errors.Join(p.failed(caller, ctx, err), p.leave(context.WithoutCancel(ctx)))
}

// Leave implements coord.Place.
func (p *place) Leave(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if p.ended {
		return nil
	}
	return p.leave(ctx)
}

// finish, giveBack and detach are for the end of the session.
func (p *place) finish(error) bool { return true }

func (p *place) giveBack(ctx context.Context) error { return p.Leave(ctx) }

func (p *place) detach() { p.conn.Close() }
