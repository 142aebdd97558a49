package coordtest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"coordtop/coord"
)

// Wrap puts faults before every request of a driver. The result implements the same
// optional interfaces as the driver and no others.
//
// An acquisition whose answer a fault loses is released, as the contract of Acquire
// demands; if a fault on VerbRelease prevents that, it runs out by itself. Expire
// releases (a session: closes) what it takes away, so that others can have it.
func Wrap(d coord.Driver, f *Faults) coord.Driver { return &faultDriver{Driver: d, f: f} }

// Hide wraps a driver so that its sessions and grants lack the given optional
// interfaces: what such a backend would be is seen without writing it.
func Hide(d coord.Driver, hidden Ability) coord.Driver {
	return &faultDriver{Driver: d, f: &Faults{}, hidden: hidden}
}

type faultDriver struct {
	coord.Driver
	f      *Faults
	hidden Ability
}

func (d *faultDriver) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	var inner coord.DriverSession
	err := d.f.do(ctx, VerbOpen, nil, func(ctx context.Context) (err error) {
		inner, err = d.Driver.Open(ctx, o)
		return err
	})
	if err != nil {
		if inner != nil {
			inner.Abandon()
		}
		return nil, err
	}
	s := &faultSession{DriverSession: inner, f: d.f, hidden: d.hidden}
	return joinSession(s, SessionAbilities(inner)&^d.hidden), nil
}

// faultSession is a session behind faults. lost is what Expire made of it.
type faultSession struct {
	coord.DriverSession
	f      *Faults
	hidden Ability
	lost   atomic.Pointer[error]
}

func (s *faultSession) Err() error { return verdictOr(&s.lost, s.DriverSession.Err()) }

func verdictOr(lost *atomic.Pointer[error], err error) error {
	if l := lost.Load(); l != nil && err != nil {
		return *l
	}
	return err
}

var errTaken = fmt.Errorf("taken away by a test: %w", coord.ErrLost)

func (s *faultSession) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	return s.grant(ctx, VerbAcquire, func(ctx context.Context) (coord.Grant, bool, error) {
		return s.DriverSession.Acquire(ctx, c)
	})
}

func (s *faultSession) grant(
	ctx context.Context, v Verb, ask func(context.Context) (coord.Grant, bool, error),
) (coord.Grant, bool, error) {
	var inner coord.Grant
	var ok bool
	err := s.f.do(ctx, v, nil, func(ctx context.Context) (err error) {
		inner, ok, err = ask(ctx)
		return err
	})
	if err == nil && !ok {
		return nil, false, nil
	}
	if inner == nil || !ok {
		return nil, false, err
	}
	g := &faultGrant{Grant: inner, s: s}
	if err != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
		defer cancel()
		if e := g.Release(late); e != nil {
			inner.Abandon()
			err = errors.Join(err, e)
		}
		return nil, false, err
	}
	return joinGrant(g, GrantAbilities(inner)&^s.hidden), true, nil
}

// Close implements coord.DriverSession. A fault that keeps the request from arriving
// still ends the session on our side.
func (s *faultSession) Close(ctx context.Context) error {
	closed := false
	err := s.f.do(ctx, VerbClose, nil, func(ctx context.Context) error {
		closed = true
		return s.DriverSession.Close(ctx)
	})
	if !closed {
		s.DriverSession.Abandon()
	}
	return err
}

// faultGrant is a grant behind faults.
type faultGrant struct {
	coord.Grant
	s    *faultSession
	lost atomic.Pointer[error]
}

func (g *faultGrant) Err() error {
	return verdictOr(&g.lost, verdictOr(&g.s.lost, g.Grant.Err()))
}

// Release implements coord.Grant. A fault that keeps the request from arriving still
// ends the grant on our side.
func (g *faultGrant) Release(ctx context.Context) error {
	released := false
	err := g.s.f.do(ctx, VerbRelease, nil, func(ctx context.Context) error {
		released = true
		return g.Grant.Release(ctx)
	})
	if !released {
		g.Abandon()
	}
	return err
}

func (g *faultGrant) expire() {
	g.lost.Store(&errTaken)
	// The service takes it: no fault of the client's link is in the way, and the
	// answer is of no use to anybody.
	ctx, cancel := context.WithTimeout(context.Background(), settleFor)
	defer cancel()
	_ = g.Grant.Release(ctx)
}

