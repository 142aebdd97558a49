package dflockcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"coordtop/coord"
	"coordtop/coord/dflockwire"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/spawn"
)

// graceTime bounds the requests of a claim that is given up.
const graceTime = 1500 * time.Millisecond

const year = 365 * 24 * time.Hour

// againPolicy is the back-off of a claim that received only some of its permits.
var againPolicy = backoff.Policy{Min: 50 * time.Millisecond, Max: time.Second}

// permits are permits of one key that one connection owns.
type permits struct {
	s      *session
	server int
	key    dflockwire.Key
	conn   *dflockwire.Conn
	lease  time.Duration // 0: the server's default
	nonces []string      // one for each permit
}

// renew renews each permit. It returns the earliest start and the shortest lease.
func (o *permits) renew(ctx context.Context) (first dflockwire.Granted, err error) {
	for i, nonce := range o.nonces {
		got, err := o.conn.Renew(ctx, o.key, nonce, o.lease)
		if err != nil {
			return first, err
		}
		if i == 0 {
			first = got
		}
		first.Lease = min(first.Lease, got.Lease)
	}
	return first, nil
}

// release releases each permit, newest first, over its own connection or another.
func (o *permits) release(ctx context.Context, conn *dflockwire.Conn) error {
	for _, nonce := range slices.Backward(o.nonces) {
		if err := conn.Release(ctx, o.key, nonce); err != nil {
			return err
		}
	}
	return nil
}

// place is a claim under way, on a connection of its own. Only the goroutine that has the turn uses its fields.
type place struct {
	permits
	claim coord.Claim
	until time.Time // the end of the claim's Wait; zero: no limit
	turn  chan struct{}

	queued bool               // the server has queued us
	slice  *slice             // the wait under way, if any
	first  dflockwire.Granted // the first permit
	waited bool               // first was granted after a wait
	ended  bool               // the place was given up, or is a grant

	life context.Context // of the goroutine of keep, if there is one
	stop context.CancelFunc
}

// slice is one command w, which the server answers when it serves the place or when the time of the slice is over.
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
		return nil, false, p.giveUp(caller, ctx, err)
	case ctx.Err() != nil: // the grant raced the end of ctx
		late, stop := s.linger(ctx)
		defer stop()
		return nil, false, failed(caller, ctx, errors.Join(ctx.Err(), g.Release(late)))
	}
	return g, true, nil
}

// failed returns the error of a claim, joined with the end of its context or session, or nil if there was no error.
func failed(caller, ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return failure.With(fmt.Errorf("claiming: %w", classify(err)), caller.Err(), context.Cause(ctx))
}

// giveUp gives up the place. It returns the error of the claim, joined with coord.ErrUncertain if something of the
// claim may be left at the server, or nil if the claim only waited in vain.
func (p *place) giveUp(caller, ctx context.Context, err error) error {
	defer p.stop()
	err = failed(caller, ctx, err)
	if p.conn != nil {
		err = failure.With(errors.Join(err, p.leave(context.WithoutCancel(ctx))))
	}
	return err
}

// newPlace checks a claim and connects for it. If it returns an error, the place is not nil.
func (s *session) newPlace(ctx context.Context, c coord.Claim) (p *place, err error) {
	p = &place{claim: c, turn: make(chan struct{}, 1), permits: permits{s: s, lease: cmp.Or(c.TTL, s.ttl)}}
	p.claim.Permits = max(c.Permits, 1)
	p.life, p.stop = context.WithCancel(s.cut)
	if c.Wait >= 0 {
		p.until = time.Now().Add(c.Wait)
	}
	if p.key, err = keyOf(c); err != nil {
		return p, err
	}
	if p.server, err = s.driver.serverOf(c.Name); err != nil {
		return p, err
	}
	p.conn, err = s.driver.dialers[p.server].Connect(ctx)
	return p, err
}

// linger returns a context for short requests, which ends a while after ctx, because cancelling such a request would
// end its connection and leave its outcome unknown.
func (s *session) linger(ctx context.Context) (late context.Context, stop func()) {
	late, cancel := context.WithCancel(s.cut)
	stopped := spawn.OnDone(ctx, func() { _ = backoff.Sleep(late, graceTime); cancel() })
	return late, func() { stopped(); cancel() }
}

func (p *place) try(ctx context.Context) (*grant, error) {
	ctx, stop := p.s.linger(ctx)
	defer stop()
	got, ok, err := p.conn.Acquire(ctx, p.key, 0, p.lease)
	if err != nil || !ok {
		return nil, err
	}
	p.own(got, false)
	return p.complete(ctx)
}

// own records the first permit.
func (p *place) own(got dflockwire.Granted, waited bool) {
	p.first, p.nonces, p.queued, p.waited = got, []string{got.Nonce}, false, waited
}

