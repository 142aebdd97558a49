package rediscoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/ground/failure"
)

// grant is a key that we own.
type grant struct {
	*lifetime.Grant
	s     *session
	key   string
	nonce string
	ttl   time.Duration
	late  bool // an earlier try may still arrive, and take the key again after our release

	publishing chan struct{} // holds one element while a proclamation is being sent
	value      string        // of the key, as last confirmed; used only during a proclamation
}

var (
	_ coord.Renewer   = (*grant)(nil)
	_ coord.Publisher = (*grant)(nil)
)

// newGrant returns the grant of an attempt whose successful command was sent at asked.
func newGrant(a *attempt, asked time.Time) *grant {
	g := &grant{s: a.s, key: a.c.Name, nonce: a.nonce, value: a.value, ttl: a.ttl, late: a.uncertain, publishing: make(chan struct{}, 1)}
	info := coord.GrantInfo{Owner: ShortID([]byte(a.nonce)), Window: coord.Window{Asked: asked, Valid: a.ttl}}
	g.Grant = lifetime.NewGrant(info, func() { g.s.Remove(g) })
	return g
}

// lost ends the grant because the server reports the loss, and returns that error.
func (g *grant) lost(verb string) error {
	err := fmt.Errorf("%s: the key does not hold our value any more: %w", verb, coord.ErrLost)
	g.End(err)
	return err
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
	asked := time.Now()
	n, err := g.s.script(ctx, callTimeout(g.ttl), renewScript, g.key, g.nonce, g.ttl.Milliseconds())
	switch {
	case isWrongType(err), err == nil && n != 1:
		return coord.Window{}, g.lost("renewing")
	case err != nil:
		return coord.Window{}, failure.With(fmt.Errorf("renewing: %w", err), context.Cause(ctx))
	}
	return g.Renewed(coord.Window{Asked: asked, Valid: g.ttl}), nil
}

// Release implements coord.Grant.
func (g *grant) Release(ctx context.Context) error {
	return lifetime.Release(ctx, g.s.Session, g.Grant, g.giveBack)
}

// giveBack repeats the release until the server has answered. It gives up when ctx ends, when the connections are
// closed, or when the key has expired by itself.
func (g *grant) giveBack(ctx context.Context) error {
	left := leftover{key: g.key, nonce: g.nonce, ttl: g.ttl}
	if g.late && g.s.endOldConnections(ctx) != nil {
		left.until, left.late = time.Now().Add(longestDelivery), true
		g.s.addLeftover(left)
	}
	end := g.Info().Asked.Add(2 * g.ttl) // a renewal may still arrive
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	pause := retryPolicy.Start()
	for {
		err := g.s.release(ctx, g.key, g.nonce)
		if err == nil || isWrongType(err) {
			return nil
		}
		if errors.Is(classify(err), coord.ErrRefused) || errors.Is(err, redis.ErrClosed) {
			return fmt.Errorf("releasing: %w", err)
		}
		// There was no answer, or one that may pass: the server loads its data or has just become a replica.
		if pause.Wait(ctx) != nil {
			left.until, left.late = time.Now().Add(2*g.ttl), false
			g.s.addLeftover(left) // the session tries again later
			return failure.With(fmt.Errorf("releasing: %w", err), context.Cause(ctx))
		}
	}
}

// Abandon implements coord.Grant.
func (g *grant) Abandon() { g.End(fmt.Errorf("abandoned by us: %w", coord.ErrReleased)) }

// Publish implements coord.Publisher. If there is no answer, it sends the same value again until ctx or the window
// ends.
func (g *grant) Publish(ctx context.Context, data []byte) error {
	if err := cmp.Or(g.s.Info().Caps.CheckData(data), g.Over("publishing")); err != nil {
		return err
	}
	ctx, leave, err := g.s.Enter(ctx)
	if err != nil {
		return fmt.Errorf("publishing: %w: %w", coord.ErrLost, err)
	}
	defer leave()
	select {
	case g.publishing <- struct{}{}:
		defer func() { <-g.publishing }()
	case <-ctx.Done():
		return fmt.Errorf("publishing: %w", context.Cause(ctx))
	}
	return g.publish(ctx, joinValue(g.nonce, data))
}

// publish sends value until there is an answer.
func (g *grant) publish(ctx context.Context, value string) error {
	pause := retryPolicy.Start()
	for {
		n, err := g.s.script(ctx, callTimeout(g.ttl), proclaimScript, g.key, g.nonce, value, g.value)
		if err == nil && n == 2 { // an earlier proclamation without an answer was written
			g.value, err = g.read(ctx)
		}
		switch {
		case err == nil && n == 1:
			g.value = value
			return nil
		case err == nil && n == 2:
			continue
		case err == nil, isWrongType(err):
			return g.lost("publishing")
		case answered(err), unsent(err):
			return fmt.Errorf("publishing: %w", err)
		}
		if late := g.outlast(ctx, pause.Next()); late != nil {
			return errors.Join(fmt.Errorf("publishing: %w", err), late)
		}
	}
}

// read returns the value of the key, or "" if the key does not exist.
func (g *grant) read(ctx context.Context) (string, error) {
	return ask(ctx, g.s, callTimeout(g.ttl), func(ctx context.Context) (string, error) {
		value, err := g.s.client.Get(ctx, g.key).Result()
		if errors.Is(err, redis.Nil) {
			return "", nil
		}
		return value, classify(err)
	})
}

// outlast pauses before a proclamation is sent again. It returns an error if the grant or ctx has ended.
func (g *grant) outlast(ctx context.Context, pause time.Duration) error {
	i := g.Info()
	if !time.Now().Before(i.Asked.Add(i.Valid)) {
		return coord.ErrExpired
	}
	select {
	case <-time.After(pause):
		return nil
	case <-g.Done():
		return g.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
