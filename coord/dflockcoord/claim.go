package dflockcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"coordtop/coord"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/backoff"
	"coordtop/internal/dflockwire"
	"coordtop/internal/failure"
	"coordtop/internal/spawn"
)

// graceTime is how long a claim that is given up waits for the server's last word.
const graceTime = 1500 * time.Millisecond

const year = 365 * 24 * time.Hour

// againPolicy is the back-off of a claim of several permits that got only some of them.
var againPolicy = backoff.Policy{Min: 50 * time.Millisecond, Max: time.Second}

// place is a claim under way, on a connection of its own. Its fields belong to the goroutine
// that has the turn.
type place struct {
	s      *session
	claim  coord.Claim
	server int
	key    dflockwire.Key
	lease  time.Duration // 0: the server's default
	conn   *dflockwire.Conn
	until  time.Time // the claim waits; zero: for ever
	turn   chan struct{}

	queued bool                 // the server has us in its queue
	slice  *slice               // a wait in it that is under way
	got    []dflockwire.Granted // permits
	waited bool                 // the first of them was granted after a wait
	doubt  bool                 // a request had no answer: something may be ours
	ended  bool

	life context.Context // of its keeper, if it has one
	stop context.CancelFunc
}

// slice is one w, which the server answers when the place is served or the slice is over.
type slice struct {
	until time.Time
	done  chan struct{}
	got   dflockwire.Granted
	ok    bool
	err   error
}

// Acquire implements coord.DriverSession.
func (s *session) Acquire(caller context.Context, c coord.Claim) (coord.Grant, bool, error) {
	ctx, leave, err := s.Enter(caller)
	if err != nil {
		return nil, false, err
	}
	defer leave()
	p, err := s.newPlace(ctx, c)
	var g *grant
	switch {
	case err != nil:
	case c.Wait == 0:
		g, err = p.try(ctx)
	default:
		g, err = p.wait(ctx)
	}
	switch {
	case g == nil:
		return nil, false, p.given(caller, ctx, err)
	case ctx.Err() != nil: // it raced the end of ctx
		late, stop := s.linger(ctx)
		defer stop()
		return nil, false, failed(caller, ctx, errors.Join(ctx.Err(), g.Release(late)))
	}
	return g, true, nil
}

// failed is the error of a claim, with the end of its context or session.
func failed(caller, ctx context.Context, err error) error {
	return failure.With(fmt.Errorf("claiming: %w", classify(err)), caller.Err(), context.Cause(ctx))
}

// given gives up the place. It returns the error of the claim, nil if it only waited in vain, and
// of what may be left.
func (p *place) given(caller, ctx context.Context, err error) error {
	if err != nil {
		err = failed(caller, ctx, err)
	}
	if p.conn != nil {
		err = failure.With(errors.Join(err, p.leave(context.WithoutCancel(ctx))))
	}
	return err
}

// newPlace checks a claim and connects for it. The place is not nil with an error.
func (s *session) newPlace(ctx context.Context, c coord.Claim) (*place, error) {
	p := &place{s: s, claim: c, turn: make(chan struct{}, 1), lease: cmp.Or(c.TTL, s.ttl)}
	p.claim.Permits = max(c.Permits, 1)
	if c.Wait >= 0 {
		p.until = time.Now().Add(c.Wait)
	}
	var err error
	if p.key, err = keyOf(c); err != nil {
		return p, err
	}
	if p.server, err = s.driver.serverOf(c.Name); err != nil {
		return p, err
	}
	p.life, p.stop = context.WithCancel(s.cut)
	if p.conn, err = s.driver.dialers[p.server].Connect(ctx); err != nil {
		p.stop()
	}
	return p, err
}

// noted takes note of how a claiming request ended.
func (p *place) noted(err error) error {
	_, refused := errors.AsType[dflockwire.Refusal](err)
	p.doubt = p.doubt || err != nil && !refused
	return err
}

