package coord_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
)

func TestRenewalsHaveNoSayInTheEndOfTheLease(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := openStub(t, d, options())
				l := lockStub(t, s, "job")
				d.onRenew(func(context.Context) (coord.Window, error) {
					time.Sleep(2 * ttl) // deaf to its context; then good news of now
					return d.valid(time.Now()), nil
				})
				end := l.TrustedUntil()
				<-l.Context().Done()
				if !time.Now().Equal(end) {
					t.Errorf("ended %v after trust did", time.Since(end))
				}
				time.Sleep(3 * ttl)
				if err := l.Check(); !errors.Is(err, coord.ErrExpired) {
					t.Errorf("after the late answer: %v, want ErrExpired still", err)
				}
				if left := time.Until(l.TrustedUntil()); left > 0 {
					t.Errorf("trusted for %v after the end", left)
				}
				if err := context.Cause(l.Context()); err != l.Check() {
					t.Errorf("Check %v and cause %v differ", l.Check(), err)
				}
			})
		})
	}
}

func TestRenewalsComeInTimeAndNotMoreOften(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    coord.SessionOptions
		want int64 // in 60 s
	}{
		"a third of the window": {options(), 18},
		"as often as wished":    {coord.SessionOptions{TTL: ttl, Margin: margin, RenewEvery: time.Second}, 60},
	} {
		for shape, d := range stubs() {
			t.Run(name+", "+shape, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					lockStub(t, openStub(t, d, c.o), "job")
					first := d.renewals.Load()
					time.Sleep(time.Minute)
					synctest.Wait()
					if got := d.renewals.Load() - first; got < c.want-1 || got > c.want+1 {
						t.Errorf("%d renewals in a minute, want about %d", got, c.want)
					}
				})
			})
		}
	}
}

func TestFailingRenewalsAreRepeatedWithPauses(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := lockStub(t, openStub(t, d, options()), "job")
				first := d.renewals.Load()
				var last time.Time // of the tries, which come one after the other
				d.onRenew(func(context.Context) (coord.Window, error) {
					if gap := time.Since(last); gap < 20*time.Millisecond {
						t.Errorf("asked again after %v", gap)
					}
					last = time.Now()
					return coord.Window{}, errors.New("cut")
				})
				<-l.Context().Done()
				if n := d.renewals.Load() - first; n < 5 || n > 100 {
					t.Errorf("%d tries within a window, want some and not a storm", n)
				}
				if left := time.Since(last); left > ttl/8 {
					t.Errorf("gave up %v before the end", left)
				}
			})
		})
	}
}

func TestPausesStartAnewAfterARenewalThatSucceeded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := grantStub()
		l := lockStub(t, openStub(t, d, options()), "job")
		end := time.Now().Add(time.Minute)
		var failures int // in a row
		var last time.Time
		d.onRenew(func(context.Context) (coord.Window, error) {
			gap := time.Since(last)
			last = time.Now()
			if failures == 1 && gap > 100*time.Millisecond && last.Before(end) {
				t.Errorf("the first pause after a success was %v", gap)
			}
			if failures++; failures < 5 {
				return coord.Window{}, errors.New("cut")
			}
			failures = 0
			return d.valid(last), nil
		})
		time.Sleep(time.Until(end))
		if err := l.Check(); err != nil {
			t.Errorf("Check: %v", err)
		}
	})
}

func TestWindowThatIsDueOnArrivalIsNotAskedForWithoutPause(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				lockStub(t, openStub(t, d, options()), "job")
				d.onRenew(func(context.Context) (coord.Window, error) { return d.valid(time.Now().Add(-ttl / 2)), nil })
				first := d.renewals.Load()
				time.Sleep(ttl)
				if n := d.renewals.Load() - first; n > 200 {
					t.Errorf("%d renewals in one window", n)
				}
			})
		})
	}
}

func TestWindowThatShrinksIsFollowed(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := options()
				o.RenewEvery = 4 * time.Second
				l := lockStub(t, openStub(t, d, o), "job")
				d.onRenew(func(context.Context) (coord.Window, error) {
					return coord.Window{Asked: time.Now(), Valid: 3 * time.Second}, nil
				})
				time.Sleep(time.Minute)
				if err := l.Check(); err != nil {
					t.Errorf("lost under a service that always answers: %v", err)
				}
				if left := time.Until(l.TrustedUntil()); left > 2*time.Second {
					t.Errorf("trusted for %v of a window of 3 s with a margin of 1 s", left)
				}
			})
		})
	}
}

func TestLeaseSaysWhatItIsOf(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		l := w.lock(w.s, "job")
		owners := w.mem.Owners(coord.KindMutex, "job")
		if l.Owner() != owners[0].ID || l.Fence() != owners[0].Fence {
			w.Errorf("owner %q, fence %d; the service has %+v", l.Owner(), l.Fence(), owners[0])
		}
	})
}

func TestDriversWordIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		for _, c := range []struct{ said, want error }{
			{coord.ErrExpired, coord.ErrExpired},
			{coord.ErrLost, coord.ErrLost},
			{errors.New("gone"), coord.ErrLost},
			{nil, coord.ErrLost},
		} {
			t.Run(fmt.Sprintf("%s, %v", name, c.said), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := lockStub(t, openStub(t, d, options()), "job")
					d.grant(len(d.grants) - 1).end(c.said)
					if err := l.Check(); !errors.Is(err, c.want) {
						t.Errorf("Check %v, want %v", err, c.want)
					}
					synctest.Wait()
					if err := context.Cause(l.Context()); !errors.Is(err, c.want) {
						t.Errorf("cause %v, want %v", err, c.want)
					}
				})
			})
		}
	}
}

// The stub's sessions and grants say nothing by Done.
func TestVerdictOfARenewalEndsTheLeaseAtOnce(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := lockStub(t, openStub(t, d, options()), "job")
				var asked time.Time
				d.onRenew(func(context.Context) (coord.Window, error) {
					if !asked.IsZero() {
						t.Error("asked again after the verdict")
					}
					asked = time.Now()
					return coord.Window{}, coord.ErrLost
				})
				<-l.Context().Done()
				if err := context.Cause(l.Context()); !errors.Is(err, coord.ErrLost) || !errors.Is(l.Check(), coord.ErrLost) {
					t.Errorf("cause %v, Check %v, want ErrLost", err, l.Check())
				}
				if !time.Now().Equal(asked) {
					t.Errorf("the lease ended %v after the verdict", time.Since(asked))
				}
				time.Sleep(5 * ttl)
			})
		})
	}
}
