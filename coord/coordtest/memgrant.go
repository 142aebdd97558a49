package coordtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"coordtop/coord"
)

// memGrant is a grant of either shape. ctx ends with the grant; it is a child of the session's ctx.
type memGrant struct {
	handle
	s     *memSession
	fence uint64 // set before another goroutine has the grant
	ttl   time.Duration
	ctx   context.Context
	end   context.CancelCauseFunc

	window coord.Window // guarded by s.mu; used if each grant renews
}

var (
	_ coord.Grant     = (*memGrant)(nil)
	_ coord.Publisher = (*memGrant)(nil)
	_ coord.Renewer   = (*renewingGrant)(nil)
)

// grant prepares the grant of a claim. Trust runs from this call, because the caller sends the claim next. The caller
// must adopt the grant or finish it.
func (s *memSession) grant(h handle, ttl time.Duration) *memGrant {
	g := &memGrant{handle: h, s: s, ttl: ttl, window: s.m.window(time.Now(), ttl)}
	g.ctx, g.end = context.WithCancelCause(s.ctx)
	return g
}

// adopt adds a grant to the session. It returns false if the session is over.
func (s *memSession) adopt(g *memGrant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.ctx.Err() != nil {
		return false
	}
	s.grants = append(s.grants, g)
	return true
}

func (s *memSession) forget(g *memGrant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants = slices.DeleteFunc(s.grants, func(o *memGrant) bool { return o == g })
}

// Info implements coord.Grant. If the session renews, the window is the session's.
func (g *memGrant) Info() coord.GrantInfo {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	i := coord.GrantInfo{Owner: g.owner, Fence: g.fence, Window: g.window}
	if g.s.id != "" {
		i.Window = g.s.window
	}
	return i
}

func (g *memGrant) Done() <-chan struct{} { return g.ctx.Done() }

func (g *memGrant) Err() error { return context.Cause(g.ctx) }

// Release implements coord.Grant. If the session renews, a release that could not be sent is sent with the next
// renewal.
func (g *memGrant) Release(ctx context.Context) error {
	if !g.finish() {
		return nil
	}
	err := g.s.call(ctx, VerbRelease, nil, func(context.Context) error { g.s.m.withdraw(g.handle); return nil })
	if err == nil || errors.Is(err, coord.ErrLost) {
		return nil
	}
	if g.s.id != "" {
		g.s.owe(g.handle)
	}
	return fmt.Errorf("releasing: %w", err)
}

func (g *memGrant) Abandon() { g.finish() }

// finish ends the grant on our side and reports whether it was not over before.
func (g *memGrant) finish() bool {
	g.s.forget(g)
	if g.ctx.Err() != nil {
		return false
	}
	g.end(fmt.Errorf("grant: %w", coord.ErrReleased))
	return errors.Is(g.Err(), coord.ErrReleased)
}

func (g *memGrant) Publish(ctx context.Context, data []byte) error {
	if err := g.Err(); err != nil {
		return fmt.Errorf("publishing: %w: %w", err, coord.ErrLost)
	}
	if len(data) > g.s.m.o.MaxData {
		return fmt.Errorf("publishing: %d bytes, at most %d: %w", len(data), g.s.m.o.MaxData, coord.ErrDataTooLong)
	}
	err := g.request(ctx, VerbPublish, func(e *entry, _ time.Time) {
		e.data = slices.Clone(data)
		g.s.m.itemLocked(g.key).changedLocked()
	})
	if err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	return nil
}

// request sends a request about the grant. An answer that the grant is lost ends it.
func (g *memGrant) request(ctx context.Context, v Verb, do func(e *entry, now time.Time)) error {
	err := g.s.call(ctx, v, func() { g.s.m.takeAway(g.handle) }, func(context.Context) error { return g.s.m.grant(g.handle, do) })
	err = orLost(err, g.Err())
	if errors.Is(err, coord.ErrLost) {
		g.end(err)
		g.s.forget(g)
	}
	return err
}

// renewingGrant is a grant of a GrantRenews service.
type renewingGrant struct{ *memGrant }

func (g *renewingGrant) Renew(ctx context.Context) (coord.Window, error) {
	asked := time.Now()
	if err := g.Err(); err != nil {
		return coord.Window{}, fmt.Errorf("renewing: %w: %w", err, coord.ErrLost)
	}
	if err := g.request(ctx, VerbRenew, func(e *entry, now time.Time) { e.life.extend(now) }); err != nil {
		return coord.Window{}, fmt.Errorf("renewing: %w", err)
	}
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.window = g.s.m.window(asked, g.ttl)
	return g.window, nil
}
