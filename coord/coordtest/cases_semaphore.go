package coordtest

import (
	"errors"

	"coordtop/coord"
)

func shared(s *suite) {
	c := s.claim(s.anyKind())
	c.Mode = coord.Shared
	one, two, rival := s.open(), s.open(), s.open()
	first, second := s.must(one, c), s.must(two, c)
	s.keep(one, first)
	s.keep(two, second)

	exclusive := c
	exclusive.Mode = coord.Exclusive
	s.misses(rival, exclusive, "two share it")
	s.release(first)
	s.misses(rival, exclusive, "one still shares it")
	s.release(second)
	s.keep(rival, s.must(rival, waiting(exclusive)))
	s.misses(one, c, "it is owned exclusively")
}

func counts(s *suite) {
	c := s.semaphore(3)
	two := c
	two.Permits = 2
	one, other, rival := s.open(), s.open(), s.open()
	big, small := s.must(one, two), s.must(other, c)
	s.keep(one, big)
	s.keep(other, small)

	s.misses(rival, c, "3 of 3 permits are taken")
	s.release(small)
	s.misses(rival, two, "only 1 permit is free")
	s.keep(rival, s.must(rival, c))
	if d, ok := rival.(coord.Describer); ok {
		got, err := d.Describe(s.ctx, c.Kind, c.Name)
		s.noError("describing", err)
		if got.Limit != 3 || got.Taken != 3 {
			s.Errorf("described with %d of %d permits taken, want 3 of 3", got.Taken, got.Limit)
		}
	}
}

func tooMany(s *suite) {
	c := s.semaphore(2)
	c.Permits = 3
	session := s.open()
	s.keep(session, nil)
	if _, ok, err := session.Acquire(s.ctx, waiting(c)); ok || !errors.Is(err, coord.ErrRefused) {
		s.Errorf("3 permits of a limit of 2: ok %v, %v, want ErrRefused", ok, err)
	}
}

func provisions(s *suite) {
	session := s.open()
	s.keep(session, nil)
	p, ok := session.(coord.Provisioner)
	d, looks := session.(coord.Describer)
	if !ok || !looks {
		s.Skip("the session is no Provisioner or no Describer")
	}
	name := s.fresh(coord.KindSemaphore)
	check := func(when string, limit uint64, data string) {
		s.Helper()
		got, err := d.Describe(s.ctx, coord.KindSemaphore, name)
		if err != nil || got.Limit != limit || string(got.Data) != data {
			s.Fatalf("%s: limit %d, data %q, %v, want %d and %q", when, got.Limit, got.Data, err, limit, data)
		}
	}
	do := func(what string, err error, want error) {
		s.Helper()
		if !errors.Is(err, want) {
			s.Fatalf("%s: %v, want %v", what, err, want)
		}
	}
	_, err := d.Describe(s.ctx, coord.KindSemaphore, name)
	do("describing what does not exist", err, coord.ErrNotFound)
	_, _, err = session.Acquire(s.ctx, coord.Claim{Kind: coord.KindSemaphore, Name: name})
	do("acquiring what does not exist", err, coord.ErrNotFound)
	do("creating", p.Create(s.ctx, name, 7, []byte("first")), nil)
	check("after Create", 7, "first")
	do("updating", p.Update(s.ctx, name, []byte("second")), nil)
	check("after Update", 7, "second")
	g := s.must(session, coord.Claim{Kind: coord.KindSemaphore, Name: name})
	do("deleting what is in use", p.Delete(s.ctx, name, false), coord.ErrRefused)
	check("after a refused Delete", 7, "second")
	s.release(g)
	do("deleting", p.Delete(s.ctx, name, false), nil)
	do("deleting twice", p.Delete(s.ctx, name, false), coord.ErrNotFound)
	do("updating what is gone", p.Update(s.ctx, name, nil), coord.ErrNotFound)
	do("creating again", p.Create(s.ctx, name, 1, nil), nil)
	s.must(session, coord.Claim{Kind: coord.KindSemaphore, Name: name})
	do("deleting by force", p.Delete(s.ctx, name, true), nil)
}

func ephemeral(s *suite) {
	session := s.open()
	s.keep(session, nil)
	d, looks := session.(coord.Describer)
	if !looks {
		s.Skip("the session is no Describer")
	}
	c := coord.Claim{Kind: coord.KindSemaphore, Name: s.fresh(coord.KindSemaphore), Ephemeral: true}
	g := s.must(session, c)
	if got, err := d.Describe(s.ctx, c.Kind, c.Name); err != nil || !got.Ephemeral || len(got.Owners) != 1 {
		s.Fatalf("while owned: %+v, %v, want it ephemeral and with its owner", got, err)
	}
	s.release(g)
	if _, err := d.Describe(s.ctx, c.Kind, c.Name); !errors.Is(err, coord.ErrNotFound) {
		s.Errorf("after its last owner: %v, want ErrNotFound", err)
	}
}
