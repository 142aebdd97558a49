package coord_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/spawn"
)

// panics counts what it is told.
type panics struct {
	mu   sync.Mutex
	told int
}

func (p *panics) take(*spawn.Panic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told++
}

func (p *panics) once(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told != 1 {
		t.Errorf("told of %d panics, want 1", p.told)
	}
}

// openUnder opens a session whose panics are told.
func openUnder(t *testing.T, p *panics, d coord.Driver, o coord.SessionOptions) *coord.Session {
	t.Helper()
	ctx, cancel := context.WithCancel(spawn.With(t.Context(), p.take))
	defer cancel() // the session outlives it
	s, err := coord.Open(ctx, d, o)
	noError(t, err)
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	return s
}

func TestARenewalThatPanicsEndsTheLeaseAndGivesItBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p panics
		d := grantStub()
		s := openUnder(t, &p, d, options())
		l := lockStub(t, s, "job")
		d.onRelease(func(context.Context) error {
			if l.Check() == nil {
				t.Error("given back while it was trusted")
			}
			return nil
		})
		d.onRenew(func(context.Context) (coord.Window, error) { panic("boom") })
		began := time.Now()
		<-l.Context().Done()
		synctest.Wait()
		p.once(t)
		if err := l.Check(); !errors.Is(err, coord.ErrLost) || !errors.Is(err, spawn.ErrPanic) {
			t.Errorf("it ended with %v", err)
		}
		if n, in := d.releases.Load(), time.Since(began); n != 1 || in >= ttl {
			t.Errorf("given back %d times after %v", n, in)
		}
		d.onRenew(nil)
		lockStub(t, s, "job") // the name is free again
	})
}

// trap is an error that panics when it is looked at.
type trap struct{}

func (trap) Error() string { return "a trap" }
func (trap) Is(error) bool { panic("boom") }

func TestAKeeperThatPanicsEndsItsLeaseAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p panics
		d := grantStub()
		s := openUnder(t, &p, d, options())
		l, other := lockStub(t, s, "job"), lockStub(t, s, "other")
		d.grant(0).end(trap{}) // the keeper looks what it is
		<-l.Context().Done()
		synctest.Wait()
		p.once(t)
		if err := context.Cause(l.Context()); !errors.Is(err, coord.ErrLost) || !errors.Is(err, spawn.ErrPanic) {
			t.Errorf("it ended with %v", err)
		}
		if err := other.Check(); err != nil {
			t.Errorf("the other ended too: %v", err)
		}
	})
}

func TestASessionWhoseRenewalPanicsEndsWithItsLeases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p panics
		d := sessionStub()
		s := openUnder(t, &p, d, options())
		l := lockStub(t, s, "job")
		d.onRenew(func(context.Context) (coord.Window, error) { panic("boom") })
		<-l.Context().Done()
		if err := context.Cause(s.Context()); !errors.Is(err, coord.ErrLost) || !errors.Is(err, spawn.ErrPanic) {
			t.Errorf("the session ended with %v", err)
		}
		if err := s.Close(t.Context()); err != nil || d.sessionsClosed.Load() != 1 {
			t.Errorf("it is closed %d times, %v", d.sessionsClosed.Load(), err)
		}
		p.once(t)
	})
}

func TestACallbackThatPanicsKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p panics
		d, o := grantStub(), options()
		o.OnState = func(coord.StateChange) { panic("boom") }
		s := openUnder(t, &p, d, o)
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait() // the panic may be told after Close has returned
		p.once(t)
	})
}

func TestALeaderWhoseWorkPanicsResignsAndRunSaysWhy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p panics
		d := grantStub()
		c := coord.NewCandidate(d, options(), "job", coord.LeadOptions{
			OnElected: func(context.Context, *coord.Term) error { panic("boom") },
		})
		if err := c.Run(spawn.With(t.Context(), p.take)); !errors.Is(err, spawn.ErrPanic) {
			t.Errorf("it ended with %v", err)
		}
		if n := d.releases.Load(); n != 1 {
			t.Errorf("resigned %d times", n)
		}
		p.once(t)
	})
}