// The optional interfaces, one type each, so that joinSession and joinGrant can
// compose them.
type (
	faultSessionRenewer struct {
		s *faultSession
		r coord.Renewer
	}
	faultGrantRenewer struct {
		g *faultGrant
		r coord.Renewer
	}
	faultPublisher struct {
		g *faultGrant
		p coord.Publisher
	}
	faultDescriber struct {
		s *faultSession
		d coord.Describer
	}
	faultWatcher struct {
		s *faultSession
		w coord.Watcher
	}
	faultQueuer struct {
		s *faultSession
		q coord.Queuer
	}
	faultProvisioner struct {
		s *faultSession
		p coord.Provisioner
	}
)

func (r faultSessionRenewer) Renew(ctx context.Context) (coord.Window, error) {
	return renew(ctx, r.s.f, r.r, func() {
		r.s.lost.Store(&errTaken)
		ctx, cancel := context.WithTimeout(context.Background(), settleFor)
		defer cancel()
		_ = r.s.DriverSession.Close(ctx) // see faultGrant.expire
	})
}

func (r faultGrantRenewer) Renew(ctx context.Context) (coord.Window, error) {
	return renew(ctx, r.g.s.f, r.r, r.g.expire)
}

func renew(ctx context.Context, f *Faults, r coord.Renewer, expire func()) (coord.Window, error) {
	var w coord.Window
	err := f.do(ctx, VerbRenew, expire, func(ctx context.Context) (err error) {
		w, err = r.Renew(ctx)
		return err
	})
	if err != nil {
		return coord.Window{}, err
	}
	return w, nil
}

func (p faultPublisher) Publish(ctx context.Context, data []byte) error {
	return p.g.s.f.do(ctx, VerbPublish, p.g.expire, func(ctx context.Context) error { return p.p.Publish(ctx, data) })
}

func (d faultDescriber) Describe(ctx context.Context, kind coord.Kind, name string) (coord.Description, error) {
	var desc coord.Description
	err := d.s.f.do(ctx, VerbDescribe, nil, func(ctx context.Context) (err error) {
		desc, err = d.d.Describe(ctx, kind, name)
		return err
	})
	if err != nil {
		return coord.Description{}, err
	}
	return desc, nil
}

func (w faultWatcher) Watch(ctx context.Context, kind coord.Kind, name string) iter.Seq2[coord.Description, error] {
	return func(yield func(coord.Description, error) bool) {
		if err := w.s.f.do(ctx, VerbWatch, nil, func(context.Context) error { return nil }); err != nil {
			if ctx.Err() == nil {
				yield(coord.Description{}, err)
			}
			return
		}
		w.w.Watch(ctx, kind, name)(yield)
	}
}

func (q faultQueuer) Enqueue(ctx context.Context, c coord.Claim) (coord.Place, error) {
	var inner coord.Place
	err := q.s.f.do(ctx, VerbEnqueue, nil, func(ctx context.Context) (err error) {
		inner, err = q.q.Enqueue(ctx, c)
		return err
	})
	if err == nil {
		return &faultPlace{s: q.s, p: inner}, nil
	}
	if inner != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
		defer cancel()
		err = errors.Join(err, inner.Leave(late))
	}
	return nil, err
}

type faultPlace struct {
	s *faultSession
	p coord.Place
}

func (p *faultPlace) Wait(ctx context.Context) (coord.Grant, bool, error) {
	return p.s.grant(ctx, VerbWait, p.p.Wait)
}

func (p *faultPlace) Leave(ctx context.Context) error {
	return p.s.f.do(ctx, VerbLeave, nil, p.p.Leave)
}

func (p faultProvisioner) Create(ctx context.Context, name string, limit uint64, data []byte) error {
	return p.s.f.do(ctx, VerbCreate, nil, func(ctx context.Context) error { return p.p.Create(ctx, name, limit, data) })
}

func (p faultProvisioner) Update(ctx context.Context, name string, data []byte) error {
	return p.s.f.do(ctx, VerbUpdate, nil, func(ctx context.Context) error { return p.p.Update(ctx, name, data) })
}

func (p faultProvisioner) Delete(ctx context.Context, name string, force bool) error {
	return p.s.f.do(ctx, VerbDelete, nil, func(ctx context.Context) error { return p.p.Delete(ctx, name, force) })
}
