package operate

import (
	"context"
	"fmt"

	"coordtop/coord"
)

// ReadOnly returns a driver that cannot change anything. Its sessions acquire nothing (the error wraps ErrReadOnly and
// coord.ErrRefused), join no queue and make no primitives. They can describe if those of d can.
func ReadOnly(d coord.Driver) coord.Driver { return readOnly{d} }

// readOnly does not embed the driver, so that a method that is added to the interface later is not passed on.
type readOnly struct{ d coord.Driver }

func (r readOnly) Name() string                    { return r.d.Name() }
func (r readOnly) Close(ctx context.Context) error { return r.d.Close(ctx) }

func (r readOnly) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	s, err := r.d.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	looking := readOnlySession{s}
	if renewer, ok := s.(coord.Renewer); ok {
		return renewedSession{looking, renewer}, nil
	}
	return looking, nil
}

// readOnlySession passes on the methods that change nothing.
type readOnlySession struct{ s coord.DriverSession }

func (r readOnlySession) Info() coord.SessionInfo         { return r.s.Info() }
func (r readOnlySession) Done() <-chan struct{}           { return r.s.Done() }
func (r readOnlySession) Err() error                      { return r.s.Err() }
func (r readOnlySession) Close(ctx context.Context) error { return r.s.Close(ctx) }
func (r readOnlySession) Abandon()                        { r.s.Abandon() }

func (r readOnlySession) Acquire(context.Context, coord.Claim) (coord.Grant, bool, error) {
	return nil, false, fmt.Errorf("%w: %w", ErrReadOnly, coord.ErrRefused)
}

// Describe implements coord.Describer. It returns coord.ErrUnsupported if the wrapped session does not implement it.
func (r readOnlySession) Describe(ctx context.Context, kind coord.Kind, name string) (coord.Description, error) {
	d, ok := r.s.(coord.Describer)
	if !ok {
		return coord.Description{}, fmt.Errorf("describing: %w", coord.ErrUnsupported)
	}
	return d.Describe(ctx, kind, name)
}

// renewedSession is a read-only session that is renewed as a whole.
type renewedSession struct {
	readOnlySession
	coord.Renewer
}
