package rediscoord

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
)

// Publish implements coord.Publisher. An uncertain answer is asked again, with the same
// value, until ctx ends or the window does.
func (g *grant) Publish(ctx context.Context, data []byte) error {
	if len(data) > maxData {
		return fmt.Errorf("publishing: %d bytes, at most %d: %w", len(data), maxData, coord.ErrDataTooLong)
	}
	if err := g.Over("publishing"); err != nil {
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
		n, err := g.script(ctx, g.s.driver.scripts.proclaim, g.nonce, value, g.value)
		if err == nil && n == 2 { // an earlier proclamation had no answer
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

// read returns the value of the key; "": there is none.
func (g *grant) read(ctx context.Context) (string, error) {
	return ask(ctx, g.s, callTimeout(g.ttl), func(ctx context.Context) (string, error) {
		value, err := g.s.client.Get(ctx, g.key).Result()
		if errors.Is(err, redis.Nil) {
			return "", nil
		}
		return value, classify(err)
	})
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
