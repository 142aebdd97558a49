package coord_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
)

func TestGrantThatWaitedIsConfirmedOnceBeforeItIsALease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		waited   time.Duration
		renewals int64
	}{
		"granted at once":                  {0, 0},
		"granted before a renewal is due":  {3 * time.Second, 0},
		"granted when a renewal is due":    {4 * time.Second, 1},
		"granted when the window was over": {time.Hour, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := grantStub()
				d.acquire = func(context.Context, coord.Claim) (time.Time, bool, error) {
					asked := time.Now()
					time.Sleep(c.waited)
					return asked, true, nil
				}
				l := lockStub(t, openStub(t, d, options()), "job")
				if got := d.renewals.Load(); got != c.renewals {
					t.Errorf("%d renewals, want %d", got, c.renewals)
				}
				want := ttl - margin
				if c.renewals == 0 {
					want -= c.waited
				}
				if left := time.Until(l.TrustedUntil()); left != want {
					t.Errorf("trusted for %v, want %v", left, want)
				}
			})
		})
	}
}

func TestUnconfirmedGrantIsGivenBackAndItsNameIsFree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer error
		after  time.Duration // TryLock gives up
		want   error
	}{
		"the service has given it away":      {coord.ErrLost, 0, coord.ErrLost},
		"the service does not answer at all": {errors.New("cut"), ttl, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := grantStub()
				d.acquire = func(context.Context, coord.Claim) (time.Time, bool, error) {
					return time.Now().Add(-time.Hour), true, nil
				}
				d.onRenew(func(context.Context) (coord.Window, error) { return coord.Window{}, c.answer })
				s := openStub(t, d, options())
				start := time.Now()
				l, ok, err := mutex(s, "job").TryLock(t.Context())
				if l != nil || ok || !errors.Is(err, c.answer) {
					t.Fatalf("TryLock: %v, %v, %v", l, ok, err)
				}
				if took := time.Since(start); took != c.after {
					t.Errorf("took %v, want %v", took, c.after)
				}
				if d.releases.Load() != 1 {
					t.Error("the grant was not given back")
				}
				d.onRenew(nil)
				if _, err := mutex(s, "job").Lock(t.Context()); err != nil {
					t.Errorf("the name is not free: %v", err)
				}
			})
		})
	}
}

func TestGrantThatRacesTheCancelIsGivenBack(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				d.acquire = func(context.Context, coord.Claim) (time.Time, bool, error) {
					cancel()
					return time.Now(), true, nil
				}
				d.onRelease(func(ctx context.Context) error { return ctx.Err() })
				s := openStub(t, d, options())
				l, err := mutex(s, "job").Lock(ctx)
				if l != nil || !errors.Is(err, context.Canceled) {
					t.Errorf("Lock: %v, %v, want the context's error", l, err)
				}
				if d.releases.Load() != 1 || d.abandoned.Load() != 0 {
					t.Errorf("%d releases, %d failed", d.releases.Load(), d.abandoned.Load())
				}
				lockStub(t, s, "job") // its name is free
			})
		})
	}
}

func TestWindowFromThePastIsNotBelievedForTheFuture(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := grantStub()
		d.onRenew(func(context.Context) (coord.Window, error) { // answers only after the window it grants
			asked := time.Now()
			time.Sleep(ttl)
			return d.valid(asked), nil
		})
		d.acquire = func(context.Context, coord.Claim) (time.Time, bool, error) { return time.Now().Add(-ttl), true, nil }
		l, ok, err := mutex(openStub(t, d, options()), "job").TryLock(t.Context())
		if l != nil || ok || err == nil {
			t.Errorf("TryLock: %v, %v, %v, want an error: no answer came within its window", l, ok, err)
		}
	})
}

func TestConfirmationThatCameTooLateIsAskedForAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := grantStub()
		var slow atomic.Bool
		slow.Store(true)
		d.onRenew(func(context.Context) (coord.Window, error) {
			asked := time.Now()
			if slow.Swap(false) {
				time.Sleep(ttl - margin)
			}
			return d.valid(asked), nil
		})
		d.acquire = func(context.Context, coord.Claim) (time.Time, bool, error) { return time.Now().Add(-ttl), true, nil }
		l := lockStub(t, openStub(t, d, options()), "job")
		if d.renewals.Load() != 2 || time.Until(l.TrustedUntil()) != ttl-margin {
			t.Errorf("%d renewals, trusted for %v", d.renewals.Load(), time.Until(l.TrustedUntil()))
		}
	})
}

func TestLockGivesUpWhenItsWaitRunsOut(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		w.lock(w.rival(), "job")
		start := time.Now()
		l, err := w.s.Mutex("job", coord.MutexOptions{Wait: 3 * time.Second}).Lock(w.Context())
		w.want("Lock", err, coord.ErrNotAcquired)
		if l != nil || time.Since(start) != 3*time.Second {
			w.Errorf("%v after %v", l, time.Since(start))
		}
	})
}

func TestClaimsThatCannotBeGrantedAreNotSent(t *testing.T) {
	t.Parallel()
	d := grantStub()
	d.acquire = func(_ context.Context, c coord.Claim) (time.Time, bool, error) {
		t.Errorf("sent: %+v", c)
		return time.Time{}, false, nil
	}
	s := openStub(t, d, options())
	lock := func(name string, o coord.MutexOptions) error {
		_, err := s.Mutex(name, o).Lock(t.Context())
		return err
	}
	for what, c := range map[string]struct{ err, want error }{
		"no name":           {lock("", coord.MutexOptions{}), coord.ErrInvalid},
		"too much data":     {lock("a", coord.MutexOptions{Data: make([]byte, 11)}), coord.ErrDataTooLong},
		"shared":            {lock("a", coord.MutexOptions{Mode: coord.Shared}), coord.ErrUnsupported},
		"negative TTL":      {lock("a", coord.MutexOptions{TTL: -1}), coord.ErrInvalid},
		"negative wait":     {lock("a", coord.MutexOptions{Wait: -2}), coord.ErrInvalid},
		"TTL without room":  {lock("a", coord.MutexOptions{TTL: margin}), coord.ErrInvalid},
		"no such primitive": {second(s.Semaphore("a", coord.SemaphoreOptions{}).Acquire(t.Context(), 1)), coord.ErrUnsupported},
		"no queue":          {second(s.Semaphore("a", coord.SemaphoreOptions{}).Enqueue(t.Context(), 1)), coord.ErrUnsupported},
		"no mutex queue":    {second(s.Mutex("a", coord.MutexOptions{}).Enqueue(t.Context())), coord.ErrUnsupported},
		"no provisioning":   {s.Semaphore("a", coord.SemaphoreOptions{}).Create(t.Context(), 1, nil), coord.ErrUnsupported},
		"no looking":        {second(s.Semaphore("a", coord.SemaphoreOptions{}).Describe(t.Context())), coord.ErrUnsupported},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", what, c.err, c.want)
		}
		var at *coord.Error
		if !errors.As(c.err, &at) || at.Driver != "stub" {
			t.Errorf("%s: %v does not say where", what, c.err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestTryThatWasCutShortIsAnError(t *testing.T) {
	t.Parallel()
	d := grantStub()
	ctx, cancel := context.WithCancel(t.Context())
	d.acquire = func(context.Context, coord.Claim) (time.Time, bool, error) {
		cancel()
		return time.Time{}, false, nil
	}
	_, ok, err := mutex(openStub(t, d, options()), "job").TryLock(ctx)
	if ok || !errors.Is(err, context.Canceled) {
		t.Errorf("TryLock: %v, %v, want the context's error", ok, err)
	}
}
