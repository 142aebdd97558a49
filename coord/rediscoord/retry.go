package rediscoord

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/internal/backoff"
)

// expiryJitter spreads the claims that wait for the same expiry.
const expiryJitter = 15 * time.Millisecond

// wait pauses; it is false when the claim's time is over instead.
func (a *attempt) wait(ctx context.Context, pause time.Duration) (bool, error) {
	if a.c.Wait == 0 {
		return false, nil
	}
	if !a.until.IsZero() {
		left := time.Until(a.until)
		if left <= 0 {
			return false, nil
		}
		pause = min(pause, left)
	}
	if backoff.Sleep(ctx, pause) != nil {
		return false, context.Cause(ctx)
	}
	return true, nil
}

// checkKey finds out after a miss what is wrong with the key, if anything, and how long to
// wait before it is worth trying again. Where the user may not read it, it is not done.
func (a *attempt) checkKey(ctx context.Context) (time.Duration, error) {
	delay := a.s.driver.options.RetryDelay
	delay = delay/2 + rand.N(delay/2+1)
	f, err := ask(ctx, a.s, a.timeout(), a.facts)
	if err != nil {
		return delay, nil // the next try will show
	}
	if f.kind != "" && f.kind != "string" && f.kind != "none" {
		return 0, fmt.Errorf("the key holds a %s: %w", f.kind, coord.ErrRefused)
	}
	const unknown, forever, gone = 0, -1, -2 // the negative ones as go-redis returns them
	switch f.left {
	case unknown:
		return delay, nil
	case forever:
		return 0, ErrNoExpiry
	case gone:
		return rand.N(expiryJitter), nil
	}
	// The server frees the key in the millisecond after its last.
	return min(delay, f.left+time.Millisecond+rand.N(expiryJitter)), nil
}

// facts are a key's type and the time until it expires; what the user may not know is the
// zero value.
type facts struct {
	kind string
	left time.Duration
}

func (a *attempt) facts(ctx context.Context) (f facts, err error) {
	kind, left := redis.NewStatusCmd(ctx), redis.NewDurationCmd(ctx, time.Millisecond)
	refusals := a.s.driver.client.Refusals
	// Each command has an error of its own. A right may be refused for one key and not for
	// others.
	mayType, mayPTTL := "type "+a.c.Name, "pttl "+a.c.Name
	_, _ = a.s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		if refusals.Refused(mayType) == nil {
			kind = p.Type(ctx, a.c.Name)
		}
		if refusals.Refused(mayPTTL) == nil {
			left = p.PTTL(ctx, a.c.Name)
		}
		return nil
	})
	refusals.Note(mayType, kind.Err())
	refusals.Note(mayPTTL, left.Err())
	for _, err := range []error{kind.Err(), left.Err()} {
		if err != nil && !answered(err) {
			return f, err
		}
	}
	return facts{kind.Val(), left.Val()}, nil
}
