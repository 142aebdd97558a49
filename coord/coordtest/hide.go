package coordtest

import (
	"context"
	"sync/atomic"

	"coordtop/coord"
)

// Hide wraps a driver so that its sessions and grants lack the given optional
// interfaces: what such a backend would be is seen without writing it.
func Hide(d coord.Driver, hidden Ability) coord.Driver { return &partDriver{Driver: d, hidden: hidden} }

// partDriver is a driver without the hidden abilities, which counts the claims that it is asked for.
type partDriver struct {
	coord.Driver
	hidden   Ability
	acquires atomic.Int32
}

func (d *partDriver) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	s, err := d.Driver.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return joinSession(partSession{s, d}, SessionAbilities(s)&^d.hidden), nil
}

type partSession struct {
	coord.DriverSession
	d *partDriver
}

func (s partSession) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	s.d.acquires.Add(1)
	g, ok, err := s.DriverSession.Acquire(ctx, c)
	if err != nil || !ok {
		return nil, ok, err
	}
	return joinGrant(g, GrantAbilities(g)&^s.d.hidden), true, nil
}
