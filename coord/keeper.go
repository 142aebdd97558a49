package coord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"coordtop/internal/backoff"
	"coordtop/internal/spawn"
)

// longestSleep is the longest that a keeper sleeps. Timers stand still while the machine is
// suspended; a short one sees soon after it that trust is over.
const longestSleep = time.Second

// keeper keeps what is renewed as one (a session or a grant): it renews it in time,
// ends its context when trust ends, and knows the truth at any instant. Where
// somebody else renews (renewer is nil) it only waits for the driver's Done.
type keeper struct {
	clock   clock
	o       SessionOptions
	renewer Renewer
	done    <-chan struct{} // the driver reports that it is over
	why     func() error    // after done
	wrap    func(op string, err error) error
	health  *health

	ctx      context.Context // the life of what is kept; its cause says why it ended
	cancel   context.CancelCauseFunc
	asking   sync.WaitGroup // the renewal under way
	renewNow chan struct{}  // holds one element while somebody wants a renewal before it is due

	mu    sync.Mutex
	trust trust
	last  error // why the last renewal failed; nil after a confirmed one
}

// check is nil while we may rely on it. When it turns out that we may not, check ends
// it: from then on it says the same for ever.
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
	case <-k.done: // run has not noticed yet
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
		// As text: whatever went wrong on the way, the cause is that time ran out.
		err = fmt.Errorf("%w, last answer: %v", err, k.last)
	}
	return k.wrap("renew", err)
}

// trusted is the trust as of the last answer. It may be over.
func (k *keeper) trusted() trust {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.trust
}

// run returns when the context has ended and no goroutine of the keeper is left. After a
// panic nothing that is known here can be trusted, so that is the end too.
func (k *keeper) run() {
	defer k.health.left(k)
	defer k.asking.Wait() // for a renewal whose context has ended: its answer comes too late
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

// endCause is the cause when the driver reports that it is over.
func (k *keeper) endCause() error {
	return k.wrap("keep", Lost(cmp.Or(k.why(), ErrLost)))
}

// renewal is the part of a keeper that asks the service. Its goroutine is the keeper's,
// except for the one request under way, so that a request that hangs delays nothing.
type renewal struct {
	k       *keeper
	answers chan answer
	running bool    // a request is under way
	sent    instant // when that was sent
	late    bool    // and that it is late has been reported
	backoff *backoff.Backoff
	rest    time.Duration // no request before this long after rested
	rested  instant
	pacing  // of the requests that Confirm asks for
}

type answer struct {
	window Window
	err    error
	before instant
}

func newRenewal(k *keeper) *renewal {
	valid := k.trust.valid
	return &renewal{k: k, answers: make(chan answer, 1), backoff: renewPolicy(valid).Start(), pacing: newPacing(valid)}
}

// renewPolicy paces the tries within one window: quick at first, as most failures
// pass, and never so slow that the window ends between two tries.
func renewPolicy(valid time.Duration) backoff.Policy {
	return backoff.Policy{Min: min(100*time.Millisecond, valid/32), Max: valid / 16}
}

// wake is how long the keeper may sleep.
func (r *renewal) wake() time.Duration {
	t, now := r.k.trusted(), r.k.clock.now()
	d := min(t.left(now), longestSleep)
	switch {
	case !r.running:
		d = min(d, r.dueIn(t, now))
	case !r.late:
		d = min(d, r.lateIn(t, now))
	}
	return max(d, 0)
}

// lateIn is when the request under way counts as late: an eighth of the window, which
// is a small part of the time it has.
func (r *renewal) lateIn(t trust, now instant) time.Duration { return t.valid/8 - now.since(r.sent) }

func (r *renewal) dueIn(t trust, now instant) time.Duration {
	due := t.due(now)
	if r.urged {
		due = min(due, r.left(now))
	}
	return max(due, r.rest-now.since(r.rested))
}

// act does what it is time for.
func (r *renewal) act() {
	t, now := r.k.trusted(), r.k.clock.now()
	switch {
	case !r.running && r.dueIn(t, now) <= 0:
		r.start(t, now)
	case r.running && !r.late && r.lateIn(t, now) <= 0:
		r.late = true
		r.k.health.failed(r.k, errLate)
	}
}

var errLate = errors.New("no answer yet to a renewal")

// start sends a renewal. Each try gets half of the time that is left, so that one request
// lost on the way leaves room for others, but never so little that a slow service could
// not answer.
func (r *renewal) start(t trust, before instant) {
	r.running, r.late, r.sent = true, false, before
	r.pacing.sent(before)
	try, cancel := context.WithTimeout(r.k.ctx, max(t.left(before)/2, t.valid/16))
	spawn.Go(r.k.ctx, &r.k.asking, func() { // joined by run
		defer cancel()
		var w Window
		err := spawn.Call(try, func() (err error) {
			w, err = r.k.renewer.Renew(try)
			return err
		})
		r.answers <- answer{window: w, err: err, before: before}
	})
}

func (r *renewal) handle(a answer) {
	r.running = false
	err := a.err
	if err == nil {
		err = r.k.accept(a)
	}
	if err != nil {
		r.k.refuse(err)
	}
	if r.k.ctx.Err() != nil {
		return
	}
	// There is a pause after good answers too: a window that is due for renewal the
	// moment it arrives must not make us ask without end.
	r.rest, r.rested = r.backoff.Next(), r.k.clock.now()
	if err != nil {
		r.k.health.failed(r.k, err)
		return
	}
	r.backoff.Reset()
	r.k.health.confirmed(r.k)
}

// accept replaces trust by that of an answer. An answer that arrives when trust is
// over changes nothing, however good its news are: others may rely on the end already.
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
		return nil // an older answer proves less than we know
	}
	k.trust, k.last = t, nil
	k.checkLocked() // the answer may have taken longer than its window lasts
	return nil
}

// refuse takes note of a renewal that failed: with a verdict of the service it is the
// end, and with a panic, which leaves the driver in no known state; anything else may pass.
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
