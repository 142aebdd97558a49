package rediscoord

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/failure"
)

// grant is a key that we won.
type grant struct {
	*lifetime.Life
	s     *session
	key   string
	nonce string
	owner string
	fence uint64
	ttl   time.Duration
	first string // the value that it was claimed with
	late  bool   // an earlier try for it may still arrive, and take the key again after our release

	publishing chan struct{} // holds one element while a proclamation is on its way
	values     keyValues     // what the key may hold

	mu     sync.Mutex
	window coord.Window
}

var (
	_ coord.Grant     = (*grant)(nil)
	_ coord.Renewer   = (*grant)(nil)
	_ coord.Publisher = (*grant)(nil)
)

func newGrant(a *attempt, fence uint64, w coord.Window) *grant {
	return &grant{
		Life:       lifetime.NewLife(),
		s:          a.s,
		key:        a.key,
		nonce:      a.nonce,
		owner:      ShortID([]byte(a.nonce)),
		fence:      fence,
		ttl:        a.ttl,
		first:      a.value,
		publishing: make(chan struct{}, 1),
		window:     w,
		values:     keyValues{current: a.value},
	}
}

// Info implements coord.Grant.
func (g *grant) Info() coord.GrantInfo {
	g.mu.Lock()
	defer g.mu.Unlock()
	return coord.GrantInfo{Owner: g.owner, Fence: g.fence, Window: g.window}
}

// finish ends the grant on our side; false when it was over before.
func (g *grant) finish(err error) bool {
	first := g.Finish(err)
	if first {
		g.s.Remove(g)
	}
	return first
}

// lost ends the grant by the service's verdict and returns it.
func (g *grant) lost(verb string) error {
	err := fmt.Errorf("%s: the key does not hold our value any more: %w", verb, coord.ErrLost)
	g.finish(err)
	return err
}

// over is the error of a verb that comes after the end; nil before.
func (g *grant) over(verb string) error {
	if err := g.Err(); err != nil {
		return fmt.Errorf("%s: %w: %w", verb, coord.ErrLost, err)
	}
	return nil
}

// Renew implements coord.Renewer.
func (g *grant) Renew(ctx context.Context) (coord.Window, error) {
	if err := g.over("renewing"); err != nil {
		return coord.Window{}, err
	}
	ctx, leave, err := g.s.Enter(ctx)
	if err != nil {
		return coord.Window{}, fmt.Errorf("renewing: %w: %w", coord.ErrLost, err)
	}
	defer leave()
	asked := time.Now()
	found, err := g.values.find(func(value string) (bool, error) {
		asked = time.Now()
		n, err := ask(ctx, g.s, callTimeout(g.ttl), func(ctx context.Context) (int64, error) {
			return g.s.driver.scripts.renew.run(ctx, g.s.client, []string{g.key}, value, g.ttl.Milliseconds())
		})
		return n == 1, err
	})
	switch {
	case isWrongType(err), err == nil && !found:
		return coord.Window{}, g.lost("renewing")
	case err != nil:
		return coord.Window{}, failure.With(fmt.Errorf("renewing: %w", err), context.Cause(ctx))
	}
	return g.confirm(asked), nil
}

// confirm notes a new window.
func (g *grant) confirm(asked time.Time) coord.Window {
	g.mu.Lock()
	defer g.mu.Unlock()
	if asked.After(g.window.Asked) {
		g.window = coord.Window{Asked: asked, Valid: g.ttl}
	}
	return g.window
}

// Release implements coord.Grant. When the session closes at the same time it is the
// session that gives the key back.
func (g *grant) Release(ctx context.Context) error {
	ctx, leave, err := g.s.Enter(ctx)
	if err != nil {
		return nil
	}
	defer leave()
	if !g.finish(fmt.Errorf("released by us: %w", coord.ErrReleased)) {
		return nil
	}
	return g.giveBack(ctx)
}

// giveBack releases until the service has answered. It ends without an answer when ctx
// ends, when the connections are closed, or when the key has run out by itself.
func (g *grant) giveBack(ctx context.Context) error {
	if g.late && g.s.endOldConnections(ctx) != nil {
		g.s.addLeftover(leftover{key: g.key, value: g.first, ttl: g.ttl, until: time.Now().Add(longestDelivery), late: true})
	}
	end := g.Info().Asked.Add(2 * g.ttl) // a renewal may be on its way
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	pause := retryPolicy.Start()
	for {
		_, err := g.values.find(func(value string) (bool, error) { return g.s.release(ctx, g.key, value) })
		if err == nil || isWrongType(err) {
			return nil
		}
		if errors.Is(classify(err), coord.ErrRefused) || errors.Is(err, redis.ErrClosed) {
			return fmt.Errorf("releasing: %w", err)
		}
		// No answer, or one that passes: the server loads its data or has just become
		// somebody's replica.
		if pause.Wait(ctx) != nil {
			g.addLeftovers()
			return failure.With(fmt.Errorf("releasing: %w", err), context.Cause(ctx))
		}
	}
}

// addLeftovers lets the session try again later what could not be given back.
func (g *grant) addLeftovers() {
	values, _ := g.values.possible()
	for _, value := range values {
		g.s.addLeftover(leftover{key: g.key, value: value, ttl: g.ttl, until: time.Now().Add(2 * g.ttl)})
	}
}

// Abandon implements coord.Grant.
func (g *grant) Abandon() { g.finish(fmt.Errorf("abandoned by us: %w", coord.ErrReleased)) }
