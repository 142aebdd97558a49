package dflockcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"coordtop/coord"
	"coordtop/coord/dflockwire"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/ground/failure"
)

// grant is a lock, or permits of a semaphore, that we own on one connection.
type grant struct {
	*lifetime.Grant
	permits

	mu      sync.Mutex
	renewal *renewal // the request under way, if any
}

// renewal is a request to renew. It may outlive the call of Renew that began it, because a late answer is valid as
// well, and a second request on the same connection would not be answered sooner.
type renewal struct {
	done   chan struct{}
	window coord.Window
	err    error
}

var _ coord.Renewer = (*grant)(nil)

// windowOf returns the window that follows from a grant or a renewal.
func (s *session) windowOf(got dflockwire.Granted) coord.Window {
	valid := min(got.Lease, s.driver.idleCut())
	return coord.Window{Asked: got.Asked, Valid: valid, RenewIn: min(valid/2, cmp.Or(s.renewEvery, valid))}
}

// idleCut returns the time after which the server ends a connection on which nothing is sent, as far as known.
func (d *Driver) idleCut() time.Duration {
	if learned := time.Duration(d.options.Learned.Load()); learned > 0 {
		return min(d.options.IdleCut, learned*3/4)
	}
	return d.options.IdleCut
}

// learn records the silence after which a server ended a connection.
func (d *Driver) learn(err error) {
	if silence, ok := errors.AsType[dflockwire.Silence](err); ok {
		if known := d.options.Learned.Load(); known == 0 || int64(silence) < known {
			d.options.Learned.Store(int64(silence))
		}
	}
}

// fenceIn reads the fence in a nonce. The fence is a count that began at the server's clock in nanoseconds. For a nonce
// without a fence, fenceIn returns 0.
func fenceIn(nonce string) uint64 {
	const digits, years, day = 16, 20 * 365 * 24 * time.Hour, 24 * time.Hour
	if len(nonce) != 2*digits {
		return 0
	}
	n, err := strconv.ParseUint(nonce[:digits], 16, 63)
	now := time.Now()
	if err != nil || int64(n) < now.Add(-years).UnixNano() || int64(n) > now.Add(day).UnixNano() {
		return 0
	}
	return n
}

// lost ends the grant because of err and reports whether it was not over before.
func (g *grant) lost(err error) bool {
	first := g.End(err)
	if first && g.s.driver.options.OnLost != nil {
		g.s.driver.options.OnLost(g.key.Name, g.nonces[0], err)
	}
	return first
}

// watch ends the grant with its connection, because the server then releases the grant. In case the server does not, or
// has not noticed the end, watch also releases the grant over another connection.
func (g *grant) watch() {
	select {
	case <-g.Done():
		return
	case <-g.conn.Done():
	}
	cause, end := g.conn.Err(), coord.ErrLost
	g.s.driver.learn(cause)
	if errors.Is(cause, dflockwire.ErrSilent) { // no answer for a whole lease
		end = coord.ErrExpired
	}
	if g.lost(fmt.Errorf("its connection ended: %w: %w", end, cause)) {
		_ = g.giveBackElsewhere(g.s.cut) // the error is of no use: the grant may be over, or the server unreachable
	}
}

// Renew implements coord.Renewer.
func (g *grant) Renew(ctx context.Context) (coord.Window, error) {
	if err := g.Over("renewing"); err != nil {
		return coord.Window{}, err
	}
	ctx, leave, err := g.s.Enter(ctx)
	if err != nil {
		return coord.Window{}, fmt.Errorf("renewing: %w: %w", coord.ErrLost, err)
	}
	defer leave()
	g.mu.Lock()
	r := g.renewal
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		g.renewal = r
		g.s.Start(g.s.cut, func() { g.renew(r) }) // ends with its answer or its connection
	}
	g.mu.Unlock()
	select {
	case <-r.done:
		return r.window, r.err
	case <-ctx.Done():
		return coord.Window{}, failure.With(errors.New("renewing: no answer yet"), ctx.Err(), context.Cause(ctx))
	}
}

// renew executes a renewal.
func (g *grant) renew(r *renewal) {
	defer close(r.done)
	got, err := g.permits.renew(g.s.cut)
	switch {
	case errors.Is(err, dflockwire.ErrRejected):
		r.err = fmt.Errorf("renewing: the server does not know it as ours any more: %w: %w", coord.ErrLost, err)
		g.lost(r.err)
		g.conn.Close()
	case err != nil && errors.Is(err, dflockwire.ErrHungUp):
		r.err = fmt.Errorf("renewing: %w: %w", coord.ErrLost, err) // watch ends the grant
	case err != nil:
		r.err = fmt.Errorf("renewing: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.renewal = nil
	if r.err == nil {
		r.window = g.Renewed(g.s.windowOf(got))
	}
}

// Release implements coord.Grant.
func (g *grant) Release(ctx context.Context) error {
	return lifetime.Release(ctx, g.s.Session, g.Grant, g.giveBack)
}

// giveBack releases the grant, over another connection if ours gets no answer, and closes ours.
func (g *grant) giveBack(ctx context.Context) error {
	defer g.conn.Close()
	if g.permits.release(ctx, g.conn) == nil {
		return nil
	}
	g.conn.Close() // this also releases the grant, if the server notices
	return g.giveBackElsewhere(ctx)
}

func (g *grant) giveBackElsewhere(ctx context.Context) error {
	conn, err := g.s.driver.dialers[g.server].Connect(ctx)
	if err == nil {
		defer conn.Close()
		err = g.permits.release(ctx, conn)
	}
	if err != nil {
		return fmt.Errorf("releasing: %w", classify(err))
	}
	return nil
}

// Abandon implements coord.Grant. Its connection stays open, because its end would release the grant.
func (g *grant) Abandon() {
	if g.End(fmt.Errorf("abandoned by us: %w", coord.ErrReleased)) {
		g.detach()
	}
}

func (g *grant) detach() {
	g.s.driver.keepAbandoned(g.s.Open(), g.conn, 2*g.lease) // a renewal may still arrive
}
