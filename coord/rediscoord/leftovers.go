package rediscoord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/internal/ground/backoff"
)

const (
	// confirmTries bounds the requests that confirm sends after an uncertain answer.
	confirmTries = 2
	// cleanupTimeout bounds the clean-up after a claim's context has ended.
	cleanupTimeout = time.Second
)

// retryPolicy has the pauses between the requests after a lost reply.
var retryPolicy = backoff.Policy{Min: 10 * time.Millisecond, Max: 250 * time.Millisecond}

// confirm asks whether the key is ours. cause is the error of the last try. It is nil if that try missed, possibly
// because an earlier try of ours has the key.
func (a *attempt) confirm(ctx context.Context, cause error) (*grant, bool, error) {
	pause := retryPolicy.Start()
	for range confirmTries {
		asked := time.Now()
		n, err := a.s.script(ctx, a.timeout(), renewScript, a.c.Name, a.nonce, a.ttl.Milliseconds())
		if err == nil && n > 0 {
			return newGrant(a, asked), true, nil
		}
		if err == nil || isWrongType(err) {
			return nil, false, nil // a miss: somebody else has the key, or nobody
		}
		cause = err
		if answered(err) || errors.Is(err, redis.ErrClosed) || pause.Wait(ctx) != nil {
			break
		}
	}
	return nil, false, cause
}

// leave releases the key that an attempt without a grant may own, now or when one of its commands arrives. The error
// wraps coord.ErrUncertain if the key may still become ours after that.
func (a *attempt) leave(ctx context.Context, why error) error {
	if !a.uncertain {
		return nil
	}
	d := leftover{key: a.c.Name, nonce: a.nonce, ttl: a.ttl, until: time.Now().Add(longestDelivery), late: true}
	var under *unfinished
	if errors.As(why, &under) {
		d.sending = under.done
	}
	a.s.addLeftover(d)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if a.s.releaseLeftovers(ctx, func(o leftover) bool { return o.nonce == a.nonce }) != nil && a.s.Over() == nil {
		return coord.ErrUncertain
	}
	return nil // the session is closing, and its Close returns ErrUncertain
}

// longestDelivery is the time after its sending in which a command may still arrive, because no system tries longer to
// deliver an unacknowledged segment.
const longestDelivery = 15 * time.Minute

// leftover is a value of ours that a key may have without our knowing, because the answer to a try or a release was
// lost, and so were the answers to all requests about it.
type leftover struct {
	key, nonce string
	ttl        time.Duration
	until      time.Time       // by then it has surely expired
	late       bool            // a try may still arrive, and take the key
	sending    <-chan struct{} // closed when the try is no longer being sent; nil if it is not being sent
}

// addLeftover records a value that its key may have.
func (s *session) addLeftover(d leftover) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.leftovers = slices.DeleteFunc(s.leftovers, func(d leftover) bool { return now.After(d.until) })
	s.leftovers = append(s.leftovers, d)
}

// leftoversWhere returns the leftovers for which chosen is true.
func (s *session) leftoversWhere(chosen func(leftover) bool) []leftover {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(s.leftovers), func(d leftover) bool { return !chosen(d) || !now.Before(d.until) })
}

// releaseLeftovers releases the keys of the leftovers for which chosen is true. If all were released but a late command
// may take some keys again, the error wraps errUnproven, and those leftovers stay.
func (s *session) releaseLeftovers(ctx context.Context, chosen func(leftover) bool) error {
	due := s.leftoversWhere(chosen)
	unproven := s.endSendersOf(ctx, due)
	for _, d := range due {
		if err := s.release(ctx, d.key, d.nonce); err != nil && !isWrongType(err) {
			return fmt.Errorf("giving back what an earlier claim may have left: %w", err)
		}
		if d.late && unproven != nil {
			continue
		}
		s.mu.Lock()
		s.leftovers = slices.DeleteFunc(s.leftovers, func(o leftover) bool { return o == d })
		s.mu.Unlock()
	}
	return unproven
}

// endSendersOf makes sure that no try of these leftovers can arrive any more.
func (s *session) endSendersOf(ctx context.Context, due []leftover) error {
	if !slices.ContainsFunc(due, func(d leftover) bool { return d.late }) {
		return nil
	}
	err := s.endOldConnections(ctx) // which also ends the commands still being sent
	for _, d := range due {
		if d.sending == nil {
			continue
		}
		select {
		case <-d.sending:
			err = s.endOldConnections(ctx) // the command may have been sent on a new connection
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", errUnproven, context.Cause(ctx))
		}
	}
	if err != nil && !errors.Is(err, errUnproven) {
		err = fmt.Errorf("%w: %w", errUnproven, err)
	}
	return err
}

// release runs the release script once.
func (s *session) release(ctx context.Context, key, nonce string) error {
	_, err := s.script(ctx, callTimeout(s.ttl), releaseScript, key, nonce)
	return err
}
