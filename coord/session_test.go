package coord_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

func TestOpenRefusesADriverThatContradictsItself(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]*stub{
		"one fate, but the session does not renew":  {caps: coord.Caps{Mutex: true, OneFate: true}},
		"the session renews, but each has its fate": {sessionRenews: true, caps: coord.Caps{Mutex: true}},
	} {
		if _, err := coord.Open(t.Context(), d, options()); !errors.Is(err, coord.ErrRefused) {
			t.Errorf("%s: %v, want ErrRefused", name, err)
		}
		if d.sessionsClosed.Load() != 1 {
			t.Errorf("%s: the driver's session was left open", name)
		}
	}
}

func TestAcquireRefusesADriverThatContradictsItself(t *testing.T) {
	t.Parallel()
	both, neither := sessionStub(), grantStub()
	both.grantRenews, neither.grantRenews = true, false
	for name, d := range map[string]*stub{"session and grant renew": both, "nobody renews": neither} {
		s := openStub(t, d, options())
		if _, err := mutex(s, "job").Lock(t.Context()); !errors.Is(err, coord.ErrRefused) {
			t.Errorf("%s: %v, want ErrRefused", name, err)
		}
		if d.releases.Load() != 1 {
			t.Errorf("%s: the grant was not given back", name)
		}
		s.Abandon()
	}
}

func TestOptionsWithoutRoomAreRefusedWhereTheWindowBecomesKnown(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]coord.SessionOptions{
		"margin":               {Margin: ttl},
		"pause":                {Margin: margin, RenewEvery: 5 * time.Second},
		"margin, TTL known":    {TTL: ttl, Margin: ttl},
		"pause, TTL known":     {TTL: ttl, Margin: margin, RenewEvery: 5 * time.Second},
		"negative, of no use":  {Margin: -1},
		"TTL of the claim too": {Margin: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "TTL of the claim too" {
				if _, err := coord.Open(t.Context(), sessionStub(), o); !errors.Is(err, coord.ErrInvalid) {
					t.Errorf("session renews: Open: %v, want ErrInvalid", err)
				}
			}
			d := grantStub()
			s, err := coord.Open(t.Context(), d, o)
			if err == nil {
				defer s.Abandon()
				_, err = s.Mutex("job", coord.MutexOptions{TTL: time.Second}).Lock(t.Context())
				if o.Margin < ttl && err == nil || d.releases.Load() != 0 {
					t.Errorf("a claim whose TTL has no room: %v, %d releases", err, d.releases.Load())
				}
				if name != "TTL of the claim too" {
					_, err = mutex(s, "job").Lock(t.Context())
				}
			} else if o.TTL == 0 && o.Margin >= 0 {
				t.Errorf("grant renews: Open: %v, where no window is known yet", err)
			}
			if !errors.Is(err, coord.ErrInvalid) {
				t.Errorf("grant renews: %v, want ErrInvalid", err)
			}
		})
	}
}

func TestErrorsOfOpenAreWrappedAndLeaveNoSession(t *testing.T) {
	t.Parallel()
	cause := errors.New("no route")
	d := sessionStub()
	d.onRenew(func(context.Context) (coord.Window, error) { return coord.Window{}, cause })
	_, err := coord.Open(t.Context(), d, options())
	var at *coord.Error
	if !errors.Is(err, cause) || !errors.As(err, &at) || at.Op != "open" || at.Driver != "stub" {
		t.Errorf("%v, want the cause in a coord.Error of the opening", err)
	}
	if d.sessionsClosed.Load() != 1 {
		t.Error("the driver's session was left open")
	}
}

func TestCloseAndAbandonAreHarmlessTwiceAndAfterEachOther(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		w.want("first", w.s.Close(w.Context()), nil)
		w.want("second", w.s.Close(w.Context()), nil)
		w.s.Abandon()
		o := w.rival()
		o.Abandon()
		o.Abandon()
		w.want("Close after Abandon", o.Close(w.Context()), nil)
		w.want("cause", context.Cause(o.Context()), coord.ErrClosed)
	})
}

