package coordtest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// faulty runs a test with faults between a driver and its service.
func faulty(t *testing.T, run func(t *testing.T, m *coordtest.Mem, f *coordtest.Faults, d coord.Driver)) {
	t.Helper()
	for _, shape := range []coordtest.Shape{coordtest.SessionRenews, coordtest.GrantRenews} {
		t.Run(shape.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m, f := coordtest.NewMem(shape, coordtest.MemOptions{TTL: 10 * time.Second}), &coordtest.Faults{}
				run(t, m, f, m.NewDriver(f))
			})
		})
	}
}

var mutex = coord.Claim{Kind: coord.KindMutex, Name: "m"}

func open(t *testing.T, d coord.Driver) coord.DriverSession {
	t.Helper()
	s, err := d.Open(t.Context(), coord.SessionOptions{})
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	t.Cleanup(s.Abandon)
	return s
}

func acquire(t *testing.T, s coord.DriverSession) (coord.Grant, coord.Renewer) {
	t.Helper()
	g, ok, err := s.Acquire(t.Context(), mutex)
	if err != nil || !ok {
		t.Fatalf("acquiring: ok %v, %v", ok, err)
	}
	if r, ok := s.(coord.Renewer); ok {
		return g, r
	}
	return g, g.(coord.Renewer)
}

func TestFaultDecidesWhetherARequestArrivesAndIsAnswered(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, c := range []struct {
		fault    coordtest.Fault
		arrives  time.Duration // when the service executes the renewal; negative: never
		answered time.Duration // when the client knows
		want     error
	}{
		{coordtest.Fault{}, 0, 0, nil},
		{coordtest.Drop(), -1, 5 * time.Second, context.DeadlineExceeded},
		{coordtest.Fail(broken), -1, 0, broken},
		{coordtest.Fail(nil), -1, 0, coordtest.ErrCut},
		{coordtest.Delay(2 * time.Second), 2 * time.Second, 2 * time.Second, nil},
		{coordtest.Delay(6 * time.Second), -1, 5 * time.Second, context.DeadlineExceeded},
		{coordtest.DelayReply(2 * time.Second), 0, 2 * time.Second, nil},
		{coordtest.DelayReply(6 * time.Second), 0, 5 * time.Second, context.DeadlineExceeded},
		{coordtest.LoseReply(), 0, 0, coordtest.ErrCut},
		{coordtest.Hang(), -1, 5 * time.Second, context.DeadlineExceeded},
		{coordtest.HangReply(), 0, 5 * time.Second, context.DeadlineExceeded},
	} {
		t.Run(c.fault.String(), func(t *testing.T) {
			faulty(t, func(t *testing.T, m *coordtest.Mem, f *coordtest.Faults, d coord.Driver) {
				_, r := acquire(t, open(t, d))
				start := time.Now()
				f.Set(coordtest.VerbRenew, c.fault, 1)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				if _, err := r.Renew(ctx); !errors.Is(err, c.want) {
					t.Errorf("renewing: %v, want %v", err, c.want)
				}
				if took := time.Since(start); took != c.answered {
					t.Errorf("answered after %v, want %v", took, c.answered)
				}
				time.Sleep(20 * time.Second)
				want := 10*time.Second + max(c.arrives, 0)
				if held := heldFor(m); held != want {
					t.Errorf("the service held it for %v, want %v", held, want)
				}
			})
		})
	}
}

func heldFor(m *coordtest.Mem) time.Duration {
	i := m.Intervals(mutex.Kind, mutex.Name)[0]
	return i.Until.Sub(i.From)
}

func TestClearReleasesWhatHangs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault coordtest.Fault
		want  error
	}{{coordtest.Drop(), coordtest.ErrCut}, {coordtest.Hang(), nil}, {coordtest.HangReply(), nil}} {
		t.Run(c.fault.String(), func(t *testing.T) {
			faulty(t, func(t *testing.T, _ *coordtest.Mem, f *coordtest.Faults, d coord.Driver) {
				_, r := acquire(t, open(t, d))
				f.Set(coordtest.VerbRenew, c.fault, 0)
				got := make(chan error, 1)
				go func() {
					_, err := r.Renew(t.Context())
					got <- err
				}()
				if err := f.Await(t.Context(), coordtest.VerbRenew, 1); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				select {
				case err := <-got:
					t.Fatalf("answered before it was cleared: %v", err)
				default:
				}
				f.Clear(coordtest.VerbRenew)
				if err := <-got; !errors.Is(err, c.want) {
					t.Errorf("after it was cleared: %v, want %v", err, c.want)
				}
				if _, err := r.Renew(t.Context()); err != nil {
					t.Errorf("the next one: %v", err)
				}
			})
		})
	}
}

