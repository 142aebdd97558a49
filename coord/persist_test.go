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

var errDown = errors.New("the server is down")

// troubled is a stub whose acquire fails n times with err and then succeeds; the service
// takes note of the claim before each success.
func troubled(n int, err error) (*stub, *int) {
	d := grantStub()
	calls := 0
	d.acquire = func(_ context.Context, c coord.Claim) (time.Time, bool, error) {
		if calls++; calls <= n {
			return time.Time{}, false, err
		}
		if c.Waiting != nil {
			c.Waiting()
		}
		return time.Now(), true, nil
	}
	return d, &calls
}

func TestAWaitingClaimOutlivesWhatPassesAndSaysSo(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"down":       errDown,
		"lost":       fmt.Errorf("taken away at once: %w", coord.ErrLost),
		"expired":    coord.ErrExpired,
		"not known":  coord.ErrUncertain,
		"late reply": context.DeadlineExceeded,
	} {
		for _, wait := range []time.Duration{0, time.Hour} {
			t.Run(fmt.Sprint(name, wait), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					d, calls := troubled(5, err)
					var told []coord.Trouble
					o := options()
					o.OnTrouble = func(x coord.Trouble) { told = append(told, x) }
					l, got := openStub(t, d, o).Mutex("job", coord.MutexOptions{Wait: wait}).Lock(t.Context())
					if got != nil || l.Check() != nil || *calls != 6 {
						t.Fatalf("Lock: %v after %d tries", got, *calls)
					}
					if len(told) != 6 {
						t.Fatalf("told %+v, want five troubles and their end", told)
					}
					for i, x := range told[:5] {
						if !errors.Is(x.Err, err) || x.Kind != coord.KindMutex || x.Name != "job" || x.Pause <= 0 {
							t.Errorf("trouble %d is %+v", i, x)
						}
					}
					if told[5].Err != nil || told[5].Name != "job" {
						t.Errorf("the end is told as %+v", told[5])
					}
				})
			})
		}
	}
}

func TestAClaimEndsAtOnceWithWhatDoesNotPass(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		coord.ErrRefused, coord.ErrUnsupported, coord.ErrInvalid, coord.ErrDataTooLong, coord.ErrNotFound, coord.ErrClaimed,
		fmt.Errorf("%w: %w", coord.ErrLost, coord.ErrRefused),
	} {
		t.Run(err.Error(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d, calls := troubled(5, err)
				start := time.Now()
				l, got := mutex(openStub(t, d, options()), "job").Lock(t.Context())
				if l != nil || !errors.Is(got, err) || *calls != 1 || time.Since(start) != 0 {
					t.Errorf("Lock: %v after %d tries and %v", got, *calls, time.Since(start))
				}
				if coord.Passing(err) {
					t.Error("it is said to pass")
				}
			})
		})
	}
}

func TestATryIsMadeOnceWhateverItMeets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, calls := troubled(1, errDown)
		_, ok, err := mutex(openStub(t, d, options()), "job").TryLock(t.Context())
		if ok || !errors.Is(err, errDown) || *calls != 1 {
			t.Errorf("TryLock: ok %v, %v after %d tries", ok, err, *calls)
		}
	})
}

// Nobody may read "not acquired" where it may have been acquired.
func TestAWaitThatRunsOutInTroubleSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ err, want, not error }{
		"down":      {errDown, coord.ErrNotAcquired, coord.ErrUncertain},
		"not known": {coord.ErrUncertain, coord.ErrUncertain, coord.ErrNotAcquired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d, _ := troubled(1e6, c.err)
				start := time.Now()
				const wait = time.Minute
				l, err := openStub(t, d, options()).Mutex("job", coord.MutexOptions{Wait: wait}).Lock(t.Context())
				if l != nil || !errors.Is(err, c.want) || errors.Is(err, c.not) {
					t.Errorf("Lock: %v, want %v", err, c.want)
				}
				if took := time.Since(start); took != wait {
					t.Errorf("it took %v, want %v", took, wait)
				}
			})
		})
	}
}

func TestAClaimInTroubleEndsWithItsContextAndItsSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, _ := troubled(1e6, errDown)
		s := openStub(t, d, options())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := mutex(s, "job").Lock(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errDown) {
			t.Errorf("Lock: %v, want the context's error and the last trouble", err)
		}
		time.AfterFunc(time.Minute, s.Abandon)
		if _, err := mutex(s, "job").Lock(t.Context()); !errors.Is(err, coord.ErrClosed) {
			t.Errorf("Lock in a session that ends: %v", err)
		}
	})
}
