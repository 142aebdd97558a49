package dflockcoord

import (
	"context"
	"errors"

	"coordtop/coord"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/failure"
)

// Enqueue implements coord.Queuer.
func (s *session) Enqueue(caller context.Context, c coord.Claim) (coord.Place, error) {
	ctx, leave, err := s.Enter(caller)
	if err != nil {
		return nil, err
	}
	defer leave()
	p, err := s.newPlace(ctx, c)
	if err == nil {
		err = p.join(ctx)
	}
	if err == nil && !s.Add(p) {
		err = errSessionOver
	}
	if err != nil {
		return nil, p.giveUp(caller, ctx, err)
	}
	s.Start(p.life, p.keep) // ends with the place
	return p, nil
}

// keep sends pings often enough that the server does not end the connection. During a Wait a ping waits for its turn
// and is given up, which is harmless.
func (p *place) keep() {
	for backoff.Sleep(p.life, p.s.driver.idleCut()/4) == nil {
		_, _ = p.conn.Ping(p.life) // sent even to a server that does not know ping; Wait reports errors of the connection
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
	case err != nil && ctx.Err() != nil && p.conn.Err() == nil: // the place is kept
		return nil, false, failed(caller, ctx, err)
	}
	return nil, false, p.giveUp(caller, ctx, err)
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

// End, giveBack and detach implement claimed.
func (p *place) End(error) bool { return true }

func (p *place) giveBack(ctx context.Context) error { return p.Leave(ctx) }

func (p *place) detach() { p.conn.Close() }