func TestCloseTellsTheServiceAlsoWhenItsContextHasEnded(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		for _, name := range []string{"a", "b", "c"} {
			w.lock(w.s, name)
		}
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		w.want("Close", w.s.Close(ctx), nil)
		if got := w.mem.Endings(); !slices.Equal(got, []string{"c", "b", "a"}) {
			w.Errorf("given back in the order %v, want newest first", got)
		}
	})
}

func TestCloseOfASessionWhoseServiceHangsIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		timeout time.Duration // of the context; 0: cancelled after 1 s
		want    time.Duration
	}{
		"its own time after the cancel": {0, 3 * time.Second},
		"the deadline":                  {500 * time.Millisecond, 500 * time.Millisecond},
		"a deadline far away":           {7 * time.Second, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := sessionStub()
				d.close = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
				s := openStub(t, d, options())
				ctx, cancel := context.WithTimeout(t.Context(), cmpOr(c.timeout, time.Hour))
				defer cancel()
				if c.timeout == 0 {
					time.AfterFunc(time.Second, cancel)
				}
				start := time.Now()
				if err := s.Close(ctx); err == nil {
					t.Error("Close that could not tell the service returned no error")
				}
				if got := time.Since(start); got != c.want {
					t.Errorf("took %v, want %v", got, c.want)
				}
				if err := s.Close(t.Context()); err == nil {
					t.Error("the second Close does not know of the error of the first")
				}
			})
		})
	}
}

func cmpOr(a, b time.Duration) time.Duration {
	if a != 0 {
		return a
	}
	return b
}

func TestAbandonLeavesTheLeaseToTheService(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		l := w.lock(w.s, "job")
		w.s.Abandon()
		w.want("Check", l.Check(), coord.ErrClosed)
		if !w.owned("job") {
			w.Error("the service was told")
		}
		time.Sleep(ttl)
		if w.owned("job") {
			w.Error("it did not run out: somebody goes on renewing")
		}
	})
}

func TestClosedSessionAnswersWithItsCause(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		w.want("Close", w.s.Close(w.Context()), nil)
		_, err := mutex(w.s, "job").Lock(w.Context())
		w.want("Lock", err, coord.ErrClosed)
		_, err = w.s.Election("job", coord.ElectionOptions{}).Leader(w.Context())
		w.want("Leader", err, coord.ErrClosed)
		if w.s.State() != coord.StateEnded {
			w.Errorf("state %v", w.s.State())
		}
		for range w.s.Election("job", coord.ElectionOptions{}).Observe(w.Context()) {
			w.Error("observed something")
		}
	})
}

func TestSessionDescribesItselfAndTheServer(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		info := w.s.Caps()
		if !info.Mutex || info.OneFate != (w.s.ID() != "") {
			w.Errorf("caps %+v, id %q", info, w.s.ID())
		}
	})
}

func TestStatesAreToldInOrder(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		var told []coord.StateChange
		o := options()
		o.OnState = func(c coord.StateChange) {
			time.Sleep(time.Millisecond) // slower than what happens
			told = append(told, c)
		}
		link := &coordtest.Faults{}
		s := w.open(w.mem.NewDriver(link), o)
		l := w.lock(s, "other")
		link.Set(coordtest.VerbRenew, coordtest.Fail(nil), 3)
		time.Sleep(ttl)
		w.want("Check", l.Check(), nil)
		if s.State() != coord.StateOpen {
			w.Errorf("after the trouble: %v, want open", s.State())
		}
		link.Set(coordtest.VerbRenew, coordtest.Drop(), 0)
		w.ended(l)
		if want := map[bool]coord.State{true: coord.StateEnded, false: coord.StateDoubtful}[s.Caps().OneFate]; s.State() != want {
			w.Errorf("after the lease expired: %v, want %v", s.State(), want)
		}
		s.Abandon()
		var got []coord.State
		for _, c := range told {
			got = append(got, c.State)
			if (c.State == coord.StateDoubtful || c.State == coord.StateEnded) != (c.Err != nil) {
				w.Errorf("%v with error %v", c.State, c.Err)
			}
		}
		want := []coord.State{
			coord.StateOpening, coord.StateOpen, coord.StateDoubtful, coord.StateOpen, coord.StateDoubtful, coord.StateEnded,
		}
		if !slices.Equal(got, want) {
			w.Errorf("told %v, want %v", got, want)
		}
	})
}

