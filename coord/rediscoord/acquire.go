package rediscoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"coordtop/coord"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/failure"
)

// Acquire implements coord.DriverSession.
func (s *session) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	if err := s.driver.checkClaim(c); err != nil {
		return nil, false, err
	}
	joined, leave, err := s.Enter(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("acquiring: %w", err)
	}
	defer leave()
	a := s.newAttempt(c)
	g, ok, err := a.claim(joined)
	if ok && ctx.Err() == nil && s.Add(g) {
		return g, true, nil
	}
	return nil, false, a.fail(ctx, ok, err)
}

// fail cleans up after an attempt without a grant. It returns the attempt's error, or nil for a miss. won is true if
// the attempt got a grant, but the session closed or ctx ended at that instant.
func (a *attempt) fail(ctx context.Context, won bool, err error) error {
	a.uncertain = a.uncertain || won
	left := a.leave(ctx, err)
	switch {
	case a.s.Over() != nil:
		err = a.s.Over() // any other error is a consequence
	case won && err == nil:
		err = ctx.Err()
	default:
		err = failure.With(err, ctx.Err())
	}
	switch {
	case left != nil:
		return uncertain(a.ttl, err)
	case err != nil:
		return fmt.Errorf("acquiring: %w", err)
	}
	return nil
}

// attempt is the work on one claim. It is used by one goroutine.
type attempt struct {
	s     *session
	c     coord.Claim
	nonce string
	value string
	ttl   time.Duration
	until time.Time // the end of c.Wait; zero: none

	// uncertain is set if a try may have won, or may still arrive and win, without our knowing. It stays set for the
	// whole attempt, because a command on a broken connection can arrive late.
	uncertain bool
}

func (s *session) newAttempt(c coord.Claim) *attempt {
	a := &attempt{s: s, c: c, nonce: uuid.NewString(), ttl: cmp.Or(max(c.TTL, 0), s.ttl).Truncate(time.Millisecond)}
	a.value = joinValue(a.nonce, c.Data)
	if c.Wait > 0 {
		a.until = time.Now().Add(c.Wait)
	}
	return a
}

// claim tries until it gets the key, an error, or the end of the claim's time.
func (a *attempt) claim(ctx context.Context) (*grant, bool, error) {
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	for {
		// Before each try, release the key if an earlier try may have taken it.
		err := a.s.releaseLeftovers(ctx, func(d leftover) bool { return d.key == a.c.Name })
		if err != nil && !errors.Is(err, errUnproven) {
			return nil, false, err
		}
		g, ok, err := a.try(ctx)
		if ok || err != nil {
			return g, ok, err
		}
		if a.c.Wait != 0 && a.c.Waiting != nil {
			a.c.Waiting()
		}
		pause, err := a.checkKey(ctx)
		if err != nil {
			return nil, false, err
		}
		if again, err := a.wait(ctx, pause); err != nil || !again {
			return nil, false, err
		}
	}
}

// try sends the acquire script once. If the answer is uncertain, it asks whether the key is ours.
func (a *attempt) try(ctx context.Context) (*grant, bool, error) {
	asked := time.Now()
	n, err := a.s.script(ctx, a.timeout(), acquireScript, a.c.Name, a.value, a.ttl.Milliseconds())
	switch {
	case err == nil && n > 0:
		return newGrant(a, asked), true, nil
	case err != nil && !answered(err) && !unsent(err):
		a.uncertain = true
	}
	if !a.uncertain || ctx.Err() != nil {
		return nil, false, err
	}
	return a.confirm(ctx, err)
}

// timeout bounds one call, so that time is left for another and the call ends soon after the claim's own time.
func (a *attempt) timeout() time.Duration {
	timeout := callTimeout(a.ttl)
	if !a.until.IsZero() {
		timeout = min(timeout, max(time.Until(a.until), 50*time.Millisecond))
	}
	return timeout
}

// expiryJitter spreads the tries of claims that wait for the same expiry.
const expiryJitter = 15 * time.Millisecond

// wait pauses. It returns false if the claim's time is over.
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

// After a miss, checkKey returns the pause before the next try, or an error if the key can never be ours. If the user
// may not read the key, it returns the usual pause.
func (a *attempt) checkKey(ctx context.Context) (time.Duration, error) {
	delay := a.s.retryDelay
	delay = delay/2 + rand.N(delay/2+1)
	f, err := ask(ctx, a.s, a.timeout(), a.facts)
	if err != nil {
		return delay, nil // the next try decides
	}
	if f.kind != "" && f.kind != "string" && f.kind != "none" {
		return 0, fmt.Errorf("the key holds a %s: %w", f.kind, coord.ErrRefused)
	}
	const unknown, forever, gone = 0, -1, -2 // go-redis returns the negative ones
	switch f.left {
	case unknown:
		return delay, nil
	case forever:
		return 0, ErrNoExpiry
	case gone:
		return rand.N(expiryJitter), nil
	}
	// The key becomes free up to a millisecond after its remaining time.
	return min(delay, f.left+time.Millisecond+rand.N(expiryJitter)), nil
}

// facts are a key's type and the time until it expires. A fact that the user may not read is zero.
type facts struct {
	kind string
	left time.Duration
}

func (a *attempt) facts(ctx context.Context) (f facts, err error) {
	// A right may be refused for one key and not for others.
	client, key, refusals := a.s.client, a.c.Name, a.s.driver.client.Refusals
	f.kind, err = Once(refusals, "type "+key, func() (string, error) { return client.Type(ctx, key).Result() })
	if err == nil || answered(err) {
		f.left, err = Once(refusals, "pttl "+key, func() (time.Duration, error) { return client.PTTL(ctx, key).Result() })
	}
	if answered(err) {
		err = nil
	}
	return f, err
}
