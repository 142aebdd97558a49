package coord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"coordtop/internal/ground/spawn"
)

// longestSleep bounds each sleep of a keeper. Timers stop while the machine is suspended; with a short timer the keeper
// soon notices afterwards that trust is over.
const longestSleep = time.Second

// keeper keeps a session or a grant: it renews it in time, ends its context when trust ends, and can check its trust at
// any instant. renewer is nil if something else renews it: the session for a grant, or each grant for itself. Then the
// keeper only waits for the driver's Done.
type keeper struct {
	clock   clock
	o       SessionOptions
	renewer Renewer
	done    <-chan struct{} // closed when the driver reports the end
	why     func() error    // returns the reason, after done
	wrap    func(op string, err error) error
	health  *health

	ctx      context.Context // the life of the session or lease, with the cause of its end
	cancel   context.CancelCauseFunc
	asking   sync.WaitGroup // waits for the renewal under way
	renewNow chan struct{}  // holds one element while a renewal is wanted before it is due

	mu    sync.Mutex
	trust trust
	last  error // error of the last renewal; nil after success

	confirmed chan struct{} // closed at the next confirmation; nil: nobody waits for it
}

// check returns nil while we may rely on the session or grant. After that, check ends the session or grant, and always
// returns the same error.
func (k *keeper) check() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.checkLocked()
}

func (k *keeper) checkLocked() error {
	if k.ctx.Err() != nil {
		return context.Cause(k.ctx)
	}
	select {
	case <-k.done: // run has not noticed the end yet
		k.cancel(k.endCause())
	default:
		if k.renewer != nil && k.trust.over(k.clock.now()) {
			k.cancel(k.expiredLocked())
		}
	}
	return context.Cause(k.ctx)
}

func (k *keeper) expiredLocked() error {
	err := fmt.Errorf("%w: not confirmed for %v", ErrExpired, k.trust.valid-k.trust.margin)
	if k.last != nil {
		// The last error is kept as text only, because the cause of the end is the time.
		err = fmt.Errorf("%w, last answer: %v", err, k.last)
	}
	return k.wrap("renew", err)
}

// trusted returns the trust from the last answer, which may be over.
func (k *keeper) trusted() trust {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.trust
}

// nextConfirmation returns a channel that is closed when trust is confirmed the next time.
func (k *keeper) nextConfirmation() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.confirmed == nil {
		k.confirmed = make(chan struct{})
	}
	return k.confirmed
}

// run returns when the context has ended and no goroutine of the keeper is left. A panic also ends the context, because
// the state of the keeper cannot be trusted after it.
func (k *keeper) run() {
	defer k.health.left(k)
	defer k.asking.Wait() // a renewal whose context has ended; its answer is ignored
	if err := spawn.Call(k.ctx, k.keep); err != nil {
		k.cancel(k.wrap("keep", fmt.Errorf("%w: %w", ErrLost, err)))
	}
}

// keep returns when the context has ended.
func (k *keeper) keep() error {
	if k.renewer == nil {
		select {
		case <-k.ctx.Done():
		case <-k.done:
			k.cancel(k.endCause())
		}
		return nil
	}
	r := newRenewal(k)
	timer := time.NewTimer(r.wake())
	defer timer.Stop()
	for {
		select {
		case <-k.ctx.Done():
			return nil
		case <-k.done:
			k.cancel(k.endCause())
		case a := <-r.answers:
			r.handle(a)
		case <-k.renewNow:
			r.urge()
		case <-timer.C:
			if k.check() == nil {
				r.act()
			}
		}
		timer.Reset(r.wake())
	}
}

// endCause returns the cause after the driver has reported the end.
func (k *keeper) endCause() error {
	return k.wrap("keep", Lost(cmp.Or(k.why(), ErrLost)))
}

var errLate = errors.New("no answer yet to a renewal")

// accept replaces the trust with that of an answer. An answer that arrives when trust is over changes nothing, because
// others may rely on the end already.
func (k *keeper) accept(a answer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.checkLocked() != nil {
		return nil
	}
	t, err := trustIn(a.window, a.before, k.trust, k.o)
	if err != nil {
		return err
	}
	if t.asked.at.Before(k.trust.asked.at) {
		return nil // an older answer gives less trust
	}
	k.trust, k.last = t, nil
	if k.confirmed != nil {
		close(k.confirmed)
		k.confirmed = nil
	}
	k.checkLocked() // the answer may have taken longer than its window lasts
	return nil
}

// refuse notes a renewal that failed. A final error ends the session or grant, and so does a panic, after which the
// state of the driver is not known. Any other error may pass.
func (k *keeper) refuse(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.checkLocked() != nil:
	case verdict(err):
		k.cancel(k.wrap("renew", err))
	case errors.Is(err, spawn.ErrPanic):
		k.cancel(k.wrap("renew", fmt.Errorf("%w: %w", ErrLost, err)))
	default:
		k.last = err
	}
}
