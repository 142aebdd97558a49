package ydbcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
	"coordtop/internal/ground/failure"
)

// cleanupTime bounds the wait for a release after its caller has stopped waiting. A release that could not be sent by
// then stays in the table of requests and is sent when there is a connection.
const cleanupTime = time.Second

// place is a claim that is not a grant yet. It is sent, and may be in the queue or already granted but not yet
// confirmed.
type place struct {
	s      *Session
	claim  coord.Claim
	params claimParams
	until  time.Time // the end of the claim's wait; zero: none
	req    *request
	gone   bool // the place was used up; guarded by the session's mutex
}

// paramsOf translates a claim as @ydbjs/coordination does: a mutex becomes all permits of an ephemeral semaphore, an
// election one permit of a semaphore with a limit of 1.
func paramsOf(c coord.Claim) (claimParams, error) {
	w := claimParams{name: c.Name, count: max(c.Permits, 1), ephemeral: c.Ephemeral, data: c.Data}
	switch c.Kind {
	case coord.KindMutex:
		w.count, w.ephemeral = AllPermits, true
	case coord.KindElection:
		w.count, w.ephemeral = 1, false
	}
	return w, cmp.Or(Options{}.Caps().Check(c), CheckName(c.Name))
}

// Acquire implements coord.DriverSession.
func (s *Session) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	p, err := s.enter(ctx, c)
	if err != nil {
		return nil, false, fmt.Errorf("acquiring: %w", err)
	}
	g, ok, err := p.wait(ctx)
	if err != nil && ctx.Err() != nil {
		err = p.left(ctx, cleanupTime, err)
	}
	return g, ok, doing("acquiring", err)
}

// Enqueue implements coord.Queuer. It returns when the service has queued or granted the claim. A claim whose Wait is 0
// waits without limit.
func (s *Session) Enqueue(ctx context.Context, c coord.Claim) (coord.Place, error) {
	c.Wait = cmp.Or(c.Wait, coord.Forever)
	p, err := s.enter(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("enqueueing: %w", err)
	}
	return p, nil
}

// enter sends a claim and waits until the service has queued or granted it. After an
// error nothing of the claim is left.
func (s *Session) enter(ctx context.Context, c coord.Claim) (*place, error) {
	w, err := paramsOf(c)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	p := &place{s: s, claim: c, params: w}
	if c.Wait >= 0 {
		p.until = time.Now().Add(c.Wait)
	}
	if err := s.reserve(w.name); err != nil {
		return nil, err
	}
	err = p.ask(ctx)
	if c.Kind == coord.KindElection && s.options.CreateElections && statusOf(err) == Ydb.StatusIds_NOT_FOUND {
		if err = s.create(ctx, w.name, 1, nil); err == nil || statusOf(err) == Ydb.StatusIds_ALREADY_EXISTS {
			err = p.ask(ctx)
		}
	}
	if err == nil {
		return p, nil
	}
	return nil, p.left(ctx, cleanupTime, failure.With(err, ctx.Err()))
}

// ask sends the claim and waits until it is in the queue, or answered. It returns the service's refusal, or an error
// that the time is over.
func (p *place) ask(ctx context.Context) error {
	until := p.until
	p.req = newRequest(verbAcquire, p.params.name, func(id uint64, now time.Time) *pb.SessionRequest {
		wait := coord.Forever
		if !until.IsZero() {
			wait = max(until.Sub(now), 0)
		}
		return acquireMessage(id, p.params, timeoutMillis(wait))
	})
	p.req.then = p.answeredLocked
	p.s.mu.Lock()
	p.s.held.unsettled[p] = struct{}{}
	if _, left := p.s.held.left[p.params.name]; left {
		// The service still counts us as the owner of an abandoned grant, and would return that with the old fence.
		delete(p.s.held.left, p.params.name)
		p.s.addLocked(releaseRequest(p.params.name))
	}
	p.s.addLocked(p.req)
	p.s.mu.Unlock()
	select {
	case <-p.req.acked:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-p.req.done:
		return p.req.err
	default:
		p.s.watchTurn(p.req)
		if p.claim.Waiting != nil {
			p.claim.Waiting()
		}
		return nil
	}
}

// Wait implements coord.Place.
func (p *place) Wait(ctx context.Context) (coord.Grant, bool, error) {
	g, ok, err := p.wait(ctx)
	return g, ok, doing("waiting in the queue", err)
}

// grace returns how long after the end of a claim's wait the service may report that end. It matters only while there
// is no connection.
func (s *Session) grace() time.Duration { return min(s.ttl/8, 500*time.Millisecond) }

// wait waits for the end of the claim. If ctx ends first, the place is kept; after any other error, and if ok is false,
// the place is gone.
func (p *place) wait(ctx context.Context) (coord.Grant, bool, error) {
	p.s.mu.Lock()
	gone := p.gone
	p.s.mu.Unlock()
	if gone {
		return nil, false, fmt.Errorf("the place is gone: %w", coord.ErrReleased)
	}
	var late <-chan time.Time
	if p.claim.Wait > 0 { // a try waits for its answer
		late = time.After(time.Until(p.until) + p.s.grace())
	}
	select {
	case <-p.req.done:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	case <-late:
		return nil, false, p.left(ctx, p.s.grace(), nil)
	}
	switch err := p.req.err; {
	case errors.Is(err, errSuperseded): // somebody called Leave
		return nil, false, fmt.Errorf("the place was left: %w", coord.ErrReleased)
	case err != nil:
		return nil, false, p.left(ctx, cleanupTime, err)
	case !p.req.reply.GetAcquireSemaphoreResult().GetAcquired():
		return nil, false, p.leave(ctx) // sends nothing, because the place is gone at the service
	}
	g, err := p.confirm(ctx)
	switch {
	case err == nil:
		return g, true, nil
	case ctx.Err() == nil:
		err = p.left(ctx, cleanupTime, err)
	}
	return nil, false, err
}

