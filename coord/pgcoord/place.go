package pgcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/pgwire"
	"coordtop/internal/ground/spawn"
)

// Acquire implements coord.DriverSession.
func (s *session) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	p, err := s.startClaim(ctx, c)
	if err != nil {
		return nil, false, err
	}
	g, ok, err := p.await(ctx)
	if err != nil || !ok {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*closeTime) // ctx may have ended
		defer cancel()
		return nil, false, p.giveUp(late, coord.ErrReleased, err)
	}
	return g, true, nil
}

// startClaim checks a claim, takes a connection and starts to claim the lock on it.
func (s *session) startClaim(ctx context.Context, c coord.Claim) (*place, error) {
	ctx, leave, err := s.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := ctx.Err(); err != nil {
		return nil, s.closedOr(fmt.Errorf("not asked: %w", err))
	}
	ttl := cmp.Or(c.TTL, s.ttl)
	if err := cmp.Or(s.caps.Check(c), checkText(c.Data), CheckTTL(ttl)); err != nil {
		return nil, err
	}
	if c.Permits > 1 {
		return nil, fmt.Errorf("%d permits of a lock: %w", c.Permits, coord.ErrUnsupported)
	}
	name, err := s.driver.options.key(c.Name)
	if err != nil {
		return nil, err
	}
	l, err := s.connectionFor(ctx, ttl, ApplicationName(s.identity, c.Data))
	if err != nil {
		return nil, s.closedOr(failure.With(err, ctx.Err()))
	}
	p := &place{session: s, connection: l, request: request{Claim: c}, outcome: make(chan struct{})}
	err = l.do(ctx, func(ctx context.Context, conn *pgwire.Conn) (err error) {
		p.request.key, err = name.of(ctx, conn)
		return err
	})
	if err != nil {
		l.hangUp()
		return nil, s.closedOr(failure.With(notOurLoss(err), ctx.Err()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if over := s.Over(); over != nil {
		l.cut(over)
		return nil, over
	}
	s.places[p] = struct{}{}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.Start(p.ctx, p.run)
	return p, nil
}

// closedOr returns errClosed if the session was closed, because err is then a consequence. Else it returns err.
func (s *session) closedOr(err error) error {
	if closed := s.Over(); closed != nil {
		return fmt.Errorf("%w: %w", closed, err)
	}
	return err
}

// place is a waiting claim. Its goroutine uses one connection until the outcome: a grant, a miss or an error.
type place struct {
	session    *session
	connection *connection
	request    request
	ctx        context.Context
	cancel     context.CancelFunc
	outcome    chan struct{} // closed when grant and err are final

	grant *grant // if both are nil, the try missed
	err   error
	// silent reports whether the connection ended without notice from the server, so that the lock may be ours.
	silent bool

	ended atomic.Bool // the place became a grant, or was given up
}

// run runs the goroutine of the place.
func (p *place) run() {
	s := p.session
	defer close(p.outcome)
	defer p.cancel()
	p.err = spawn.Call(p.ctx, func() (err error) {
		p.grant, err = p.obtain()
		return err
	})
	s.mu.Lock()
	delete(s.places, p)
	s.mu.Unlock()
	if p.grant == nil && p.err == nil {
		p.err = s.Over() // if the session was closed, this is no miss
		s.putBack(p.connection)
		return
	}
	if p.err != nil {
		p.err = s.closedOr(p.err)
		p.connection.hangUp()
		return
	}
	if !s.Add(p.grant) {
		p.grant.End(errClosed)
		p.connection.cut(errClosed)
		p.grant, p.err = nil, errClosed
	}
}

// obtain tries once, polls or queues, depending on the claim and the options.
func (p *place) obtain() (*grant, error) {
	if p.request.Wait == 0 {
		return p.try()
	}
	if p.session.driver.options.Poll == 0 {
		// The connection works, and the server reports nothing about the queue until it is our turn.
		p.waits()
		return p.perform(0, "pg_advisory_lock", "") // the function returns void
	}
	poll := p.session.driver.options.Poll
	pauses := backoff.Policy{Min: poll, Max: poll}.Start()
	for {
		g, err := p.try()
		if g != nil || err != nil {
			return g, err
		}
		p.waits()
		if pauses.Wait(p.ctx) != nil {
			return nil, nil
		}
	}
}

func (p *place) try() (*grant, error) { return p.perform(answerTime, "pg_try_advisory_lock", "t") }

// waits reports through Claim.Waiting that the claim waits.
func (p *place) waits() {
	if p.request.Waiting != nil {
		p.request.Waiting()
	}
}

// perform calls the function that asks for the lock, whose answer is the text granted if we own it, and makes the grant
// in the same job.
func (p *place) perform(bound time.Duration, function, granted string) (*grant, error) {
	var g *grant
	j := p.connection.submit(bound, func(ctx context.Context, conn *pgwire.Conn) error {
		if answer, err := p.request.call(ctx, conn, function); err != nil || answer != granted {
			return err
		}
		ctx, cancel := context.WithTimeoutCause(ctx, answerTime, errUnanswered)
		defer cancel()
		var err error
		g, err = p.session.confirm(ctx, conn, p.connection, p.request)
		if err != nil && !conn.Closed() { // for example after a late cancellation
			_, _ = p.request.call(ctx, conn, "pg_advisory_unlock") // else the end of the connection releases the lock
		}
		return err
	})
	<-j.done
	if j.err != nil {
		if !p.connection.alive() && !errors.Is(j.err, errClosed) {
			<-p.connection.done
			p.silent = p.connection.orphaned()
		}
		return nil, fmt.Errorf("asking for the lock: %w", notOurLoss(j.err))
	}
	return g, nil
}

// await waits for the outcome for at most the claim's Wait.
func (p *place) await(ctx context.Context) (*grant, bool, error) {
	var out <-chan time.Time
	if p.request.Wait > 0 {
		out = time.After(p.request.Wait)
	}
	select {
	case <-p.outcome:
		return p.collect()
	case <-out:
		return nil, false, nil
	case <-ctx.Done():
		return nil, false, fmt.Errorf("waiting for the lock: %w", ctx.Err())
	}
}

// collect returns the outcome.
func (p *place) collect() (*grant, bool, error) {
	switch {
	case p.err != nil, p.grant == nil:
		return nil, false, p.err
	case p.grant.Err() != nil:
		return nil, false, p.grant.Err()
	case p.ended.Swap(true):
		return nil, false, errClosed
	}
	return p.grant, true, nil
}

// giveUp leaves the queue. It makes the server cancel the statement, and releases a grant that came at that instant. If
// the server does not answer before ctx ends, giveUp cuts the connection and ends its process over another one. It
// returns err, the reason for the claim's end, or an error that wraps coord.ErrUncertain if the process could not be
// ended either. A second call, or one after collect, does nothing.
func (p *place) giveUp(ctx context.Context, cause, err error) error {
	if p.ended.Swap(true) {
		return err
	}
	p.cancel()
	answered := p.cancelStatement(ctx)
	if !answered {
		p.connection.cut(cause)
	}
	<-p.outcome
	if p.grant != nil {
		p.grant.End(cause)
		if lost := p.grant.unlock(ctx); errors.Is(lost, coord.ErrUncertain) {
			return failure.With(lost, err)
		}
		return err
	}
	if answered && !p.silent {
		return err
	}
	return p.session.endOwn(ctx, leftover{facts: p.connection.facts}, err)
}

// cancelStatement makes the server end the waiting statement and reports whether it did.
func (p *place) cancelStatement(ctx context.Context) bool {
	if p.session.driver.options.Poll == 0 && p.request.Wait != 0 { // else the statement ends soon by itself
		if isClosed(p.outcome) {
			return true
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, closeTime)
		defer cancel()
		if p.connection.conn.CancelStatement(ctx) != nil {
			return false
		}
	}
	select {
	case <-p.outcome:
		return true
	case <-ctx.Done():
		return false
	}
}