func TestFaultIsForAsManyRequestsAsAsked(t *testing.T) {
	t.Parallel()
	faulty(t, func(t *testing.T, _ *coordtest.Mem, f *coordtest.Faults, d coord.Driver) {
		_, r := acquire(t, open(t, d))
		f.Set(coordtest.VerbRenew, coordtest.Fail(nil), 2)
		for i, want := range []error{coordtest.ErrCut, coordtest.ErrCut, nil, nil} {
			if _, err := r.Renew(t.Context()); !errors.Is(err, want) {
				t.Errorf("renewal %d: %v, want %v", i, err, want)
			}
		}
		if n := f.Calls(coordtest.VerbRenew); n != 4 {
			t.Errorf("%d calls counted, want 4", n)
		}
		f.Script(func(v coordtest.Verb) coordtest.Fault {
			if v == coordtest.VerbRenew {
				return coordtest.Fail(nil)
			}
			return coordtest.Fault{}
		})
		if _, err := r.Renew(t.Context()); !errors.Is(err, coordtest.ErrCut) {
			t.Errorf("by the script: %v, want ErrCut", err)
		}
		f.Clear()
		if _, err := r.Renew(t.Context()); err != nil {
			t.Errorf("without the script: %v", err)
		}
	})
}

func TestExpireTakesItAwayAndSaysLost(t *testing.T) {
	t.Parallel()
	for _, verb := range []coordtest.Verb{coordtest.VerbRenew, coordtest.VerbPublish} {
		t.Run(string(verb), func(t *testing.T) {
			faulty(t, func(t *testing.T, m *coordtest.Mem, f *coordtest.Faults, d coord.Driver) {
				g, r := acquire(t, open(t, d))
				f.Set(verb, coordtest.Expire(), 1)
				var err error
				if verb == coordtest.VerbRenew {
					_, err = r.Renew(t.Context())
				} else {
					err = g.(coord.Publisher).Publish(t.Context(), []byte("x"))
				}
				if !errors.Is(err, coord.ErrLost) {
					t.Errorf("%s: %v, want ErrLost", verb, err)
				}
				<-g.Done()
				if err := g.Err(); !errors.Is(err, coord.ErrLost) {
					t.Errorf("the grant ended with %v, want ErrLost", err)
				}
				if o := m.Owners(mutex.Kind, mutex.Name); len(o) != 0 {
					t.Errorf("the service still has the owners %v", o)
				}
			})
		})
	}
}

func TestLostAnswerOfAnAcquisitionLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	faulty(t, func(t *testing.T, m *coordtest.Mem, f *coordtest.Faults, d coord.Driver) {
		s := open(t, d)
		f.Set(coordtest.VerbAcquire, coordtest.LoseReply(), 1)
		if _, ok, err := s.Acquire(t.Context(), mutex); ok || !errors.Is(err, coordtest.ErrCut) {
			t.Fatalf("acquiring: ok %v, %v, want ErrCut", ok, err)
		}
		if i := m.Intervals(mutex.Kind, mutex.Name); len(i) != 1 {
			t.Fatalf("the service saw %d owners, want the one whose answer was lost", len(i))
		}
		if o := m.Owners(mutex.Kind, mutex.Name); len(o) != 0 {
			t.Errorf("it was left with the owners %v", o)
		}
		acquire(t, s)
	})
}

func TestLostAnswerOfAnOpeningLeavesNoSession(t *testing.T) {
	t.Parallel()
	faulty(t, func(t *testing.T, _ *coordtest.Mem, f *coordtest.Faults, d coord.Driver) {
		f.Set(coordtest.VerbOpen, coordtest.LoseReply(), 1)
		if s, err := d.Open(t.Context(), coord.SessionOptions{}); s != nil || !errors.Is(err, coordtest.ErrCut) {
			t.Fatalf("opening: %v, %v, want ErrCut", s, err)
		}
		acquire(t, open(t, d))
	})
}

func TestDroppedReleaseEndsTheGrantOnOurSide(t *testing.T) {
	t.Parallel()
	faulty(t, func(t *testing.T, m *coordtest.Mem, f *coordtest.Faults, d coord.Driver) {
		g, _ := acquire(t, open(t, d))
		f.Set(coordtest.VerbRelease, coordtest.Drop(), 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("releasing: %v, want the context's error", err)
		}
		<-g.Done()
		if o := m.Owners(mutex.Kind, mutex.Name); len(o) != 1 {
			t.Errorf("the service has %d owners, want the one whose release never came", len(o))
		}
		time.Sleep(20 * time.Second)
		if held := heldFor(m); held != 10*time.Second {
			t.Errorf("the service held it for %v, want its TTL", held)
		}
	})
}

func TestReleaseThatNeverArrivedIsToldWithTheNextRenewal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, f := coordtest.NewMem(coordtest.SessionRenews, coordtest.MemOptions{}), &coordtest.Faults{}
		g, r := acquire(t, open(t, m.NewDriver(f)))
		f.Set(coordtest.VerbRelease, coordtest.Fail(nil), 1)
		if err := g.Release(t.Context()); !errors.Is(err, coordtest.ErrCut) {
			t.Fatalf("releasing: %v, want ErrCut", err)
		}
		if _, err := r.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if o := m.Owners(mutex.Kind, mutex.Name); len(o) != 0 {
			t.Errorf("after the renewal the service still has the owners %v", o)
		}
	})
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	var f coordtest.Faults
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if err := f.Await(ctx, coordtest.VerbOpen, 1); !errors.Is(err, gone) {
		t.Errorf("awaiting: %v, want the context's cause", err)
	}
}
