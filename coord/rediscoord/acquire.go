package rediscoord

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/internal/backoff"
)

const (
	// settleTries is how often an uncertain answer is asked about before it becomes an
	// error.
	settleTries = 2
	// cleanupTimeout bounds what is done after a claim's context has ended.
	cleanupTimeout = time.Second
	// dueJitter spreads the claims that wait for the same expiry.
	dueJitter = 15 * time.Millisecond
)

// settlePolicy paces the questions after a lost reply.
var settlePolicy = backoff.Policy{Min: 10 * time.Millisecond, Max: 250 * time.Millisecond}

// Acquire implements coord.DriverSession.
func (s *session) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	if err := s.driver.checkClaim(c); err != nil {
		return nil, false, err
	}
	joined, leave, ok := s.enter(ctx)
	if !ok {
		return nil, false, fmt.Errorf("acquiring: %w", errSessionOver)
	}
	defer leave()
	a := s.newAttempt(c)
	g, ok, err := a.run(joined)
	if err == nil && ok && s.adopt(g) {
		return g, true, nil
	}
	if err == nil && !ok {
		return nil, false, a.leave(ctx)
	}
	if err == nil {
		a.uncertain, err = true, errSessionOver // it closed while the grant came
	}
	if s.life.Err() != nil {
		err = errSessionOver // what else failed failed because of it
	}
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = errors.Join(err, ctx.Err())
	}
	return nil, false, errors.Join(fmt.Errorf("acquiring: %w", err), a.leave(ctx))
}

// attempt is one claim on its way. It belongs to one goroutine.
type attempt struct {
	s          *session
	c          coord.Claim
	key, fence string
	nonce      string
	value      string
	ttl        time.Duration
	until      time.Time // the end of c.Wait; zero: none

	// uncertain: a try may have won, or may still arrive and win, without our knowing.
	// It stays so for the whole attempt, because what was sent on a link that broke can
	// be delivered late.
	uncertain bool
}

func (s *session) newAttempt(c coord.Claim) *attempt {
	a := &attempt{s: s, c: c, nonce: uuid.NewString(), ttl: orDuration(c.TTL, s.ttl).Truncate(time.Millisecond)}
	a.key = s.driver.options.keyOf(c.Kind, c.Name)
	a.fence = s.driver.options.fenceOf(a.key)
	a.value = joinValue(a.nonce, c.Data)
	if c.Wait > 0 {
		a.until = time.Now().Add(c.Wait)
	}
	return a
}

// run tries until it wins, misses for good or fails.
func (a *attempt) run(ctx context.Context) (*grant, bool, error) {
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	if err := a.s.payDebts(ctx, func(d debt) bool { return d.key == a.key }); err != nil {
		return nil, false, err
	}
	for {
		g, ok, err := a.try(ctx)
		if ctx.Err() != nil {
			a.uncertain = a.uncertain || ok
			return nil, false, context.Cause(ctx)
		}
		if ok || err != nil {
			return g, ok, err
		}
		pause, err := a.look(ctx)
		if err != nil {
			return nil, false, err
		}
		if again, err := a.wait(ctx, pause); err != nil || !again {
			return nil, false, err
		}
	}
}

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
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// try sends the acquire script once and makes sure of its answer.
func (a *attempt) try(ctx context.Context) (*grant, bool, error) {
	asked := time.Now()
	n, err := a.acquire(ctx)
	switch {
	case err == nil && n > 0:
		return a.won(asked, n), true, nil
	case err != nil && !answered(err) && !unsent(err):
		a.uncertain = true
	}
	if !a.uncertain {
		return nil, false, err
	}
	return a.settle(ctx, err)
}

// settle asks whether the key is ours after all. cause is why that is not known; nil if
// the last try missed, which may have been because of an earlier one of ours.
func (a *attempt) settle(ctx context.Context, cause error) (*grant, bool, error) {
	pause := settlePolicy.Start()
	for range settleTries {
		asked := time.Now()
		n, err := a.renew(ctx)
		if err == nil && n > 0 {
			return a.won(asked, n), true, nil
		}
		if err == nil || isWrongType(err) {
			return nil, false, nil // somebody else has it, or nobody: a miss
		}
		cause = err
		if answered(err) || errors.Is(err, redis.ErrClosed) || pause.Wait(ctx) != nil {
			break
		}
	}
	return nil, false, cause
}

func (a *attempt) won(asked time.Time, n int64) *grant {
	fence := uint64(0)
	if a.fence != "" {
		fence = uint64(n)
	}
	return newGrant(a, fence, coord.Window{Asked: asked, Valid: a.ttl})
}

func (a *attempt) acquire(ctx context.Context) (int64, error) {
	ctx, cancel := a.bound(ctx)
	defer cancel()
	scripts, client := a.s.driver.scripts, a.s.client
	if a.fence != "" {
		return scripts.acquireFenced.run(ctx, client, []string{a.key, a.fence}, a.value, a.ttl.Milliseconds())
	}
	return scripts.acquire.run(ctx, client, []string{a.key}, a.value, a.ttl.Milliseconds())
}

func (a *attempt) renew(ctx context.Context) (int64, error) {
	ctx, cancel := a.bound(ctx)
	defer cancel()
	scripts, client := a.s.driver.scripts, a.s.client
	if a.fence != "" {
		return scripts.renewFenced.run(ctx, client, []string{a.key, a.fence}, a.value, a.ttl.Milliseconds())
	}
	return scripts.renew.run(ctx, client, []string{a.key}, a.value, a.ttl.Milliseconds())
}

// bound ends a call early enough for another, and not long after the claim's time.
func (a *attempt) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	timeout := callTimeout(a.ttl)
	if !a.until.IsZero() {
		timeout = min(timeout, max(time.Until(a.until), 50*time.Millisecond))
	}
	return context.WithTimeout(ctx, timeout)
}

// look finds out after a miss what is wrong with the key, if anything, and how long to
// wait before it is worth trying again. Where the user may not look, it is not done.
func (a *attempt) look(ctx context.Context) (time.Duration, error) {
	ctx, cancel := a.bound(ctx)
	defer cancel()
	var kind *redis.StatusCmd
	var left *redis.DurationCmd
	// Each command's error is looked at below.
	_, _ = a.s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		kind, left = p.Type(ctx, a.key), p.PTTL(ctx, a.key)
		return nil
	})
	delay := a.s.driver.options.RetryDelay
	delay = delay/2 + rand.N(delay/2+1)
	if kind.Err() == nil && kind.Val() != "string" && kind.Val() != "none" {
		return 0, fmt.Errorf("the key holds a %s: %w", kind.Val(), coord.ErrRefused)
	}
	if left.Err() != nil {
		return delay, nil
	}
	const none, gone = -1, -2 // as go-redis returns them: in nanoseconds
	switch left.Val() {
	case none:
		return 0, ErrNoExpiry
	case gone:
		return rand.N(dueJitter), nil
	}
	// The server frees the key in the millisecond after its last.
	return min(delay, left.Val()+time.Millisecond+rand.N(dueJitter)), nil
}

// leave gives back what an attempt that ended without a grant may own nevertheless.
func (a *attempt) leave(ctx context.Context) error {
	if !a.uncertain {
		return nil
	}
	a.s.owe(a.key, a.value, a.ttl)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	err := a.s.payDebts(ctx, func(d debt) bool { return d.value == a.value })
	if err != nil && !errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("after a lost reply: %w", err)
	}
	return nil
}
