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

// laptop is a machine that can be suspended: the service's time goes on, ours stands
// still.
type laptop struct{ slept atomic.Int64 }

func (l *laptop) asleep() time.Duration   { return time.Duration(l.slept.Load()) }
func (l *laptop) suspend(d time.Duration) { l.slept.Add(int64(d)) }
func (l *laptop) open(t *testing.T, d *stub) *coord.Session {
	t.Helper()
	s, err := coord.OpenAsleep(t.Context(), d, options(), l.asleep)
	if err != nil {
		t.Fatalf("opening a session: %v", err)
	}
	t.Cleanup(s.Abandon)
	return s
}

func stubs() map[string]*stub {
	return map[string]*stub{"session renews": sessionStub(), "grant renews": grantStub()}
}

func TestSuspendCountsAgainstTrust(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var pc laptop
				l := lockStub(t, pc.open(t, d), "job")
				pc.suspend(5 * time.Second)
				if err := l.Check(); err != nil {
					t.Errorf("after half the window: %v", err)
				}
				if left := time.Until(l.TrustedUntil()); left != 4*time.Second {
					t.Errorf("trusted for %v more, want 4s", left)
				}
				pc.suspend(4 * time.Second)
				if err := l.Check(); !errors.Is(err, coord.ErrExpired) {
					t.Errorf("after the whole: %v, want ErrExpired", err)
				}
				if l.Context().Err() == nil {
					t.Error("Check said no, and the context goes on")
				}
			})
		})
	}
}

func TestContextEndsSoonAfterASuspendAlsoIfNobodyChecks(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var pc laptop
				l := lockStub(t, pc.open(t, d), "job")
				asked := d.renewals.Load()
				synctest.Wait() // what keeps the lease sleeps
				pc.suspend(time.Hour)
				woke := time.Now()
				<-l.Context().Done()
				if late := time.Since(woke); late > time.Second {
					t.Errorf("ended %v after waking, want at most 1s", late)
				}
				if err := context.Cause(l.Context()); !errors.Is(err, coord.ErrExpired) {
					t.Errorf("cause %v", err)
				}
				if d.renewals.Load() != asked {
					t.Error("asked for a renewal of what was over")
				}
			})
		})
	}
}

func TestShortSuspendBringsTheRenewalForward(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var pc laptop
		d := grantStub()
		l := lockStub(t, pc.open(t, d), "job")
		synctest.Wait()
		pc.suspend(6 * time.Second)
		time.Sleep(time.Second)
		synctest.Wait()
		if d.renewals.Load() != 1 {
			t.Errorf("%d renewals within a second of waking, want 1", d.renewals.Load())
		}
		if left := time.Until(l.TrustedUntil()); left < 8*time.Second {
			t.Errorf("trusted for %v, want a whole new window", left)
		}
	})
}

func TestGrantThatSleptOnItsWayIsConfirmed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var pc laptop
		d := grantStub()
		d.acquire = func(context.Context, coord.Claim) (time.Time, bool, error) {
			asked := time.Now()
			pc.suspend(time.Minute)
			return asked, true, nil
		}
		l := lockStub(t, pc.open(t, d), "job")
		if d.renewals.Load() != 1 || l.Check() != nil {
			t.Errorf("%d renewals, Check %v", d.renewals.Load(), l.Check())
		}
	})
}

func TestCloseDoesNotHideThatTrustWasOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var pc laptop
		s := pc.open(t, sessionStub())
		l := lockStub(t, s, "job")
		pc.suspend(time.Hour)
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
		for what, err := range map[string]error{"session": context.Cause(s.Context()), "lease": l.Check()} {
			if !errors.Is(err, coord.ErrExpired) {
				t.Errorf("the cause of the %s: %v, want ErrExpired", what, err)
			}
		}
	})
}
