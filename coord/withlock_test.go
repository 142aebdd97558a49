package coord_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

func TestWorkUnderALockReturnsTheErrorThatMatters(t *testing.T) {
	t.Parallel()
	own, releasing := errors.New("own"), errors.New("releasing")
	fails := func(err error) func(context.Context) (coord.Window, error) {
		return func(context.Context) (coord.Window, error) { return coord.Window{}, err }
	}
	for name, c := range map[string]struct {
		f       func(ctx context.Context, l *coord.Lease) error
		renew   func(context.Context) (coord.Window, error) // once f runs
		release error
		want    []error
	}{
		"done":            {f: func(context.Context, *coord.Lease) error { return nil }},
		"its own error":   {f: func(context.Context, *coord.Lease) error { return own }, release: releasing, want: []error{own}},
		"releasing fails": {f: func(context.Context, *coord.Lease) error { return nil }, release: releasing, want: []error{releasing}},
		"f releases":      {f: func(ctx context.Context, l *coord.Lease) error { return l.Release(ctx) }},
		"lost": {f: func(ctx context.Context, _ *coord.Lease) error {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), coord.ErrLost) {
				return fmt.Errorf("the cause is %w", context.Cause(ctx))
			}
			return nil
		}, renew: fails(coord.ErrLost), want: []error{coord.ErrLost}},
		"expired": {f: func(ctx context.Context, _ *coord.Lease) error { <-ctx.Done(); return ctx.Err() },
			renew: fails(own), want: []error{context.Canceled, coord.ErrExpired}},
		"expired, unnoticed": {f: func(_ context.Context, l *coord.Lease) error { time.Sleep(2 * ttl); return nil },
			renew: fails(own), want: []error{coord.ErrExpired}},
		"lost, and its own error": {f: func(ctx context.Context, _ *coord.Lease) error { <-ctx.Done(); return own },
			renew: fails(coord.ErrLost), want: []error{own, coord.ErrLost}},
	} {
		for shape, d := range stubs() {
			t.Run(name+", "+shape, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					d.onRelease(func(context.Context) error { return c.release })
					err := coord.WithLock(t.Context(), d, options(), "job", coord.MutexOptions{}, func(ctx context.Context, l *coord.Lease) error {
						d.onRenew(c.renew)
						return c.f(ctx, l)
					})
					for _, want := range c.want {
						if !errors.Is(err, want) {
							t.Errorf("%v, want %v", err, want)
						}
					}
					if c.want == nil && err != nil {
						t.Error(err)
					}
					if d.sessionsClosed.Load() != 1 {
						t.Error("the session was left open")
					}
				})
			})
		}
	}
}

func TestWorkUnderALockOwnsItAndLeavesNothing(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		d := w.mem.NewDriver(nil)
		ctx, cancel := context.WithCancel(w.Context())
		work := func(ctx context.Context, l *coord.Lease) error {
			if l.Check() != nil || !w.owned("job") {
				w.Error("it works without the mutex")
			}
			cancel()
			<-ctx.Done()
			return nil
		}
		w.want("the end of ctx alone", coord.WithLock(ctx, d, options(), "job", coord.MutexOptions{}, work), nil)
		if w.owned("job") {
			w.Error("the mutex was not released")
		}
		func() {
			defer func() { _ = recover() }()
			_ = coord.WithLock(w.Context(), d, options(), "job", coord.MutexOptions{}, func(context.Context, *coord.Lease) error { panic("its own") })
		}()
		if w.owned("job") {
			w.Error("a panic kept the mutex")
		}
		w.lock(w.s, "job")
		w.want("taken for too long", coord.WithLock(w.Context(), d, options(), "job", coord.MutexOptions{Wait: time.Second}, work), coord.ErrNotAcquired)
	})
}

func TestWorkUnderPermitsOwnsThem(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		o := coord.SemaphoreOptions{Limit: 3, Wait: time.Second}
		_ = w.s.Semaphore("pool", o).Create(w.Context(), 3, nil) // where semaphores must be created
		with := func(n uint64, f func(context.Context, *coord.Lease) error) error {
			return coord.WithPermits(w.Context(), w.mem.NewDriver(nil), options(), "pool", o, n, f)
		}
		w.want("two of three, then two more", with(2, func(context.Context, *coord.Lease) error {
			if got := w.mem.Owners(coord.KindSemaphore, "pool"); len(got) != 1 || got[0].Permits != 2 {
				w.Errorf("owners %+v, want one with 2 permits", got)
			}
			return with(2, nil)
		}), coord.ErrNotAcquired)
		if got := w.mem.Owners(coord.KindSemaphore, "pool"); len(got) > 0 {
			w.Errorf("owners %+v, want none", got)
		}
	})
}

func TestALeaseKnowsTheLengthOfItsWindow(t *testing.T) {
	t.Parallel()
	for _, shape := range []coordtest.Shape{coordtest.SessionRenews, coordtest.GrantRenews} {
		inShape(t, shape, func(w *world) {
			if got := w.lock(w.s, "job").Valid(); got != ttl {
				w.Errorf("%v: %v, want the TTL, %v", shape, got, ttl)
			}
		})
	}
}
