package rediscoord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/backoff"
)

const (
	// settleTries is how often an uncertain answer is asked about before it becomes an
	// error.
	settleTries = 2
	// cleanupTimeout bounds what is done after a claim's context has ended.
	cleanupTimeout = time.Second
)

// settlePolicy paces the questions after a lost reply.
var settlePolicy = backoff.Policy{Min: 10 * time.Millisecond, Max: 250 * time.Millisecond}

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

// leave gives back what an attempt that ended without a grant may own nevertheless. It
// first waits for the try that is on its way: a release must not overtake it.
func (a *attempt) leave(ctx context.Context, why error) error {
	if !a.uncertain {
		return nil
	}
	a.s.owe(a.key, a.value, a.ttl)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	var late *unfinished
	if errors.As(why, &late) {
		select {
		case <-late.done:
		case <-ctx.Done():
		}
	}
	err := a.s.payDebts(ctx, func(d debt) bool { return d.value == a.value })
	if err != nil && !errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("after a lost reply: %w", err)
	}
	return nil
}

// debt is a value that may stand at a key without anybody knowing it: the answer to a
// try was lost, and so was every question about it.
type debt struct {
	key, value string
	until      time.Time // when the key surely has run out
}

// owe remembers a value whose fate is unknown.
func (s *session) owe(key, value string, ttl time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.debts = slices.DeleteFunc(s.debts, func(d debt) bool { return now.After(d.until) })
	s.debts = append(s.debts, debt{key, value, now.Add(2 * ttl)})
}

// payDebts gives back what may be ours without our knowing, of the debts that are chosen.
func (s *session) payDebts(ctx context.Context, chosen func(debt) bool) error {
	s.mu.Lock()
	var due []debt
	now := time.Now()
	for _, d := range s.debts {
		if chosen(d) && now.Before(d.until) {
			due = append(due, d)
		}
	}
	s.mu.Unlock()
	for _, d := range due {
		if _, err := s.release(ctx, d.key, d.value); err != nil {
			return fmt.Errorf("giving back what an earlier claim may have left: %w", err)
		}
		s.mu.Lock()
		s.debts = slices.DeleteFunc(s.debts, func(o debt) bool { return o == d })
		s.mu.Unlock()
	}
	return nil
}

// release runs the release script once.
func (s *session) release(ctx context.Context, key, value string) (bool, error) {
	n, err := ask(ctx, s, callTimeout(s.ttl), func(ctx context.Context) (int64, error) {
		return s.driver.scripts.release.run(ctx, s.client, []string{key}, value)
	})
	return n == 1, err
}
