package coordtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coordtop/coord"
)

// kindCases returns the cases for what every kind of primitive with a single owner promises.
func kindCases(kind coord.Kind) []testCase {
	has := func(c coord.Caps) bool { return hasKind(c, kind) }
	var cases []testCase
	for _, c := range []struct {
		name string
		run  func(*suite, coord.Claim)
	}{
		{"GrantSaysWhatIsTrue", grantIsTrue},
		{"TryMissesWhileOwned", tryMisses},
		{"WaitGetsItAfterRelease", waitGets},
		{"WaitRunsOutAndLeavesNothing", waitRunsOut},
		{"CancelledWaitLeavesNothing", cancelLeavesNothing},
		{"ReleaseTwiceDoesNotHurtTheNextOwner", releaseTwice},
		{"AbandonedRunsOutAndNotBefore", abandoned},
		{"AbandonedGrantEnds", abandonedGrant},
		{"SessionCloseReleases", closeReleases},
		{"RenewalKeepsItBeyondItsTTL", renewExtends},
		{"UnrenewedIsLostToTheNext", unrenewed},
		{"TakenAwayIsLost", takenAway},
		{"FenceGrows", fenceGrows},
		{"WaitersAreServedInOrder", inOrder},
		{"DescribeShowsTheOwnerAsItCallsItself", described},
		{"PublishReplacesTheDataAndKeepsTheTTL", publishes},
		{"PublishAfterLossWritesNothing", publishLate},
		{"WatchTellsEachChange", watches},
		{"PlaceIsServedLeftOrKept", places},
	} {
		cases = append(cases, testCase{fmt.Sprintf("%s/%v", c.name, kind), has, func(s *suite) { c.run(s, s.claim(kind)) }})
	}
	return cases
}

func grantIsTrue(s *suite, c coord.Claim) {
	session := s.open()
	before := time.Now()
	s.keep(session, nil)
	g := s.must(session, c)
	i := g.Info()
	switch {
	case i.Valid <= 0 || i.RenewIn < 0 || i.RenewIn >= i.Valid:
		s.Errorf("valid for %v, renew in %v: no room to renew in time", i.Valid, i.RenewIn)
	case i.Asked.Before(before.Add(-s.h.TTL)) || i.Asked.After(time.Now()):
		s.Errorf("asked at %v, which is not about now (%v)", i.Asked, before)
	case !s.caps.OneFate && i.Asked.Before(before):
		s.Errorf("asked at %v, before the claim was made at %v", i.Asked, before)
	case (i.Fence != 0) != s.caps.Fence:
		s.Errorf("fence %d, but Caps.Fence is %v", i.Fence, s.caps.Fence)
	case g.Err() != nil:
		s.Errorf("Err before Done: %v", g.Err())
	}
	select {
	case <-g.Done():
		s.Error("a fresh grant is done")
	default:
	}
	s.release(g)
	s.ended("released grant", g, coord.ErrReleased)
}

// owned opens two sessions. The first owns c and is renewed.
func (s *suite) owned(c coord.Claim) (owner, rival coord.DriverSession, g coord.Grant) {
	s.Helper()
	owner, rival = s.open(), s.open()
	g = s.must(owner, c)
	s.keep(owner, g)
	return owner, rival, g
}

func tryMisses(s *suite, c coord.Claim) {
	_, rival, g := s.owned(c)
	s.misses(rival, c, "another owns it")
	if g.Err() != nil {
		s.Errorf("the owner lost it to a try: %v", g.Err())
	}
}

func waitGets(s *suite, c coord.Claim) {
	owner, rival, g := s.owned(c)
	s.keep(rival, nil)
	got := s.start(s.ctx, rival, waiting(c))
	s.seen(owner, c, "waits", func(d coord.Description) bool { return !d.WaitersKnown || len(d.Waiters) == 1 })
	s.release(g)
	a := s.receive(got)
	if a.err != nil || !a.ok {
		s.Fatalf("waiting: ok %v, %v", a.ok, a.err)
	}
	if i := a.grant.Info(); i.Asked.Add(i.Valid).Before(time.Now()) {
		s.Errorf("the grant was %v old when it was given, its window is %v", time.Since(i.Asked), i.Valid)
	}
}

// seen waits until the driver's Describe shows what is wanted; if the session is no Describer, it does nothing.
func (s *suite) seen(session coord.DriverSession, c coord.Claim, what string, want func(coord.Description) bool) {
	s.Helper()
	d, ok := session.(coord.Describer)
	if !ok {
		return
	}
	var got coord.Description
	s.until(func() bool {
		var err error
		if got, err = d.Describe(s.ctx, c.Kind, c.Name); !errors.Is(err, coord.ErrNotFound) {
			s.noError("describing", err)
		}
		return want(got)
	}, func() string { return fmt.Sprintf("never seen that it %s: %+v", what, got) })
}

