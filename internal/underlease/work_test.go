package underlease_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"coordtop/coord"
	"coordtop/coord/coordtest"
	"coordtop/internal/job"
	"coordtop/internal/underlease"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ttl = 5 * time.Second

// world is a service with a mutex, and what was said.
type world struct {
	*coordtest.Mem
	said []string
}

// eachShape runs f in a bubble with a service of each shape.
func eachShape(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	for _, shape := range []coordtest.Shape{coordtest.SessionRenews, coordtest.GrantRenews} {
		t.Run(shape.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f(t, &world{Mem: coordtest.NewMem(shape, coordtest.MemOptions{TTL: ttl, Push: true})})
			})
		})
	}
}

// options are those of a claim of the mutex for work.
func (w *world) options(wait time.Duration, work func(context.Context, *coord.Lease) (job.Result, error)) underlease.Options {
	return underlease.Options{
		Driver: w.NewDriver(nil), Session: coord.SessionOptions{TTL: ttl}, Wait: wait, Work: work,
		Claim: func(ctx context.Context, s *coord.Session, within time.Duration) (*coord.Lease, error) {
			m := s.Mutex("job", coord.MutexOptions{Wait: within})
			if wait != 0 {
				return m.Lock(ctx)
			}
			l, _, err := m.TryLock(ctx)
			return l, err
		},
		Explain: error.Error, Say: func(text string) { w.said = append(w.said, text) },
	}
}

// owners counts the owners of the mutex.
func (w *world) owners() int { return len(w.Owners(coord.KindMutex, "job")) }

// ends is work that has ended at once.
func ends(r job.Result) func(context.Context, *coord.Lease) (job.Result, error) {
	return func(context.Context, *coord.Lease) (job.Result, error) { return r, nil }
}

func TestALeaseIsGivenBackOnlyWhenNothingOfTheWorkIsLeft(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, w *world) {
		r, err := underlease.Lock(t.Context(), w.options(coord.Forever, ends(job.Result{Code: 3})))
		if err != nil || r.Code != 3 || w.owners() != 0 || len(w.said) != 0 {
			t.Errorf("all has ended: %+v, %v, %d owners, said %q", r, err, w.owners(), w.said)
		}
		r, err = underlease.Lock(t.Context(), w.options(coord.Forever, ends(job.Result{Left: true})))
		if err != nil || !r.Left || w.owners() != 1 || len(w.said) != 1 || !strings.Contains(w.said[0], "not given back") {
			t.Errorf("a process is left: %+v, %v, %d owners, said %q", r, err, w.owners(), w.said)
		}
		if _, err := underlease.Lock(t.Context(), w.options(0, ends(job.Result{}))); !errors.Is(err, underlease.ErrMissed) {
			t.Errorf("a try while it may run: %v", err)
		}
		began := time.Now()
		if _, err := underlease.Lock(t.Context(), w.options(coord.Forever, ends(job.Result{}))); err != nil || time.Since(began) > 2*ttl {
			t.Errorf("the next one: %v after %v", err, time.Since(began))
		}
	})
}

func TestLeadDoesNotCampaignAgainWhileSomethingOfTheWorkIsLeft(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, w *world) {
		lead, terms := underlease.LeadOptions{Restart: true, OnWon: func(context.Context, *coord.Lease) {}, OnLost: func(context.Context, *coord.Lease, error) {}}, 0
		r, err := underlease.Lead(t.Context(), w.options(coord.Forever, func(context.Context, *coord.Lease) (job.Result, error) {
			terms++
			r := job.Result{Code: 1, Left: terms == 3}
			if terms > 3 {
				r.Stopped = syscall.SIGTERM // it would campaign for ever
			}
			return r, nil
		}), lead)
		if err != nil || !r.Left || terms != 3 || w.owners() != 1 {
			t.Errorf("%+v, %v after %d terms, %d owners", r, err, terms, w.owners())
		}
	})
}

func TestALostTermIsFollowedByTheNextAndItsHooksStandAroundTheWork(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, w *world) {
		var did []string
		note := func(text string) { did = append(did, text) }
		lead := underlease.LeadOptions{
			OnWon:  func(context.Context, *coord.Lease) { note("won") },
			OnLost: func(_ context.Context, _ *coord.Lease, cause error) { note(underlease.CauseWord(cause)) },
		}
		o := w.options(coord.Forever, nil)
		o.Work = func(ctx context.Context, l *coord.Lease) (job.Result, error) {
			if note("work"); len(did) > 2 {
				return job.Result{Stopped: syscall.SIGTERM}, nil
			}
			w.Expire(coord.KindMutex, "job")
			return underlease.Idle(ctx, l)
		}
		r, err := underlease.Lead(t.Context(), o, lead)
		if want := []string{"won", "work", "lost", "won", "work", "released"}; err != nil || r.Stopped == 0 || !slices.Equal(did, want) || w.owners() != 0 {
			t.Errorf("%+v, %v, %q, %d owners", r, err, did, w.owners())
		}
	})
}

func TestAWaitThatIsOverIsMissedAndLeavesNobodyInTheQueue(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, w *world) {
		done := make(chan error)
		ctx, end := context.WithCancel(t.Context())
		go func() { // the test waits for it
			_, err := underlease.Lock(ctx, w.options(coord.Forever, underlease.Idle))
			done <- err
		}()
		synctest.Wait()
		began := time.Now()
		_, err := underlease.Lock(t.Context(), w.options(3*time.Second, ends(job.Result{})))
		if waited := time.Since(began); !errors.Is(err, underlease.ErrMissed) || waited < 3*time.Second || waited > 4*time.Second {
			t.Errorf("%v after %v", err, waited)
		}
		if n := len(w.Waiters(coord.KindMutex, "job")); n != 0 {
			t.Errorf("%d wait", n)
		}
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