// confirm reads the order id of the granted claim, which only a description reports, and makes the grant.
func (p *place) confirm(ctx context.Context) (*grant, error) {
	state, err := p.s.Look(ctx, p.params.name)
	if err != nil {
		return nil, err
	}
	sem := state.Semaphore
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	order, ours := sem.orderOf(p.s.id)
	switch {
	case p.gone:
		return nil, fmt.Errorf("the place was left: %w", coord.ErrReleased)
	case p.s.end.err != nil:
		return nil, p.s.end.err
	case !ours:
		return nil, fmt.Errorf("it was taken away at once: %w", coord.ErrLost)
	case p.claim.Kind == coord.KindElection && sem.Limit != 1:
		return nil, fmt.Errorf("this semaphore has %d permits, an election has one: %w", sem.Limit, coord.ErrRefused)
	}
	p.gone = true
	delete(p.s.held.unsettled, p)
	return p.s.newGrantLocked(p.params, order, state.request), nil
}

// orderOf returns the order id of a session among the owners. ours reports whether the session is one of them.
func (sem Semaphore) orderOf(session uint64) (order uint64, ours bool) {
	for _, l := range sem.Owners {
		if l.Session == session {
			return l.Order, true
		}
	}
	return 0, false
}

// Leave implements coord.Place.
func (p *place) Leave(ctx context.Context) error {
	return doing("leaving the queue", p.leave(ctx))
}

// leave withdraws the claim with a release, which the service accepts whether the claim waits or is granted. A release
// that cannot be sent by the end of ctx is sent later.
func (p *place) leave(ctx context.Context) error {
	p.s.mu.Lock()
	if p.gone {
		p.s.mu.Unlock()
		return nil
	}
	p.gone = true
	delete(p.s.held.claims, p.params.name) // the next claim of the name follows the release, in the name's lane
	release := p.withdrawLocked()
	p.s.mu.Unlock()
	if release == nil {
		return nil
	}
	return p.s.awaitRelease(ctx, release)
}

// withdrawLocked requests the release of a claim that may be at the service. It returns nil if the claim cannot be
// there.
func (p *place) withdrawLocked() *request {
	_, open := p.s.held.unsettled[p]
	switch {
	case p.s.end.err != nil, !open:
		return nil
	case p.req.sends == 0:
		p.s.table.end(p.req, errSuperseded)
		delete(p.s.held.unsettled, p)
		p.s.flushLocked()
		return nil
	}
	release := releaseRequest(p.params.name)
	release.then = func() {
		if p.s.end.err == nil {
			delete(p.s.held.unsettled, p)
		}
	}
	p.s.addLocked(release)
	return release
}

// reserve takes a name for one claim. All kinds share the names of the node, and the service would treat a second claim
// of this session as a change of the first.
func (s *Session) reserve(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end.err != nil {
		return s.end.err
	}
	if _, taken := s.held.claims[name]; taken {
		return coord.ErrClaimed
	}
	s.held.claims[name] = struct{}{}
	return nil
}

func releaseRequest(name string) *request {
	return newRequest(verbRelease, name, func(id uint64, _ time.Time) *pb.SessionRequest {
		return &pb.SessionRequest{Request: &pb.SessionRequest_ReleaseSemaphore_{
			ReleaseSemaphore: &pb.SessionRequest_ReleaseSemaphore{ReqId: id, Name: name},
		}}
	})
}

// awaitRelease waits for the end of a release. If ctx ends first, the release stays in the table. If the session ends,
// there is no error, because that releases everything.
func (s *Session) awaitRelease(ctx context.Context, r *request) error {
	select {
	case <-r.done:
	case <-ctx.Done():
		return fmt.Errorf("the service has not confirmed it yet: %w", ctx.Err())
	}
	if r.err != nil && s.Err() == nil {
		return r.err
	}
	return nil
}

// left withdraws the claim like leave, even after the end of ctx. It returns err, the reason for the end of the claim,
// or an error that wraps coord.ErrUncertain if the service has not confirmed that nothing of the claim is left. A
// release that could not be sent is sent later. In a session that is being closed, Close returns the ErrUncertain
// instead.
func (p *place) left(ctx context.Context, within time.Duration, err error) error {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	_ = p.leave(late) // if the service has confirmed it, the claim is not in unsettled any more
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if !p.unsureLocked() || p.s.end.closing || p.s.end.confirmed {
		return err
	}
	return uncertain(p.s.ttl, err)
}

// answeredLocked handles the end of the acquire: a refusal or a miss leaves nothing at the
// service. The end of the session proves neither.
func (p *place) answeredLocked() {
	r := p.req
	if p.s.end.err == nil && !errors.Is(r.err, errSuperseded) && (r.err != nil || !r.reply.GetAcquireSemaphoreResult().GetAcquired()) {
		delete(p.s.held.unsettled, p)
	}
}

// unsureLocked reports whether the service may have the claim: it was sent, and as far as we know it was not granted,
// refused or withdrawn.
func (p *place) unsureLocked() bool {
	_, open := p.s.held.unsettled[p]
	return open && p.req.sends > 0
}

// unsureLocked reports whether a claim of the session may be granted without our knowing.
func (s *Session) unsureLocked() bool {
	if s.end.confirmed {
		return false
	}
	for p := range s.held.unsettled {
		if p.unsureLocked() {
			return true
		}
	}
	return false
}