// linger returns a context for short requests, which ends a while after ctx does: cancelling
// such a request would end its connection, and its outcome would be unknown.
func (s *session) linger(ctx context.Context) (late context.Context, stop func()) {
	late, cancel := context.WithCancel(s.cut)
	stopped := spawn.OnDone(ctx, func() { _ = backoff.Sleep(late, graceTime); cancel() })
	return late, func() { stopped(); cancel() }
}

func (p *place) try(ctx context.Context) (*grant, error) {
	ctx, stop := p.s.linger(ctx)
	defer stop()
	first, ok, err := p.conn.Acquire(ctx, p.key, 0, p.lease)
	if err != nil || !ok {
		return nil, p.noted(err)
	}
	p.got = []dflockwire.Granted{first}
	return p.complete(ctx)
}

// wait claims until there is a grant, an error, or, with neither, the claim's Wait has run out.
func (p *place) wait(ctx context.Context) (*grant, error) {
	late, stop := p.s.linger(ctx)
	defer stop()
	again := againPolicy.Start()
	for {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case len(p.got) > 0:
			g, err := p.complete(late)
			if g != nil || err != nil {
				return g, err
			}
			if err := again.Wait(ctx); err != nil {
				return nil, err
			}
		case p.slice != nil:
			select {
			case <-p.slice.done:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if err := p.endSlice(); err != nil {
				return nil, err
			}
		case p.queued:
			p.startSlice()
		case !p.until.IsZero() && !time.Now().Before(p.until):
			return nil, nil
		default:
			if err := p.join(late); err != nil {
				return nil, err
			}
		}
	}
}

// join takes a place in the queue, or what is free.
func (p *place) join(ctx context.Context) error {
	first, ok, err := p.conn.Enqueue(ctx, p.key, p.lease)
	switch {
	case err != nil:
		return p.noted(err)
	case ok:
		p.got, p.waited = []dflockwire.Granted{first}, false
	default:
		p.queued = true
		if p.claim.Waiting != nil {
			p.claim.Waiting()
		}
		if p.claim.Place != nil {
			return p.tellPlace(ctx)
		}
	}
	return nil
}

// tellPlace tells how long the queue is now that we stand in it: who came after us may be in it, too.
func (p *place) tellPlace(ctx context.Context) error {
	stats, err := p.conn.Stats(ctx)
	if err != nil && !errors.Is(err, dflockwire.ErrRejected) {
		return p.noted(err)
	}
	waiters := p.s.find(stats, p.server, p.key.Name, p.key.Semaphore).waiters
	if waiters > 0 { // else it was our turn already
		p.claim.Place(waiters)
	}
	return nil
}

// startSlice begins to wait at the place, for no longer than the claim waits.
func (p *place) startSlice() {
	longest := p.s.driver.options.LongestWait
	if p.s.servers[p.server].modern { // it notices a claim that hangs up
		longest = max(longest, year)
	}
	if !p.until.IsZero() {
		longest = min(longest, max(time.Until(p.until), 0))
	}
	longest = time.Duration(dflockwire.Seconds(longest)) * time.Second
	s := &slice{until: time.Now().Add(longest), done: make(chan struct{})}
	p.slice = s
	p.s.Start(p.s.cut, func() { // ends with its answer or its connection
		defer close(s.done)
		s.got, s.ok, s.err = p.conn.Wait(p.s.cut, p.key, longest)
	})
}

// endSlice stores the result of a slice that is over. An error ends the place.
func (p *place) endSlice() error {
	s := p.slice
	p.slice, p.queued = nil, false
	switch {
	case errors.Is(s.err, dflockwire.ErrNotEnqueued), errors.Is(s.err, dflockwire.ErrLeaseExpired):
		return nil // it was granted, and nobody asked in time: join anew
	case s.err != nil:
		return p.noted(s.err)
	case s.ok:
		p.got, p.waited = []dflockwire.Granted{s.got}, true
	}
	return nil
}

