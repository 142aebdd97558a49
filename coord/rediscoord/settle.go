package rediscoord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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

// leave gives back what an attempt that ended without a grant may own nevertheless, now or when
// what is on its way arrives. The error wraps coord.ErrUncertain where that is not sure.
func (a *attempt) leave(ctx context.Context, why error) error {
	if !a.uncertain {
		return nil
	}
	d := debt{key: a.key, value: a.value, ttl: a.ttl, until: time.Now().Add(latest), late: true}
	var under *unfinished
	if errors.As(why, &under) {
		d.sending = under.done
	}
	a.s.owe(d)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if a.s.payDebts(ctx, func(o debt) bool { return o.value == a.value }) != nil && !a.s.shutting() {
		return coord.ErrUncertain
	}
	return nil // while the session closes, it is its Close that says what is not sure
}

// latest is how long after its sending a command may still arrive: no system goes on for longer
// to deliver what is not acknowledged.
const latest = 15 * time.Minute

// debt is a value that may stand at a key without anybody knowing it: the answer to a
// try or to a release was lost, and so was every question about it.
type debt struct {
	key, value string
	ttl        time.Duration
	until      time.Time       // when it surely has run out
	late       bool            // a try may still arrive, and take the key
	sending    <-chan struct{} // closed when nobody sends it any more; nil: nobody does
}

// owe remembers a value whose fate is unknown.
func (s *session) owe(d debt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.debts = slices.DeleteFunc(s.debts, func(d debt) bool { return now.After(d.until) })
	s.debts = append(s.debts, d)
}

// due lists the debts that are chosen.
func (s *session) due(chosen func(debt) bool) (due []debt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, d := range s.debts {
		if chosen(d) && now.Before(d.until) {
			due = append(due, d)
		}
	}
	return due
}

// payDebts gives back what may be ours without our knowing, of the debts that are chosen. An
// error that wraps errUnproven says that all of it was given back, and that some may be taken
// later; those debts stay.
func (s *session) payDebts(ctx context.Context, chosen func(debt) bool) error {
	due := s.due(chosen)
	unproven := s.hushFor(ctx, due)
	for _, d := range due {
		if _, err := s.release(ctx, d.key, d.value); err != nil && !isWrongType(err) {
			return fmt.Errorf("giving back what an earlier claim may have left: %w", err)
		}
		if d.late && unproven != nil {
			continue
		}
		s.mu.Lock()
		s.debts = slices.DeleteFunc(s.debts, func(o debt) bool { return o == d })
		s.mu.Unlock()
	}
	return unproven
}

// hushFor makes sure that no try of these debts can arrive any more.
func (s *session) hushFor(ctx context.Context, due []debt) error {
	if !slices.ContainsFunc(due, func(d debt) bool { return d.late }) {
		return nil
	}
	err := s.hush(ctx) // which also makes those return that still send
	waited := false
	for _, d := range due {
		if d.sending == nil {
			continue
		}
		select {
		case <-d.sending:
			continue
		default:
		}
		waited = true
		select {
		case <-d.sending:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", errUnproven, context.Cause(ctx))
		}
	}
	if waited {
		err = s.hush(ctx)
	}
	if err != nil && !errors.Is(err, errUnproven) {
		err = fmt.Errorf("%w: %w", errUnproven, err)
	}
	return err
}

// release runs the release script once.
func (s *session) release(ctx context.Context, key, value string) (bool, error) {
	n, err := ask(ctx, s, callTimeout(s.ttl), func(ctx context.Context) (int64, error) {
		return s.driver.scripts.release.run(ctx, s.client, []string{key}, value)
	})
	return n == 1, err
}
