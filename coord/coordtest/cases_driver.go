package coordtest

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"coordtop/coord"
)

// driverCases returns the cases for what a driver promises for all kinds of primitives.
func driverCases() []testCase {
	return []testCase{
		{"ExactlyOneOfSessionAndGrantRenews", nil, exactlyOneRenews},
		{"SessionCloseTwiceIsHarmless", nil, closeTwice},
		{"ClosedSessionRefusesToAcquire", nil, closedRefuses},
		{"OpenStopsWithItsContext", nil, openStops},
		{"CloseLeavesNoGoroutine", nil, noGoroutines},
		{"CloseReleasesNewestFirst", nil, newestFirst},
		{"SharedOwnersKeepExclusiveOnesOut", func(c coord.Caps) bool { return c.Shared }, shared},
		{"SemaphoreGivesOutItsLimitAndNoMore", hasSemaphore, counts},
		{"SemaphoreRefusesMoreThanItsLimit", hasSemaphore, tooMany},
		{"ProvisionerCreatesUpdatesAndDeletes", hasSemaphore, provisions},
		{"EphemeralSemaphoreVanishesWithItsLastOwner", func(c coord.Caps) bool { return c.Semaphore && c.Ephemeral }, ephemeral},
	}
}

func hasSemaphore(c coord.Caps) bool { return c.Semaphore }

func hasKind(c coord.Caps, kind coord.Kind) bool {
	return map[coord.Kind]bool{coord.KindMutex: c.Mutex, coord.KindSemaphore: c.Semaphore, coord.KindElection: c.Election}[kind]
}

// anyKind returns a kind that the driver supports.
func (s *suite) anyKind() coord.Kind {
	for _, kind := range []coord.Kind{coord.KindMutex, coord.KindElection, coord.KindSemaphore} {
		if hasKind(s.caps, kind) {
			return kind
		}
	}
	s.Fatal("the driver has no primitive at all")
	return coord.KindNone
}

func exactlyOneRenews(s *suite) {
	session := s.open()
	g := s.must(session, s.claim(s.anyKind()))
	ofSession, ofGrant := SessionAbilities(session)&CanRenew != 0, GrantAbilities(g)&CanRenew != 0
	if ofSession == ofGrant {
		s.Errorf("renewed by the session: %v, by the grant: %v, want exactly one", ofSession, ofGrant)
	}
	if s.caps.OneFate != ofSession {
		s.Errorf("Caps.OneFate is %v, but the session renews: %v", s.caps.OneFate, ofSession)
	}
}

func closeTwice(s *suite) {
	for _, first := range []string{"close", "abandon"} {
		session := s.open()
		if first == "close" {
			s.noError("closing", session.Close(s.ctx))
		} else {
			session.Abandon()
		}
		s.ended("session", session, coord.ErrClosed)
		if err := session.Close(s.ctx); err != nil {
			s.Errorf("closing after %s: %v", first, err)
		}
		session.Abandon()
	}
}

func closedRefuses(s *suite) {
	session, c := s.open(), s.claim(s.anyKind())
	s.noError("closing", session.Close(s.ctx))
	_, ok, err := session.Acquire(s.ctx, waiting(c))
	if ok || !errors.Is(err, coord.ErrClosed) {
		s.Errorf("acquiring in a closed session: ok %v, %v, want ErrClosed", ok, err)
	}
	s.must(s.open(), c)
}

func openStops(s *suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	d := s.driver()
	session, err := d.Open(ctx, s.options())
	s.noError("opening", err)
	s.keep(session, nil)
	c := s.claim(s.anyKind())
	g := s.must(session, c)
	stop := s.keep(session, g)
	cancel() // ctx bounded only the opening
	rival := s.open()
	s.keep(rival, nil)
	c.Wait = s.h.TTL / 4 // time for whatever the cancel might have started
	if _, ok, err := rival.Acquire(s.ctx, c); ok || err != nil {
		s.Errorf("a rival's wait: ok %v, %v, want neither", ok, err)
	}
	s.is("the session ended with the context of its opening", session.Err(), nil)
	stop() // a renewal of a closed session would report, rightly, that it is lost
	s.is("closing", session.Close(s.ctx), nil)
}

// noGoroutines checks that a driver leaves no goroutines. It counts them by a profiler label, which goroutines inherit,
// so that other tests may run at the same time.
func noGoroutines(s *suite) {
	id := s.fresh(coord.KindNone)
	c := s.claim(s.anyKind())
	pprof.Do(s.ctx, pprof.Labels("coordtest", id), func(ctx context.Context) {
		d := s.h.NewDriver(s)
		for _, last := range []string{"abandon", "close"} {
			session, err := d.Open(ctx, s.options())
			s.noError("opening", err)
			stop := s.keep(session, nil) // this session waits until the abandoned one runs out
			s.must(session, waiting(c))
			stop()
			if last == "abandon" {
				session.Abandon()
			} else if err := session.Close(ctx); err != nil {
				s.Fatalf("closing: %v", err)
			}
		}
		s.noError("closing the driver", d.Close(ctx))
		s.noError("closing the driver twice", d.Close(ctx))
	})
	// A goroutine that has been joined may still be on its last instruction.
	t := time.NewTicker(10 * time.Millisecond)
	defer t.Stop()
	for range 200 {
		if !strings.Contains(goroutines(), id) {
			return
		}
		<-t.C
	}
	s.Fatalf("goroutines are left after Close:\n%s", goroutines())
}

func goroutines() string {
	var b strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1) // a Builder never fails
	return b.String()
}

func newestFirst(s *suite) {
	if s.h.Endings == nil {
		s.Skip("the harness does not see the order of endings")
	}
	session := s.open()
	var names []string
	for range 3 {
		c := s.claim(s.anyKind())
		s.must(session, c)
		names = append([]string{c.Name}, names...)
	}
	recorded := s.h.Endings(s)
	s.noError("closing", session.Close(s.ctx))
	s.released(recorded, names)
}

// released waits until the service has ended the ownership of all names, and checks the order.
func (s *suite) released(recorded func() []string, names []string) {
	s.Helper()
	var got []string
	s.until(func() bool {
		got = slices.DeleteFunc(recorded(), func(n string) bool { return !slices.Contains(names, n) })
		return len(got) >= len(names)
	}, func() string { return fmt.Sprintf("only %q of %q were released", got, names) })
	if !slices.Equal(got, names) {
		s.Errorf("released in the order %q, want %q", got, names)
	}
}
