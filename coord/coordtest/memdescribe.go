package coordtest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/backoff"
)

func (s *memSession) Describe(ctx context.Context, kind coord.Kind, name string) (coord.Description, error) {
	var d coord.Description
	err := s.call(ctx, VerbDescribe, nil, func(context.Context) (err error) {
		d, _, err = s.m.describe(itemKey{kind, name})
		return err
	})
	if err != nil {
		return coord.Description{}, fmt.Errorf("describing: %w", err)
	}
	return d, nil
}

func (s *memSession) Watch(ctx context.Context, kind coord.Kind, name string) iter.Seq2[coord.Description, error] {
	return func(yield func(coord.Description, error) bool) {
		var last *coord.Description
		retry := backoff.Policy{}.Start()
		for {
			var d coord.Description
			var changed <-chan struct{}
			err := s.call(ctx, VerbWatch, nil, func(context.Context) (err error) {
				d, changed, err = s.m.describe(itemKey{kind, name})
				return err
			})
			switch {
			case ctx.Err() != nil || s.ctx.Err() != nil:
				return
			case final(err):
				yield(coord.Description{}, fmt.Errorf("watching: %w", err))
				return
			case err != nil:
				if s.pause(ctx, retry.Next()) != nil {
					return
				}
				continue
			}
			retry.Reset()
			if last == nil || !reflect.DeepEqual(*last, d) {
				last = &d
				if !yield(d, nil) {
					return
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			case <-s.Done():
				return
			}
		}
	}
}

func (s *renewingSession) Enqueue(ctx context.Context, c coord.Claim) (coord.Place, error) {
	if err := s.check(c); err != nil {
		return nil, err
	}
	h := s.ask(c)
	p := &memPlace{s: s.memSession, g: s.grant(h, s.ttl), start: time.Now(), wait: c.Wait}
	err := s.call(ctx, VerbEnqueue, nil, func(context.Context) (err error) {
		p.e, err = s.m.claim(h, c, s.ttl, true, p.g.end)
		return err
	})
	if err == nil {
		return p, nil
	}
	p.g.end(coord.ErrReleased)
	s.clear(ctx, h, err)
	return nil, fmt.Errorf("enqueueing: %w", err)
}

// memPlace is a place in the service's queue.
type memPlace struct {
	s     *memSession
	g     *memGrant
	e     *entry
	start time.Time
	wait  time.Duration

	mu   sync.Mutex
	gone bool // left, run out, or granted
}

var _ coord.Place = (*memPlace)(nil)

// Wait implements coord.Place. A claim whose Wait is 0 waits without limit, because a place in the queue is only taken
// to wait.
func (p *memPlace) Wait(ctx context.Context) (coord.Grant, bool, error) {
	wait := coord.Forever
	if p.wait > 0 {
		wait = max(time.Until(p.start.Add(p.wait)), 1)
	}
	err := p.s.call(ctx, VerbWait, nil, func(ctx context.Context) error { return p.s.m.await(ctx, p.e, coord.Claim{Wait: wait}) })
	if err != nil && !final(err) && !errors.Is(err, errWaitOver) {
		return nil, false, fmt.Errorf("waiting in the queue: %w", err) // the place is kept
	}
	if !p.leave() {
		return nil, false, fmt.Errorf("waiting in the queue: %w", coord.ErrReleased)
	}
	return p.s.conclude(ctx, p.g, p.e, err)
}

func (p *memPlace) Leave(ctx context.Context) error {
	if !p.leave() {
		return nil
	}
	p.g.end(fmt.Errorf("place: %w", coord.ErrReleased))
	err := p.s.call(ctx, VerbLeave, nil, func(context.Context) error { p.s.m.withdraw(p.g.handle); return nil })
	if err != nil {
		p.s.owe(p.g.handle)
		return fmt.Errorf("leaving the queue: %w", err)
	}
	return nil
}

// leave marks the place as gone and reports whether it was not gone before.
func (p *memPlace) leave() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.gone
	p.gone = true
	return first
}

func (s *renewingSession) Create(ctx context.Context, name string, limit uint64, data []byte) error {
	return s.provision(ctx, VerbCreate, name, func(it *item, _ time.Time) error {
		if it.exists {
			return fmt.Errorf("semaphore %q exists already: %w", name, coord.ErrRefused)
		}
		it.exists, it.ephemeral, it.limit, it.data = true, false, limit, slices.Clone(data)
		it.changedLocked()
		return nil
	})
}

func (s *renewingSession) Update(ctx context.Context, name string, data []byte) error {
	return s.provision(ctx, VerbUpdate, name, func(it *item, _ time.Time) error {
		if !it.exists {
			return noSemaphore(name)
		}
		it.data = slices.Clone(data)
		it.changedLocked()
		return nil
	})
}

func (s *renewingSession) Delete(ctx context.Context, name string, force bool) error {
	return s.provision(ctx, VerbDelete, name, func(it *item, now time.Time) error {
		switch {
		case !it.exists:
			return noSemaphore(name)
		case !force && len(it.owners)+len(it.queue) > 0:
			return fmt.Errorf("semaphore %q is in use: %w", name, coord.ErrRefused)
		}
		waiters, owners := slices.Clone(it.queue), slices.Clone(it.owners)
		for _, e := range waiters { // before the owners, so that no waiter is served
			s.m.endLocked(e, now, coord.ErrNotFound)
		}
		for _, e := range owners {
			s.m.endLocked(e, now, coord.ErrLost)
		}
		it.vanishLocked()
		return nil
	})
}

// provision sends a request about a semaphore itself.
func (s *renewingSession) provision(ctx context.Context, v Verb, name string, do func(it *item, now time.Time) error) error {
	err := s.call(ctx, v, nil, func(context.Context) error {
		return s.m.try(func(now time.Time) error { return do(s.m.itemLocked(itemKey{coord.KindSemaphore, name}), now) })
	})
	if err != nil {
		return fmt.Errorf("asking to %s the semaphore: %w", v, err)
	}
	return nil
}
