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

func TestReleaseEndsTheContextFirstAndGoesOutWhateverItsContextSays(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := lockStub(t, openStub(t, d, options()), "job")
				cause := errors.New("cut")
				d.onRelease(func(ctx context.Context) error {
					if l.Context().Err() == nil || !errors.Is(l.Check(), coord.ErrReleased) {
						t.Error("sent while the lease could still be trusted")
					}
					if ctx.Err() != nil {
						t.Error("sent under a context that had ended")
					}
					return cause
				})
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if err := l.Release(ctx); !errors.Is(err, cause) {
					t.Errorf("Release: %v, want what the driver said", err)
				}
				if err := l.Release(t.Context()); !errors.Is(err, cause) || d.releases.Load() != 1 {
					t.Errorf("second Release: %v, sent %d times", err, d.releases.Load())
				}
				if d.abandoned.Load() != 1 {
					t.Error("a grant that could not be released was not abandoned")
				}
			})
		})
	}
}

func TestReleaseToAServiceThatHangsIsBounded(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := lockStub(t, openStub(t, d, options()), "job")
				d.onRelease(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
				start := time.Now()
				if err := l.Release(t.Context()); err == nil || time.Since(start) != 2*time.Second {
					t.Errorf("%v after %v, want an error after 2s", err, time.Since(start))
				}
			})
		})
	}
}

func TestReleaseOfALeaseThatEndedOtherwiseSendsNothing(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := lockStub(t, openStub(t, d, options()), "job")
				d.grant(0).end(coord.ErrLost)
				if err := l.Release(t.Context()); err != nil || d.releases.Load() != 0 {
					t.Errorf("Release: %v, sent %d times", err, d.releases.Load())
				}
				if err := l.Check(); !errors.Is(err, coord.ErrLost) {
					t.Errorf("Check after Release: %v, want ErrLost still", err)
				}
			})
		})
	}
}

func TestReleaseWaitsForTheRenewalUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := grantStub()
		l := lockStub(t, openStub(t, d, options()), "job")
		var renewing atomic.Bool
		d.onRenew(func(ctx context.Context) (coord.Window, error) {
			renewing.Store(true)
			defer renewing.Store(false)
			<-ctx.Done()
			time.Sleep(time.Second) // takes its time to give up
			return coord.Window{}, ctx.Err()
		})
		d.onRelease(func(context.Context) error {
			if renewing.Load() {
				t.Error("released while a renewal was on its way")
			}
			return nil
		})
		time.Sleep(4 * time.Second)
		if err := l.Release(t.Context()); err != nil {
			t.Errorf("Release: %v", err)
		}
	})
}

func TestAbandonedLeaseIsNotReleased(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStub(t, d, options())
			l := lockStub(t, s, "job")
			l.Abandon()
			l.Abandon()
			if err := l.Check(); !errors.Is(err, coord.ErrReleased) || d.releases.Load() != 0 || d.abandoned.Load() != 1 {
				t.Errorf("Check %v, %d releases, %d abandoned", err, d.releases.Load(), d.abandoned.Load())
			}
			lockStub(t, s, "job")
		})
	}
}

func TestExpiredLeaseIsGivenBackAfterItsMargin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := grantStub()
		s := openStub(t, d, options())
		l := lockStub(t, s, "job")
		start := time.Now()
		d.onRenew(func(context.Context) (coord.Window, error) { return coord.Window{}, errors.New("reply lost") })
		d.onRelease(func(context.Context) error {
			if after := time.Since(start); after != ttl {
				t.Errorf("given back %v after it was granted for %v", after, ttl)
			}
			return nil
		})
		<-l.Context().Done()
		lockStub(t, s, "job") // waits for that
		if d.releases.Load() != 1 {
			t.Errorf("given back %d times", d.releases.Load())
		}
	})
}

func TestCloseDoesNotWaitForTheMarginOfAnExpiredLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := grantStub()
		s := openStub(t, d, options())
		l := lockStub(t, s, "job")
		d.onRenew(func(context.Context) (coord.Window, error) { return coord.Window{}, errors.New("cut") })
		<-l.Context().Done()
		start := time.Now()
		if err := s.Close(t.Context()); err != nil || time.Since(start) != 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}