func waitRunsOut(s *suite, c coord.Claim) {
	_, rival, g := s.owned(c)
	third := s.open()
	s.keep(rival, nil)
	s.keep(third, nil)
	short := c
	short.Wait = s.h.TTL / 4
	start := time.Now()
	_, ok, err := rival.Acquire(s.ctx, short)
	if ok || err != nil {
		s.Fatalf("waiting for what is owned: ok %v, %v, want neither", ok, err)
	}
	if waited := time.Since(start); waited < short.Wait {
		s.Errorf("waited %v, want %v", waited, short.Wait)
	}
	s.nothingLeft(g, third, c)
}

// nothingLeft releases g and checks that third can own it at once.
func (s *suite) nothingLeft(g coord.Grant, third coord.DriverSession, c coord.Claim) {
	s.Helper()
	s.seen(third, c, "has no waiter", func(d coord.Description) bool { return len(d.Waiters) == 0 })
	s.release(g)
	next := s.must(third, c)
	s.seen(third, c, "has one owner", func(d coord.Description) bool { return len(d.Owners) == 1 })
	s.release(next)
}

func cancelLeavesNothing(s *suite, c coord.Claim) {
	owner, rival, g := s.owned(c)
	third := s.open()
	s.keep(rival, nil)
	s.keep(third, nil)

	gone, cancel := context.WithCancel(s.ctx)
	cancel()
	if _, ok, err := rival.Acquire(gone, waiting(c)); ok || !errors.Is(err, context.Canceled) {
		s.Errorf("with an ended context: ok %v, %v, want context.Canceled", ok, err)
	}
	short, cancel := context.WithTimeout(s.ctx, s.h.TTL/4)
	defer cancel()
	if _, ok, err := rival.Acquire(short, waiting(c)); ok || !errors.Is(err, context.DeadlineExceeded) {
		s.Errorf("with a context that ends: ok %v, %v, want context.DeadlineExceeded", ok, err)
	}
	cut, cancel := context.WithCancel(s.ctx)
	defer cancel()
	got := s.start(cut, rival, waiting(c))
	s.seen(owner, c, "waits", func(d coord.Description) bool { return !d.WaitersKnown || len(d.Waiters) == 1 })
	cancel()
	if a := s.receive(got); a.ok || !errors.Is(a.err, context.Canceled) {
		s.Errorf("with a cancelled context: ok %v, %v, want context.Canceled", a.ok, a.err)
	}
	s.nothingLeft(g, third, c)
}

func releaseTwice(s *suite, c coord.Claim) {
	first, second, third := s.open(), s.open(), s.open()
	g := s.must(first, c)
	s.release(g)
	next := s.must(second, c)
	s.keep(second, next)
	s.release(g)
	g.Abandon()
	s.misses(third, c, "the next owner has it")
	if next.Err() != nil {
		s.Errorf("the next owner lost it to a second release: %v", next.Err())
	}
}

func abandoned(s *suite, c coord.Claim) {
	owner, rival := s.open(), s.open()
	g := s.must(owner, c)
	i := g.Info()
	s.keep(rival, nil)
	owner.Abandon()
	s.ended("abandoned session", owner, coord.ErrClosed)
	s.ended("its grant", g, coord.ErrClosed)
	s.must(rival, waiting(c))
	s.windowIsOver(i)
}

func abandonedGrant(s *suite, c coord.Claim) {
	owner, rival := s.open(), s.open()
	g := s.must(owner, c)
	i := g.Info()
	s.keep(rival, nil)
	g.Abandon()
	s.ended("abandoned grant", g, coord.ErrReleased)
	s.release(g) // Release does nothing after Abandon: the owner still has its window
	if owner.Err() != nil {
		s.Errorf("abandoning a grant ended its session: %v", owner.Err())
	}
	s.must(rival, waiting(c)) // if the session is the Renewer, its end frees c, because nobody renews it here
	s.windowIsOver(i)
}

func closeReleases(s *suite, c coord.Claim) {
	owner, rival := s.open(), s.open()
	g := s.must(owner, c)
	s.noError("closing", owner.Close(s.ctx))
	s.ended("closed session", owner, coord.ErrClosed)
	s.ended("its grant", g, coord.ErrClosed)
	s.must(rival, c)
}