// wait claims until it gets a grant or an error. It returns neither if the claim's Wait has run out.
func (p *place) wait(ctx context.Context) (*grant, error) {
	late, stop := p.s.linger(ctx)
	defer stop()
	again := againPolicy.Start()
	for {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case len(p.nonces) > 0:
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

// join takes a place in the queue, or a permit if one is free.
func (p *place) join(ctx context.Context) error {
	got, ok, err := p.conn.Enqueue(ctx, p.key, p.lease)
	if err != nil {
		return err
	}
	if ok {
		p.own(got, false)
		return nil
	}
	p.queued = true
	if p.claim.Waiting != nil {
		p.claim.Waiting()
	}
	if p.claim.Place == nil {
		return nil
	}
	found, err := p.find(ctx)
	if err == nil && found.Waiters > 0 { // else we own the key already, or the server refuses stats
		p.claim.Place(found.Waiters) // later claims may be among them
	}
	return err
}

// find looks the key up in the server's listing. If the server refuses the listing, it counts as empty.
func (p *place) find(ctx context.Context) (dflockwire.Entry, error) {
	found, err := p.s.find(ctx, p.conn, p.server, p.key.Name, p.key.Semaphore)
	if errors.Is(err, dflockwire.ErrRejected) {
		return dflockwire.Entry{}, nil
	}
	return found, err
}

// startSlice begins to wait at the place, for no longer than the claim waits.
func (p *place) startSlice() {
	longest := p.s.driver.options.LongestWait
	if p.s.servers[p.server].modern { // such a server notices a client that hangs up
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

// endSlice stores the result of a slice that is over. If that is an error, it ends the place.
func (p *place) endSlice() error {
	s := p.slice
	p.slice, p.queued = nil, false
	switch {
	case errors.Is(s.err, dflockwire.ErrNotEnqueued), errors.Is(s.err, dflockwire.ErrLeaseExpired):
		return nil // the grant came, but nobody asked for it in time: join again
	case s.ok:
		p.own(s.got, true)
	}
	return s.err
}

// complete makes a grant of the first permit: it claims the others, and renews all if the first may have expired
// already. If permits are missing or the first was lost, we own nothing, and complete returns neither a grant nor an
// error.
func (p *place) complete(ctx context.Context) (*grant, error) {
	for uint64(len(p.nonces)) < p.claim.Permits {
		next, ok, err := p.conn.Acquire(ctx, p.key, 0, p.lease)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, p.drop(ctx)
		}
		p.nonces = append(p.nonces, next.Nonce)
	}
	p.lease = p.first.Lease
	w := p.s.windowOf(p.first)
	if p.waited || time.Since(w.Asked) > w.RenewIn {
		got, err := p.renew(ctx)
		if errors.Is(err, dflockwire.ErrRejected) {
			return nil, p.drop(ctx)
		}
		if err != nil {
			return nil, err
		}
		w = p.s.windowOf(got)
	}
	return p.adopt(ctx, w)
}

// drop releases the permits.
func (p *place) drop(ctx context.Context) error {
	err := p.release(ctx, p.conn)
	p.nonces = nil
	return err
}

// adopt makes the grant, and reads our identity at the server.
func (p *place) adopt(ctx context.Context, w coord.Window) (*grant, error) {
	info := coord.GrantInfo{Window: w}
	if p.s.servers[p.server].modern {
		info.Fence = fenceIn(p.nonces[len(p.nonces)-1])
	}
	if p.key.Limit == 1 {
		found, err := p.find(ctx)
		if err != nil {
			return nil, err
		}
		if found.Owner != 0 {
			info.Owner = OwnerID(found.Owner)
		}
	}
	g := &grant{permits: p.permits}
	g.Grant = lifetime.NewGrant(info, func() { g.s.Remove(g) })
	if !p.s.Add(g) {
		return nil, errSessionOver
	}
	p.end()
	if granted := p.s.driver.options.OnGranted; granted != nil {
		granted(p.key.Name, slices.Clone(p.nonces))
	}
	p.s.Start(p.s.cut, g.watch) // ends with the grant
	return g, nil
}

// end removes the place from the session.
func (p *place) end() {
	p.ended = true
	p.stop()
	p.s.Remove(p)
}

// leave gives up the claim and ends the connection. If the current slice ends soon, leave waits for that. The error
// wraps coord.ErrUncertain if something may be ours, now or later.
func (p *place) leave(ctx context.Context) error {
	p.end()
	defer p.conn.Close()
	ctx, cancel := context.WithTimeout(ctx, graceTime)
	defer cancel()
	defer spawn.OnDone(p.s.cut, cancel)()
	doubt, within := false, p.s.driver.options.IdleCut
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
			_ = p.endSlice() // the end of the connection decides what is uncertain
		default:
			p.queued, doubt = false, !p.s.servers[p.server].modern
			within += max(left, 0)
		}
	}
	if p.queued && p.conn.Err() == nil {
		if got, ok, _ := p.conn.Wait(ctx, p.key, 0); ok {
			p.own(got, true)
		}
	}
	if len(p.nonces) > 0 && p.conn.Err() == nil {
		_ = p.drop(ctx) // the error is ignored for the same reason
	}
	if !doubt && p.conn.Err() == nil {
		return nil
	}
	return coord.Uncertain(fmt.Sprintf("the server gives it away within %v", within.Round(time.Second)), nil)
}
