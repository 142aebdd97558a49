package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// sayAgain is the least time between two reports of the same reason why a claim makes no progress.
const sayAgain = time.Minute

// wait obtains the lease of a run, with as many sessions as that takes, because a waiting claim survives passing errors
// (coord.Passing). It belongs to the run's goroutine, except the method trouble, which sessions call.
type wait struct {
	o       *Operator
	n       *run
	h       *holding
	b       *Backend
	session *coord.Session // nil: none is open
	said    map[string]time.Time
	unknown string    // why the lease may be ours after the last session
	until   time.Time // from when on it is surely not ours any more
}

// obtain claims until it gets a lease, a miss (neither lease nor error) or an error that is not passing. If it returns
// no lease, it has ended the session.
func (w *wait) obtain() (*coord.Lease, *coord.Term, error) {
	began, pauses := time.Now(), backoff.Policy(retries(w.n.Request.Session)).Start()
	for r := w.n.Request; ; {
		lease, term, err := w.claim(r)
		if lease != nil {
			return lease, term, nil
		}
		_ = w.leave() // leave stores its error for doubt
		if err == nil || r.Verb == action.Try || !coord.Passing(err) || errors.Is(err, coord.ErrNotAcquired) || w.n.ctx.Err() != nil {
			return nil, nil, err
		}
		pause := pauses.Next()
		if total := w.n.Request.Wait; total > 0 {
			r.Wait = total - time.Since(began) - pause
			if r.Wait <= 0 {
				return nil, nil, fmt.Errorf("%w: %w", coord.ErrNotAcquired, outage{err})
			}
		}
		w.trouble(coord.Trouble{Err: err, Pause: pause})
		if backoff.Sleep(w.n.ctx, pause) != nil {
			return nil, nil, err
		}
	}
}

// outage is the passing error that a claim had when the time of its wait ended.
type outage struct{ error }

// claim opens a session and claims in it.
func (w *wait) claim(r action.Request) (lease *coord.Lease, term *coord.Term, err error) {
	if err := w.open(r.Wait); err != nil {
		return nil, nil, err
	}
	// Close ends the session itself, which bounds everything that is under way.
	session := w.session
	defer spawn.OnDone(w.o.life, func() { _ = w.o.leaveSession(session, w.h) })() // leave returns the error
	err = w.n.ask(func() error {
		if r.Proceed != nil {
			lease, err = w.enqueue(session, r)
		} else {
			lease, term, err = claim(w.n.ctx, session, r, w.h.data)
		}
		return err
	})
	return lease, term, err
}

// open opens the session of the claim. left is the rest of the wait, which bounds it; 0: the wait has no end.
func (w *wait) open(left time.Duration) error {
	within := cmp.Or(w.n.Request.Session.StartTimeout, openWithin)
	if left > 0 {
		within = min(within, left)
	}
	session, err := w.n.session(w.b, within, w.trouble)
	if err != nil {
		return err
	}
	w.session = session
	w.o.mu.Lock()
	w.h.session, w.h.runsOut = session, w.b.RunsOut
	w.h.data = w.b.data(w.n.Request)
	w.o.mu.Unlock()
	if w.n.Request.Verb != action.Try {
		w.n.reach(action.Waiting, "")
	}
	return nil
}

// session opens a session for a run within the time within. Waiting claims of the session call trouble, which may be
// nil.
func (n *run) session(b *Backend, within time.Duration, trouble func(coord.Trouble)) (*coord.Session, error) {
	ctx, cancel := context.WithTimeout(n.ctx, within)
	defer cancel()
	driver, err := n.op.drivers.of(ctx, n.Request.Target.Ref)
	if err != nil {
		return nil, err
	}
	o, err := b.SessionOptions(n.Request.Session)
	if err != nil {
		return nil, err
	}
	o.OnTrouble = trouble
	return coord.Open(ctx, driver, o)
}

