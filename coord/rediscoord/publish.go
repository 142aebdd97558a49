package rediscoord

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coordtop/coord"
)

// errUndecided: too many proclamations have no answer yet.
var errUndecided = errors.New("earlier proclamations are still without an answer")

// Publish implements coord.Publisher. An uncertain answer is asked again, with the same
// value, until ctx ends or the window does.
func (g *grant) Publish(ctx context.Context, data []byte) error {
	if len(data) > maxData {
		return fmt.Errorf("publishing: %d bytes, at most %d: %w", len(data), maxData, coord.ErrDataTooLong)
	}
	if err := g.over("publishing"); err != nil {
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
	if !g.values.sending(value) {
		return fmt.Errorf("publishing: %w", errUndecided)
	}
	defer g.values.sent(value, 2*g.ttl)
	pause := retryPolicy.Start()
	for {
		n, err := g.proclaim(ctx, value)
		switch {
		case err == nil && n == 1:
			g.values.confirmed(value)
			return nil
		case err == nil, isWrongType(err):
			return g.lost("publishing")
		case answered(err), unsent(err):
			return fmt.Errorf("publishing: %w", err)
		}
		g.values.unanswered(value)
		if late := g.outlast(ctx, pause.Next()); late != nil {
			return errors.Join(fmt.Errorf("publishing: %w", err), late)
		}
	}
}

// outlast pauses before a proclamation is asked again. It is an error when that is not
// worth it any more.
func (g *grant) outlast(ctx context.Context, pause time.Duration) error {
	i := g.Info()
	if !time.Now().Before(i.Asked.Add(i.Valid)) {
		return coord.ErrExpired
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-g.Done():
		return g.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// proclaim runs the script once: value replaces whatever of ours the key holds.
func (g *grant) proclaim(ctx context.Context, value string) (int64, error) {
	args := []any{value}
	old, _ := g.values.possible()
	for _, o := range old {
		args = append(args, o)
	}
	return ask(ctx, g.s, callTimeout(g.ttl), func(ctx context.Context) (int64, error) {
		return g.s.driver.scripts.proclaim.run(ctx, g.s.client, []string{g.key}, args...)
	})
}
