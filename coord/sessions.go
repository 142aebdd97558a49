package coord

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/suspend"
)

const (
	startTimeout = 10 * time.Second // SessionOptions.StartTimeout, unless set
	longLived    = 10 * time.Second // if no TTL is known, a session that lived this long was no failure
)

// Sessions yields an open session, and opens another when the body of the loop has returned. It closes the session when
// the body returns, breaks or panics, so the body should work until Session.Context ends.
//
// A try that fails is reported to OnState and repeated after a pause that grows with jitter (o.Retry). There is also a
// pause before each further session, unless the last one outlived its TTL. An error that will not pass (ErrRefused,
// ErrInvalid, ErrUnsupported) is yielded once, without a session, and ends the sequence. The sequence ends without an
// error when ctx does.
func Sessions(ctx context.Context, d Driver, o SessionOptions) iter.Seq2[*Session, error] {
	return sessions(ctx, d, o, clock{suspend.Slept})
}

func sessions(ctx context.Context, d Driver, o SessionOptions, c clock) iter.Seq2[*Session, error] {
	return func(yield func(*Session, error) bool) {
		t := newNotifier(ctx, o)
		defer t.flush()
		pause := backoff.Policy(o.Retry).Start()
		for ctx.Err() == nil {
			t.notify(StateChange{State: StateOpening})
			start, cancel := context.WithTimeout(ctx, cmp.Or(max(o.StartTimeout, 0), startTimeout))
			s, err := open(start, d, o, c, t)
			cancel()
			switch {
			case err == nil:
				outlived, again := turn(ctx, s, yield)
				if !again || ctx.Err() != nil {
					return
				}
				if outlived {
					pause.Reset()
					continue
				}
			case ctx.Err() != nil:
				t.notify(StateChange{State: StateEnded, Err: err})
				return
			case hopeless(err):
				t.notify(StateChange{State: StateEnded, Err: err})
				yield(nil, err)
				return
			}
			rest := pause.Next()
			t.notify(StateChange{State: StateOpening, Err: err, Retry: rest})
			if backoff.Sleep(ctx, rest) != nil {
				t.notify(StateChange{State: StateEnded, Err: ctx.Err()})
				return
			}
		}
	}
}

// turn runs the body of the loop with a session. outlived reports whether the session lived longer
// than its TTL; the time for which the body kept a session that had ended does not count.
func turn(ctx context.Context, s *Session, yield func(*Session, error) bool) (outlived, again bool) {
	defer func() {
		// If the service cannot be notified, grants expire there. The error is dropped, because opening the next
		// session shows it.
		_ = s.Close(ctx)
		outlived = s.lived() >= s.ttl()
	}()
	return false, yield(s, nil)
}

// ttl returns the TTL of the options, else that of the session's window, else longLived.
func (s *Session) ttl() time.Duration {
	if s.o.TTL > 0 {
		return s.o.TTL
	}
	if s.renews {
		return s.keeper.trusted().valid
	}
	return longLived
}

// WithSession opens a session, calls f with a context that ends with the session or with ctx, and closes the session
// when f has returned or panicked. It returns the error of opening; else that of f, joined with the cause if the
// session has ended; else that of closing.
func WithSession(ctx context.Context, d Driver, o SessionOptions, f func(context.Context, *Session) error) (err error) {
	s, err := Open(ctx, d, o)
	if err != nil {
		return err
	}
	under, cancel := s.under(ctx)
	defer cancel()
	defer func() {
		if e := s.Close(ctx); err == nil {
			err = e
		}
	}()
	if err = f(under, s); err != nil {
		err = joined(err, s.over())
	}
	return err
}

// joined returns err and the cause of an end, each once; either may be nil.
func joined(err, cause error) error {
	if err == nil || cause == nil {
		return cmp.Or(err, cause)
	}
	if errors.Is(err, cause) {
		return err
	}
	return errors.Join(err, cause)
}
