package coord

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"coordtop/internal/ground/backoff"
)

// persist repeats a claim until it gets a lease, a miss, or an error that does not pass. It pauses after each error
// that may pass; the pause grows, with jitter. c.Wait bounds the repeating. A try (no Wait) is sent once.
func (s *Session) persist(ctx context.Context, mine *claim, c Claim) (*Lease, bool, error) {
	w := &waiting{s: s, c: c, pauses: backoff.Policy(s.o.Retry).Start()}
	c.Waiting, c.Place = w.noteWaiting, w.notePlace
	began := s.clock.now()
	for wait := c.Wait; ; {
		l, ok, err := s.claimOnce(ctx, mine, c)
		if err == nil || wait == 0 || !Passing(err) || ctx.Err() != nil {
			return l, ok, err
		}
		pause := w.pause()
		if wait > 0 {
			left := wait - s.clock.now().since(began)
			if left <= pause {
				return nil, false, outOfTime(ctx, left, err)
			}
			c.Wait = left - pause
		}
		w.noteTrouble(err, pause)
		if backoff.Sleep(ctx, pause) != nil {
			return nil, false, err
		}
	}
}

// outOfTime waits for the rest of a claim's Wait, which is too short for another try.
func outOfTime(ctx context.Context, left time.Duration, err error) error {
	if backoff.Sleep(ctx, left) != nil || errors.Is(err, ErrUncertain) {
		return err
	}
	return fmt.Errorf("%w: %v", ErrNotAcquired, err) // err as text, because the reason is the time
}

// claimOnce asks the driver once and makes a lease of its grant.
func (s *Session) claimOnce(ctx context.Context, mine *claim, c Claim) (*Lease, bool, error) {
	before := s.clock.now()
	g, ok, err := s.ds.Acquire(ctx, c)
	if err == nil {
		s.health.confirmed(nil)
	}
	if err != nil || !ok {
		return nil, false, err
	}
	l, err := s.adopt(ctx, mine, g, before, c)
	return l, err == nil, err
}

// waiting reports what delays one waiting claim. It is safe for concurrent use.
type waiting struct {
	s *Session
	c Claim

	mu      sync.Mutex
	pauses  *backoff.Backoff
	trouble bool
}

// pause returns the pause before the claim is repeated.
func (w *waiting) pause() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pauses.Next()
}

// noteTrouble reports an error that may pass, after which the claim is repeated.
func (w *waiting) noteTrouble(err error, pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble = true
	w.notifyLocked(Trouble{Err: err, Pause: pause})
}

// noteWaiting reports that the claim waits as it should.
func (w *waiting) noteWaiting() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.c.Waiting != nil {
		w.c.Waiting()
	}
	if !w.trouble {
		return
	}
	w.trouble = false
	w.pauses.Reset()
	w.notifyLocked(Trouble{})
}

// notePlace reports the claim's place in the queue.
func (w *waiting) notePlace(atMost int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notifyLocked(Trouble{Place: atMost})
}

func (w *waiting) notifyLocked(t Trouble) {
	t.Kind, t.Name = w.c.Kind, w.c.Name
	w.s.o.noteTrouble(t)
}