// complete makes a grant of the first permit: it claims the others, and renews all if the
// first may have run out already. Nil without an error: nothing is ours, because permits were
// missing or the first was lost meanwhile.
func (p *place) complete(ctx context.Context) (*grant, error) {
	for uint64(len(p.got)) < p.claim.Permits {
		next, ok, err := p.conn.Acquire(ctx, p.key, 0, p.lease)
		if err != nil {
			return nil, p.noted(err)
		}
		if !ok {
			return nil, p.drop(ctx)
		}
		p.got = append(p.got, next)
	}
	w := p.s.windowOf(p.got[0].Asked, p.got[0].Lease) // the oldest permit's
	if p.waited || time.Since(w.Asked) > w.RenewIn {
		got, err := renewAll(ctx, p.conn, p.key, p.nonces(), p.got[0].Lease)
		if errors.Is(err, dflockwire.ErrRejected) {
			return nil, p.drop(ctx)
		}
		if err != nil {
			return nil, p.noted(err)
		}
		p.waited = false
		w = p.s.windowOf(got.Asked, got.Lease)
	}
	return p.adopt(ctx, w)
}

func (p *place) nonces() []string {
	var all []string
	for _, g := range p.got {
		all = append(all, g.Nonce)
	}
	return all
}

// drop gives the permits back.
func (p *place) drop(ctx context.Context) error {
	nonces := p.nonces()
	p.got, p.queued = nil, false
	return p.noted(releaseAll(ctx, p.conn, p.key, nonces))
}

// adopt makes the grant, and learns who we are.
func (p *place) adopt(ctx context.Context, w coord.Window) (*grant, error) {
	g := &grant{
		Life: lifetime.NewLife(), s: p.s, server: p.server, key: p.key, conn: p.conn, nonces: p.nonces(),
		lease: p.got[0].Lease, window: w,
	}
	if p.s.servers[p.server].modern {
		g.fence = fenceIn(g.nonces[len(g.nonces)-1])
	}
	if p.key.Limit == 1 {
		stats, err := p.conn.Stats(ctx)
		if err != nil && !errors.Is(err, dflockwire.ErrRejected) {
			return nil, p.noted(err)
		}
		if e := p.s.find(stats, p.server, p.key.Name, p.key.Semaphore); e.owner != 0 {
			g.owner = OwnerID(e.owner)
		}
	}
	if !p.s.Add(g) {
		return nil, errSessionOver
	}
	p.end()
	p.s.Start(p.s.cut, g.watch) // ends with the grant
	return g, nil
}

// end takes the place out of the session.
func (p *place) end() {
	p.ended = true
	p.stop()
	p.s.Remove(p)
}

// leave gives up what is claimed and ends the connection. It waits for the end of a slice if that
// is near. The error wraps coord.ErrUncertain where something may be ours, now or later.
func (p *place) leave(ctx context.Context) error {
	p.end()
	defer p.conn.Close()
	ctx, cancel := context.WithTimeout(ctx, graceTime)
	defer cancel()
	defer spawn.OnDone(p.s.cut, cancel)()
	within := p.s.driver.options.IdleCut
	if s := p.slice; s != nil {
		left := time.Until(s.until)
		if left <= graceTime {
			select {
			case <-s.done:
			case <-ctx.Done():
			}
		}
		select {
		case <-s.done:
			_ = p.endSlice() // noted
		default:
			p.queued, p.doubt = false, p.doubt || !p.s.servers[p.server].modern
			within += max(left, 0)
		}
	}
	if p.queued && p.conn.Err() == nil {
		got, ok, err := p.conn.Wait(ctx, p.key, 0)
		if ok {
			p.got = append(p.got, got)
		}
		_ = p.noted(err)
	}
	if len(p.got) > 0 && p.drop(ctx) == nil {
		p.doubt = false
	}
	if !p.doubt {
		return nil
	}
	return coord.Uncertain(fmt.Sprintf("the server gives it away within %v", within.Round(time.Second)), nil)
}
