package coordtest

import (
	"context"
	"sync/atomic"

	"coordtop/coord"
)

// Ability is a set of optional interfaces of a session or a grant.
type Ability uint8

// The optional interfaces. CanRenew may belong to a session or a grant, CanPublish to a grant, the others to a session.
const (
	CanRenew Ability = 1 << iota
	CanDescribe
	CanWatch
	CanQueue
	CanProvision
	CanPublish
)

// SessionAbilities reports which optional interfaces a session implements.
func SessionAbilities(s coord.DriverSession) Ability {
	return ability[coord.Renewer](s, CanRenew) | ability[coord.Describer](s, CanDescribe) | ability[coord.Watcher](s, CanWatch) |
		ability[coord.Queuer](s, CanQueue) | ability[coord.Provisioner](s, CanProvision)
}

// GrantAbilities reports which optional interfaces a grant implements.
func GrantAbilities(g coord.Grant) Ability {
	return ability[coord.Renewer](g, CanRenew) | ability[coord.Publisher](g, CanPublish)
}

// ability returns a if v implements I, else 0.
func ability[I any](v any, a Ability) Ability {
	if _, ok := v.(I); ok {
		return a
	}
	return 0
}

// Hide wraps a driver so that its sessions and grants lack the given optional interfaces. A test can thus run with a
// poorer backend without another driver.
func Hide(d coord.Driver, hidden Ability) coord.Driver { return &partDriver{Driver: d, hidden: hidden} }

// partDriver is a driver without the hidden abilities, which counts the claims that it receives.
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
