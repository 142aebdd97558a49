package coord

import (
	"context"
	"errors"
	"sync"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
)

// Lease is a grant and the time for which we may trust it. It begins when it is acquired and
// ends once, for one of four reasons: lost, expired, released, closed. Its methods are
// safe for concurrent use. The caller must call Release or Abandon, or close
// the session.
type Lease struct {
	s      *Session
	g      Grant
	claim  *claim
	asked  Claim // the claim as sent, without its data, which may be large
	keeper *keeper

	mu       sync.Mutex
	giveUp   func() error  // releases or abandons the grant after the end; nil if neither was called
	finished chan struct{} // closed when nothing of the lease is left running
	err      error         // of giveUp; read after finished
}

// newLease makes a lease that does not run yet. t is ignored if the session renews.
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
	// The context is a child of the session's context, so that both end together with the same cause.
	l.keeper.ctx, l.keeper.cancel = context.WithCancelCause(s.keeper.ctx)
	return l
}

// start adds the lease to the session and starts its goroutine, which ends after the lease; the session waits until
// vacate is called.
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

// announceLocked wakes the receivers of leasesChanged.
func (s *Session) announceLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Context ends when the lease does, before the service can grant the primitive to
// another. Its cause says why and wraps ErrLost, ErrExpired, ErrReleased or
// ErrClosed. Work that needs the lease runs under it.
func (l *Lease) Context() context.Context { return l.keeper.ctx }

// Check returns nil while the lease can be trusted, and after that the reason for its end. Check reads the clock, so
// that its answer is right even if the process was stopped, starved or asleep and no goroutine has ended the context
// yet. In that case Check ends it.
func (l *Lease) Check() error {
	_ = l.s.keeper.check() // if the session is over, the lease ends with its cause
	return l.keeper.check()
}

// TrustedUntil returns the end of the lease if nothing confirms it before. Each confirmation makes the end later; a
// suspend of the machine makes it earlier. After the end of the lease the value means nothing.
func (l *Lease) TrustedUntil() time.Time {
	k := l.renewed()
	return k.trusted().until(k.clock.now())
}

// WindowEnd returns the end of the window: until then the service surely counts us as the owner if nothing confirms the
// lease before. It lies after TrustedUntil by the margin of the session. After the end of the lease the value means
// nothing.
func (l *Lease) WindowEnd() time.Time {
	k := l.renewed()
	t := k.trusted()
	return t.until(k.clock.now()).Add(t.margin)
}

// Valid returns the length of the window: for how long the service surely counts us as the owner after it confirmed the
// lease. It is the TTL, or less if something else at the service ends the grant sooner.
func (l *Lease) Valid() time.Duration { return l.renewed().trusted().valid }

// Renewed returns a channel that is closed when the lease is confirmed the next time: then TrustedUntil is later. A
// caller that follows TrustedUntil calls Renewed first, so that it misses no confirmation. After the end of the lease
// the channel may stay open.
func (l *Lease) Renewed() <-chan struct{} { return l.renewed().nextConfirmation() }

// renewed returns the keeper that renews: the lease's own, or that of its session.
func (l *Lease) renewed() *keeper {
	if l.s.renews {
		return l.s.keeper
	}
	return l.keeper
}

// Owner returns our identity exactly as others see it at the service; "" while the backend
// has not reported it.
func (l *Lease) Owner() string { return l.g.Info().Owner }

// Fence returns the number issued with the grant; it grows from grant to grant, so that a resource can refuse a client
// with a smaller number. 0: none.
func (l *Lease) Fence() uint64 { return l.g.Info().Fence }

// Release releases the grant at the service. The context ends (the cause is ErrReleased) before the request is sent, so
// nobody works under the lease when another gets it. The request is sent even if ctx has ended. The deadline of ctx
// bounds it; without a deadline, and after a cancel, 2 s do. If it fails, Release returns the error, and the grant
// expires by itself. Release returns when no goroutine of the lease is left. After an earlier call, or after the lease
// ended otherwise, it waits for that end and returns the error of the first release, if any.
func (l *Lease) Release(ctx context.Context) error {
	l.endWith(func() error { return l.release(ctx) })
	<-l.finished
	return l.err
}

// Abandon ends the lease like Release but sends the service nothing. The grant expires there by itself, or with the
// session if the session is the Renewer. A call after the lease's end does nothing.
func (l *Lease) Abandon() {
	l.endWith(func() error {
		l.g.Abandon()
		return nil
	})
	<-l.finished
}

// endWith ends the lease because Release or Abandon was called, if it has not ended already.
func (l *Lease) endWith(giveUp func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Check() == nil {
		l.giveUp = giveUp
		l.keeper.cancel(ErrReleased)
	}
}

// endGrant releases or abandons the grant, after the lease has ended, when no other goroutine uses the grant any more.
func (l *Lease) endGrant() {
	l.mu.Lock()
	giveUp := l.giveUp
	l.mu.Unlock()
	cause := context.Cause(l.keeper.ctx)
	switch {
	case !errors.Is(cause, ErrReleased):
		l.clear(cause)
	case giveUp == nil: // the driver has released it
		l.g.Abandon()
	default:
		l.err = l.wrap("release", giveUp())
	}
}

// clear releases or abandons a grant that ended by itself. If only our trust has expired, a renewal that was on its way
// may have prolonged the grant at the service. So clear releases it if possible, but only after the whole window: the
// margin is there for goroutines that notice the end late, and no other owner may begin in it. A grant that a defect of
// ours ended is released at once.
func (l *Lease) clear(cause error) {
	t := l.keeper.trusted()
	window := t.left(l.keeper.clock.now()) + t.margin // how long the service still counts us as the owner
	switch {
	case l.s.over() != nil: // the session's Close or Abandon handles all grants
	case errors.Is(cause, spawn.ErrPanic):
		_ = l.release(l.s.cleanup) // nobody else releases it, and the program may be about to end
	case !errors.Is(cause, ErrExpired):
		l.g.Abandon()
	case backoff.Sleep(l.s.keeper.ctx, window) == nil:
		_ = l.release(l.s.cleanup) // there is nobody to report an error to, and the grant expires anyway
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

// with calls f under a lease that was acquired with err, and releases it.
func (l *Lease) with(ctx context.Context, err error, f func(context.Context, *Lease) error) error {
	if err != nil {
		return err
	}
	both, cancel := until(ctx, l.Context())
	defer cancel()
	err = f(both, l)
	switch cause := l.Check(); {
	case cause != nil && !errors.Is(cause, ErrReleased):
		return joined(err, cause)
	case err != nil:
		_ = l.Release(ctx) // the error of f is the more important one
		return err
	}
	return l.Release(ctx)
}

// lose ends the lease because the service reported its loss in its answer to a request other than a renewal.
func (l *Lease) lose(op string, err error) { l.keeper.cancel(l.wrap(op, err)) }

func (l *Lease) wrap(op string, err error) error { return l.s.claimError(op, l.asked, err) }