// leave ends the session, if one is open. If the lease may still be ours then, it stores the reason for doubt.
func (w *wait) leave() error {
	if w.session == nil {
		return nil
	}
	err := w.o.leaveSession(w.session, w.h)
	w.session = nil
	w.o.mu.Lock()
	w.h.session = nil
	w.o.mu.Unlock()
	if errors.Is(err, coord.ErrUncertain) {
		w.unknown, w.until = sentence(err), time.Now().Add(time.Duration(max(w.b.Doubts, 1))*w.b.lease(w.n.Request))
	}
	return err
}

// doubt returns the reason why the lease may be ours at the service although we did not get it; "" if it is not ours.
func (w *wait) doubt() string {
	if !time.Now().Before(w.until) {
		return ""
	}
	return w.unknown
}

// trouble reports the reason why the claim makes no progress, once for as long as the reason lasts, and reports when
// the claim waits normally again. It may be called from any goroutine.
func (w *wait) trouble(t coord.Trouble) {
	w.o.mu.Lock()
	w.h.place, w.h.told = t.Place, time.Now()
	w.o.placesLocked()
	w.o.mu.Unlock()
	if t.Err == nil {
		w.n.reach(action.Waiting, "")
		return
	}
	text := action.StillWaiting + ": " + clean(sentence(t.Err))
	w.n.reach(action.Waiting, text)
	w.o.mu.Lock()
	now := w.o.options.Now()
	again := now.Sub(w.said[text]) < sayAgain
	if !again {
		w.said[text] = now
	}
	w.o.mu.Unlock()
	if !again {
		w.n.note(text)
	}
}

// note adds an event about a run to the Hub.
func (n *run) note(text string) {
	target := n.Request.Target
	n.op.view.AddEvent(sources.Event{
		Kind: sources.EventAction, RefKind: target.Kind, How: sources.Ours, Ref: target.Ref,
		Detail: action.Account{Verb: n.Request.Verb.String(), Who: n.op.options.Audit.actor.String(), Reason: n.Request.Reason, Result: text}.String(),
	})
}

// sentence returns the text of an error for people: its own sentence if it has one, otherwise its text without the
// operation of package coord.
func sentence(err error) string {
	var plain interface{ Sentence() string }
	if errors.As(err, &plain) {
		return plain.Sentence()
	}
	if at, ok := errors.AsType[*coord.Error](err); ok {
		return at.Err.Error()
	}
	return err.Error()
}

// claim claims the target of the request. After a try that missed it returns no lease and no error.
func claim(
	ctx context.Context, s *coord.Session, r action.Request, data []byte,
) (lease *coord.Lease, term *coord.Term, err error) {
	name, try := r.Target.Ref.Name, r.Verb == action.Try
	switch r.Target.Kind {
	case sources.KindElection:
		e := s.Election(name, coord.ElectionOptions{Wait: r.Wait})
		if try {
			term, _, err = e.TryCampaign(ctx, data)
		} else {
			term, err = e.Campaign(ctx, data)
		}
		if term != nil {
			lease = term.Lease()
		}
	case sources.KindSemaphore:
		m := semaphore(s, r, data)
		if try {
			lease, _, err = m.TryAcquire(ctx, r.Permits)
		} else {
			lease, err = m.Acquire(ctx, r.Permits)
		}
	default:
		m := mutex(s, r, data)
		if try {
			lease, _, err = m.TryLock(ctx)
		} else {
			lease, err = m.Lock(ctx)
		}
	}
	return lease, term, err
}

func semaphore(s *coord.Session, r action.Request, data []byte) *coord.Semaphore {
	return s.Semaphore(r.Target.Ref.Name, coord.SemaphoreOptions{Limit: r.Limit, Ephemeral: r.Ephemeral, Data: data, Wait: r.Wait})
}

func mutex(s *coord.Session, r action.Request, data []byte) *coord.Mutex {
	return s.Mutex(r.Target.Ref.Name, coord.MutexOptions{Mode: r.Mode, Data: data, Wait: r.Wait})
}
