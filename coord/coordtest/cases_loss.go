package coordtest

import (
	"errors"

	"coordtop/coord"
)

func renewExtends(s *suite, c coord.Claim) {
	owner, rival := s.open(), s.open()
	g := s.must(owner, c)
	first := g.Info()
	s.keep(owner, g)
	s.keep(rival, nil)
	long := c
	long.Wait = s.h.TTL + s.h.TTL/2
	if _, ok, err := rival.Acquire(s.ctx, long); ok || err != nil {
		s.Fatalf("waiting for longer than the TTL of one who renews: ok %v, %v, want neither", ok, err)
	}
	if now := g.Info(); !now.Asked.After(first.Asked) {
		s.Error("Info does not show the window of the last renewal")
	}
}

// overtaken acquires c in one session, lets a grant expire and another session acquire the primitive.
func (s *suite) overtaken(c, next coord.Claim) (owner, rival coord.DriverSession, old, now coord.Grant) {
	s.Helper()
	owner, rival = s.open(), s.open()
	old = s.must(owner, c)
	s.keep(rival, nil)
	now = s.must(rival, waiting(next))
	s.keep(rival, now)
	return owner, rival, old, now
}

func unrenewed(s *suite, c coord.Claim) {
	owner, _, old, now := s.overtaken(c, c)
	if _, err := renewerOf(owner, old).Renew(s.ctx); !errors.Is(err, coord.ErrLost) {
		s.Fatalf("renewing what another owns: %v, want ErrLost", err)
	}
	s.ended("lost grant", old, coord.ErrLost, coord.ErrExpired)
	if err := old.Release(s.ctx); err != nil && !errors.Is(err, coord.ErrUncertain) { // the session may be unreachable
		s.noError("releasing", err)
	}
	s.misses(s.open(), c, "a late release must not take it from its new owner")
	if now.Err() != nil {
		s.Errorf("the new owner lost it: %v", now.Err())
	}
}

func takenAway(s *suite, c coord.Claim) {
	if s.h.Expire == nil {
		s.Skip("the harness cannot take anything away")
	}
	owner := s.open()
	g := s.must(owner, c)
	s.h.Expire(s, c.Kind, c.Name)
	if _, err := renewerOf(owner, g).Renew(s.ctx); !errors.Is(err, coord.ErrLost) {
		s.Errorf("renewing what was taken away: %v, want ErrLost", err)
	}
	s.ended("grant that was taken away", g, coord.ErrLost, coord.ErrExpired)
	if s.caps.OneFate {
		s.ended("session that was taken away", owner, coord.ErrLost, coord.ErrExpired)
	} else if owner.Err() != nil {
		s.Errorf("the session ended with one grant: %v", owner.Err())
	}
	s.must(s.open(), c)
}

func fenceGrows(s *suite, c coord.Claim) {
	if !s.caps.Fence {
		s.Skip("the service issues no fence")
	}
	one, two := s.open(), s.open()
	s.keep(one, nil)
	s.keep(two, nil)
	var last uint64
	for i := range 6 {
		session := one
		if i%3 == 0 {
			session = two
		}
		g := s.must(session, c)
		if f := g.Info().Fence; f <= last {
			s.Errorf("fence %d after %d", f, last)
		} else {
			last = f
		}
		s.release(g)
	}
}
