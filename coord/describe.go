package coord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"time"

	"coordtop/internal/ground/backoff"
)

// pollEvery is the pause between two reads if the service does not report changes and the options set no other pause.
const pollEvery = time.Second

func (s *Session) describe(ctx context.Context, kind Kind, name string) (Description, error) {
	d, err := s.describeUnwrapped(ctx, kind, name)
	return d, s.claimError("describe", Claim{Kind: kind, Name: name}, err)
}

// describeUnwrapped does the same as describe without wrapping its errors.
func (s *Session) describeUnwrapped(ctx context.Context, kind Kind, name string) (Description, error) {
	if err := s.over(); err != nil {
		return Description{}, err
	}
	r, ok := s.ds.(Describer)
	if !ok {
		return Description{}, fmt.Errorf("looking at it: %w", ErrUnsupported)
	}
	both, cancel := s.under(ctx)
	defer cancel()
	d, err := r.Describe(both, kind, name)
	if kind == KindElection && errors.Is(err, ErrNotFound) {
		d, err = Description{Kind: kind, Name: name}, nil // an election that does not exist has no leader
	}
	if err != nil {
		return Description{}, withCause(ctx, s.keeper.ctx, err)
	}
	s.health.confirmed(nil)
	return d, nil
}

// watch implements Semaphore.Watch for any kind.
func (s *Session) watch(ctx context.Context, kind Kind, name string, every time.Duration) iter.Seq2[Description, error] {
	return func(yield func(Description, error) bool) {
		both, cancel := s.under(ctx)
		defer cancel()
		for d, err := range s.follow(both, kind, name, every) {
			if err != nil && isTransient(err) {
				continue
			}
			if err != nil {
				yield(Description{}, s.claimError("watch", Claim{Kind: kind, Name: name}, err))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// transient wraps the error of a read that will be repeated.
type transient struct{ error }

func (g transient) Unwrap() error { return g.error }

func isTransient(err error) bool {
	_, ok := errors.AsType[transient](err)
	return ok
}

// follow yields each state that differs from the one before. It uses the service's notices if there are any, else it
// reads once every period. A read that fails and is repeated yields a transient error; any other error ends the
// sequence. The sequence also ends when ctx does; the caller passes a ctx that ends with the session.
func (s *Session) follow(ctx context.Context, kind Kind, name string, every time.Duration) iter.Seq2[Description, error] {
	if w, ok := s.ds.(Watcher); ok {
		return w.Watch(ctx, kind, name)
	}
	every = cmp.Or(max(every, 0), pollEvery)
	return func(yield func(Description, error) bool) {
		pause := backoff.Policy{Min: every, Max: max(every, 5*time.Second)}.Start()
		var last Description
		for first := true; ; {
			d, err := s.describeUnwrapped(ctx, kind, name)
			if ctx.Err() != nil || s.over() != nil { // ctx may end a moment after the session
				return
			}
			rest := every
			switch {
			case err != nil && (hopeless(err) || errors.Is(err, ErrNotFound)):
				yield(Description{}, err)
				return
			case err != nil:
				if !yield(Description{}, transient{err}) {
					return
				}
				first, rest = true, pause.Next() // after a transient error yield the state even if it has not changed
			default:
				pause.Reset()
				if (first || !reflect.DeepEqual(d, last)) && !yield(d, nil) {
					return
				}
				first, last = false, d
			}
			if backoff.Sleep(ctx, rest) != nil {
				return
			}
		}
	}
}
