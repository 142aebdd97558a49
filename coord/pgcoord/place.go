package pgcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
		return nil, false, p.giveUpLate(ctx, err)
	}
	return g, true, nil
}

// giveUpLate is giveUp in time of its own, after ctx may have ended.
func (p *place) giveUpLate(ctx context.Context, err error) error {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*closeTime)
	defer cancel()
	return p.giveUp(late, coord.ErrReleased, err)
}

// startClaim checks a claim, takes a connection and begins to ask for the lock on it.
func (s *session) startClaim(ctx context.Context, c coord.Claim) (*place, error) {
	ctx, leave, err := s.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := ctx.Err(); err != nil {
		return nil, s.closedOr(fmt.Errorf("not asked: %w", err))
	}
	if err := cmp.Or(check(c), checkData(s.identity, c.Data)); err != nil {
		return nil, err
	}
	name, err := s.driver.options.key(c.Name)
	if err != nil {
		return nil, err
	}
	l, err := s.connectionFor(ctx, cmp.Or(c.TTL, s.ttl), ApplicationName(s.identity, c.Data))
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

// closedOr is errClosed if the session was closed meanwhile: whatever went wrong is then
// a consequence.
func (s *session) closedOr(err error) error {
	if closed := s.Over(); closed != nil {
		return fmt.Errorf("%w: %w", closed, err)
	}
	return err
}

// place is a claim that waits. Its goroutine works on one connection until there is an
// outcome: a grant, a miss or an error.
type place struct {
	session    *session
	connection *connection
	request    request
	ctx        context.Context
	cancel     context.CancelFunc
	outcome    chan struct{} // closed when grant and err are final

	grant *grant // nil with a nil err: the try missed
	err   error
	// silent reports whether the connection ended without a word of the server: the lock may be ours.
	silent bool

	ended atomic.Bool // it became somebody's grant, or was given up
}

// run is the goroutine.
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
		p.err = s.Over() // a miss of a session that is closed is none
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

// obtain asks for the lock in the way that the claim and the options want.
func (p *place) obtain() (*grant, error) {
	if p.request.Wait == 0 {
		return p.try()
	}
	if p.session.driver.options.Poll == 0 {
		return p.queue()
	}
	for {
		g, err := p.try()
		if g != nil || err != nil {
			return g, err
		}
		p.waits()
		pause := p.session.driver.options.Poll
		if backoff.Sleep(p.ctx, pause/2+rand.N(pause/2+1)) != nil {
			return nil, nil
		}
	}
}

func (p *place) try() (*grant, error) {
	return p.perform(answerTime, func(ctx context.Context, conn *pgwire.Conn) (bool, error) {
		r, err := single(ctx, conn, p.request.sql("pg_try_advisory_lock"), p.request.args()...)
		return err == nil && r.Text(0) == "t", err
	})
}

// waits reports through Claim.Waiting that the claim waits.
func (p *place) waits() {
	if p.request.Waiting != nil {
		p.request.Waiting()
	}
}

func (p *place) queue() (*grant, error) {
	p.waits() // the connection works; of the queue the server says nothing until it is our turn
	return p.perform(0, func(ctx context.Context, conn *pgwire.Conn) (bool, error) {
		_, err := single(ctx, conn, p.request.sql("pg_advisory_lock"), p.request.args()...)
		return err == nil, err
	})
}

// perform runs the statement that asks for the lock and, in the same job, what makes a
// grant of it.
func (p *place) perform(bound time.Duration, ask func(context.Context, *pgwire.Conn) (bool, error)) (*grant, error) {
	var g *grant
	j := p.connection.submit(bound, func(ctx context.Context, conn *pgwire.Conn) error {
		ok, err := ask(ctx, conn)
		if !ok || err != nil {
			return err
		}
		ctx, cancel := context.WithTimeoutCause(ctx, answerTime, errUnanswered)
		defer cancel()
		g, err = p.session.confirm(ctx, conn, p.connection, p.request)
		if err != nil && !conn.Closed() { // as where a cancelling came late
			_, _ = single(ctx, conn, p.request.sql("pg_advisory_unlock"), p.request.args()...) // else the end of the connection does
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

// await waits for the outcome, for as long as the claim wants to.
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

// collect hands out the outcome.
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

// giveUp leaves the queue: the server is asked to cancel the statement, so that it is out
// of the queue at once, and a grant that came all the same is released. If the server does
// not answer before ctx ends, the connection is cut, and its process is ended over another
// one. It returns err, which is why the claim ended, or one that wraps coord.ErrUncertain
// where that did not succeed either. A second call, or one for what has been handed out, does
// nothing.
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

// cancelStatement makes the server end the statement that waits; false: it did not.
func (p *place) cancelStatement(ctx context.Context) bool {
	if p.session.driver.options.Poll == 0 && p.request.Wait != 0 { // else the statement is a short one
		select {
		case <-p.outcome:
			return true
		default:
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
