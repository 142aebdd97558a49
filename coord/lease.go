package coord

import (
	"context"
	"errors"
	"sync"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
)

// Lease is a grant and the time we may trust it. It begins when it is acquired and
// ends once, for one of four reasons: lost, expired, released, closed. Its methods are
// safe for concurrent use. The caller must call Release or Abandon, or close
// the session.
type Lease struct {
	s      *Session
	g      Grant
	claim  *claim
	asked  Claim // as sent; without its data, which may be large
	keeper *keeper

	mu       sync.Mutex
	ending   ending
	endCtx   context.Context // of the Release that ended it
	finished chan struct{}   // closed when nothing of the lease is left running
	err      error           // of that Release; read after finished
}

// ending is what the lease's goroutine does with the grant when the lease has ended.
type ending uint8

const (
	endedByItself ending = iota // it ended by itself
	endRelease
	endAbandon
)

// newLease makes a lease that does not run yet. t is ignored where the session renews.
func (s *Session) newLease(mine *claim, g Grant, t trust, c Claim) *Lease {
	c.Data = nil
	l := &Lease{s: s, g: g, claim: mine, asked: c, finished: make(chan struct{})}
	l.keeper = &keeper{
		clock: s.clock, o: s.o, done: g.Done(), why: g.Err, wrap: l.wrap, health: s.health, trust: t,
		renewNow: make(chan struct{}, 1),
	}
	if !s.renews {
		l.keeper.renewer, _ = g.(Renewer)
	}
	// A child of the session's: it ends in the same instant and with the same cause.
	l.keeper.ctx, l.keeper.cancel = context.WithCancelCause(s.keeper.ctx)
	return l
}

// start makes the lease known and starts its goroutine, which ends after the lease
// has; vacate notifies the session.
func (s *Session) start(l *Lease) {
	s.health.confirmed(l.keeper)
	s.mu.Lock()
	l.claim.lease = l
	s.announceLocked()
	s.mu.Unlock()
	spawn.Go(s.cleanup, nil, func() {
		defer close(l.finished)
		defer s.vacate(l.claim)
		l.keeper.run()
		s.mu.Lock()
		s.announceLocked()
		s.mu.Unlock()
		l.endGrant()
	})
}

// announceLocked wakes those who follow which leases this session has.
func (s *Session) announceLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Context ends when the lease does, before the service can give to another what it
// granted us. Its cause says why and wraps ErrLost, ErrExpired, ErrReleased or
// ErrClosed. Work that needs the lease runs under it.
func (l *Lease) Context() context.Context { return l.keeper.ctx }

// Check is nil while the lease can be trusted, and else why it ended. It reads the
// clock: it is right also where the process was stopped, starved or asleep and
// nothing of ours has run yet to end the context, which it then does itself.
func (l *Lease) Check() error {
	_ = l.s.keeper.check() // if the session is over, so are we, with its cause
	return l.keeper.check()
}

// TrustedUntil is when the lease ends if it is not confirmed again before. Each
// confirmation moves it; a suspend of the machine moves it nearer. After the end of
// the lease it means nothing.
func (l *Lease) TrustedUntil() time.Time {
	k := l.renewed()
	return k.trusted().until(k.clock.now())
}

// renewed is what is renewed for the lease: the lease itself, or its session.
func (l *Lease) renewed() *keeper {
	if l.s.renews {
		return l.s.keeper
	}
	return l.keeper
}

// Owner is our identity exactly as others see it at the service; "" while the backend
// has not reported it.
func (l *Lease) Owner() string { return l.g.Info().Owner }

// Fence is the number issued with the grant; it only grows from grant to grant, so
// that a resource can refuse who comes with a smaller one. 0: none.
func (l *Lease) Fence() uint64 { return l.g.Info().Fence }

// Release gives it back. The context ends (the cause is ErrReleased) before the
// request is sent, so nobody works under the lease when another gets it. The request
// goes out even if ctx has ended: the deadline of ctx bounds it, or 2 s where there is
// none and after ctx was cancelled. If it fails, the error is returned and what was
// granted runs out by itself. Release returns when nothing of the lease is left
// running; a call after the first, or after the lease ended otherwise, waits for that
// and returns what the first release did, nil if there was none.
func (l *Lease) Release(ctx context.Context) error {
	l.endBy(ctx, endRelease)
	<-l.finished
	return l.err
}

// Abandon ends the lease like Release but sends the service nothing: there it runs
// out by itself, or with the session where the session is what is renewed. A call
// after the lease's end does nothing.
func (l *Lease) Abandon() {
	l.endBy(l.s.cleanup, endAbandon)
	<-l.finished
}

// endBy ends the lease on our own wish, if it has not ended already.
func (l *Lease) endBy(ctx context.Context, how ending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Check() == nil {
		l.ending, l.endCtx = how, ctx
		l.keeper.cancel(ErrReleased)
	}
}

// endGrant does the last thing with the grant, when the lease has ended and nothing else
// talks to the grant any more.
func (l *Lease) endGrant() {
	l.mu.Lock()
	how, ctx := l.ending, l.endCtx
	l.mu.Unlock()
	cause := context.Cause(l.keeper.ctx)
	switch {
	case !errors.Is(cause, ErrReleased):
		l.clear(cause)
	case how == endRelease:
		if err := l.release(ctx); err != nil {
			l.err = l.wrap("release", err)
		}
	default:
		l.g.Abandon()
	}
}

// clear sees to a grant that ended by itself. If only our trust ran out, a renewal that was
// on its way may have prolonged it at the service, for nobody; so it is given back, as well
// as that goes; so is what a defect of ours ended. But not before the window is over: the
// margin is there for those who are late to see the end, and nobody else may begin in it.
func (l *Lease) clear(cause error) {
	t := l.keeper.trusted()
	window := t.left(l.keeper.clock.now()) + t.margin // for so long the service still counts us as the owner
	switch {
	case l.s.over() != nil: // the session's Close or Abandon sees to all grants
	case errors.Is(cause, spawn.ErrPanic):
		_ = l.release(l.s.cleanup) // nobody else gives it back, and the program may be about to end
	case !errors.Is(cause, ErrExpired):
		l.g.Abandon()
	case backoff.Sleep(l.s.keeper.ctx, window) == nil:
		_ = l.release(l.s.cleanup) // there is nobody to report it to, and it runs out anyway
	}
}

func (l *Lease) release(ctx context.Context) error {
	late, cancel := l.s.cleanupContext(ctx)
	defer cancel()
	err := l.g.Release(late)
	if err != nil {
		l.g.Abandon()
	}
	return err
}

// lose ends the lease because the service said so in answer to another request.
func (l *Lease) lose(op string, err error) { l.keeper.cancel(l.wrap(op, err)) }

func (l *Lease) wrap(op string, err error) error {
	return l.s.claimError(op, l.asked, err)
}