func TestFailedOpenIsToldAsOpeningThenEnded(t *testing.T) {
	t.Parallel()
	cause := errors.New("no route")
	d := grantStub()
	d.opened = func(context.Context) error { return cause }
	var told []coord.StateChange
	o := options()
	o.OnState = func(c coord.StateChange) { told = append(told, c) }
	if _, err := coord.Open(t.Context(), d, o); !errors.Is(err, cause) {
		t.Fatalf("Open: %v", err)
	}
	if len(told) != 2 || told[0].State != coord.StateOpening || told[1].State != coord.StateEnded || !errors.Is(told[1].Err, cause) {
		t.Errorf("told %v", told)
	}
}

func TestRenewalThatIsLateMakesTheSessionDoubtful(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		l := w.lock(w.s, "job")
		asked := w.link.Calls(coordtest.VerbRenew)
		w.link.Set(coordtest.VerbRenew, coordtest.Delay(2*time.Second), 1)
		w.want("awaiting the renewal", w.link.Await(w.Context(), coordtest.VerbRenew, asked+1), nil)
		time.Sleep(time.Second)
		if w.s.State() != coord.StateOpen {
			w.Errorf("after 1 s: %v", w.s.State())
		}
		time.Sleep(750 * time.Millisecond)
		if w.s.State() != coord.StateDoubtful || l.Check() != nil {
			w.Errorf("after 1.75 s: %v, Check %v; want doubtful and trusted", w.s.State(), l.Check())
		}
		time.Sleep(time.Second)
		if w.s.State() != coord.StateOpen || l.Check() != nil {
			w.Errorf("after the answer: %v, Check %v", w.s.State(), l.Check())
		}
	})
}

func TestAnyAnswerOfTheServiceEndsTheDoubt(t *testing.T) {
	t.Parallel()
	for what, ask := range map[string]func(w *world){
		"a try that missed": func(w *world) {
			_, ok, err := mutex(w.s, "taken").TryLock(w.Context())
			if ok || err != nil {
				w.Errorf("TryLock: %v, %v", ok, err)
			}
		},
		"a look": func(w *world) {
			_, err := election(w.s).Leader(w.Context())
			w.want("Leader", err, nil)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			inShape(t, coordtest.GrantRenews, func(w *world) {
				w.lock(w.rival(), "taken")
				l := w.lock(w.s, "job")
				w.link.Set(coordtest.VerbRenew, coordtest.Fail(nil), 0)
				w.ended(l)
				time.Sleep(ttl)
				if w.s.State() != coord.StateDoubtful {
					w.Errorf("nothing was heard since: %v", w.s.State())
				}
				ask(w)
				if w.s.State() != coord.StateOpen {
					w.Errorf("after an answer: %v", w.s.State())
				}
			})
		})
	}
}

func TestCloseCutsShortAReleaseThatHangs(t *testing.T) {
	t.Parallel()
	for shape, d := range stubs() {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := openStub(t, d, options())
				l := lockStub(t, s, "job")
				d.onRelease(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
				patient, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				released := make(chan error, 1)
				go func() { released <- l.Release(patient) }()
				synctest.Wait()
				hasty, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				start := time.Now()
				if err := s.Close(hasty); err != nil || time.Since(start) != time.Second {
					t.Errorf("Close: %v after %v", err, time.Since(start))
				}
				if err := <-released; err == nil {
					t.Error("a release that did not arrive returned no error")
				}
			})
		})
	}
}

func TestAbandonDoesNotWaitForAReleaseThatHangs(t *testing.T) {
	t.Parallel()
	for shape, d := range stubs() {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := openStub(t, d, options())
				l := lockStub(t, s, "job")
				d.onRelease(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
				released := make(chan error, 1)
				go func() { released <- l.Release(t.Context()) }()
				synctest.Wait()
				start := time.Now()
				if s.Abandon(); time.Since(start) != 0 {
					t.Errorf("Abandon took %v", time.Since(start))
				}
				if err := <-released; err == nil {
					t.Error("a release that did not arrive returned no error")
				}
			})
		})
	}
}
