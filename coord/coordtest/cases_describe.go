package coordtest

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"

	"coordtop/coord"
)

func inOrder(s *suite, c coord.Claim) {
	owner := s.open()
	if _, ok := owner.(coord.Queuer); !s.caps.FIFO || !ok {
		s.Skip("the service serves in no order, or takes no places")
	}
	g := s.must(owner, c)
	s.keep(owner, g)
	var places []coord.Place
	for range 4 {
		waiter := s.open()
		s.keep(waiter, nil)
		p, err := waiter.(coord.Queuer).Enqueue(s.ctx, waiting(c))
		s.noError("enqueueing", err)
		places = append(places, p)
	}
	for i, p := range places {
		s.release(g)
		g = s.served(p, i)
	}
	s.release(g)
	s.release(s.must(owner, c))
}

// served waits at a place and returns its grant.
func (s *suite) served(p coord.Place, number int) coord.Grant {
	s.Helper()
	g, ok, err := p.Wait(s.ctx)
	if err != nil || !ok {
		s.Fatalf("place %d: ok %v, %v", number, ok, err)
	}
	return g
}

func places(s *suite, c coord.Claim) {
	owner, one, two := s.open(), s.open(), s.open()
	q, ok := one.(coord.Queuer)
	if !ok {
		s.Skip("the session takes no places")
	}
	for _, session := range []coord.DriverSession{owner, one, two} {
		s.keep(session, nil)
	}
	enqueue := func(q coord.Queuer, c coord.Claim) coord.Place {
		s.Helper()
		p, err := q.Enqueue(s.ctx, c)
		s.noError("enqueueing", err)
		return p
	}
	g := s.served(enqueue(owner.(coord.Queuer), waiting(c)), 0) // granted at once

	left, kept := enqueue(q, waiting(c)), enqueue(two.(coord.Queuer), waiting(c))
	short, cancel := context.WithTimeout(s.ctx, s.h.TTL/10)
	defer cancel()
	if _, ok, err := kept.Wait(short); ok || !errors.Is(err, context.DeadlineExceeded) {
		s.Fatalf("waiting with a context that ends: ok %v, %v, want context.DeadlineExceeded", ok, err)
	}
	s.noError("leaving", left.Leave(s.ctx))
	s.release(g)
	next := s.served(kept, 1) // it kept its place, and nobody is before it

	short2 := c
	short2.Wait = s.h.TTL / 10
	if _, ok, err := enqueue(q, short2).Wait(s.ctx); ok || err != nil {
		s.Fatalf("a place whose wait runs out: ok %v, %v, want neither", ok, err)
	}
	granted := enqueue(q, waiting(c))
	s.release(next)
	s.seen(owner, c, "has the last one as its owner", func(d coord.Description) bool {
		return len(d.Owners) == 1 && len(d.Waiters) == 0
	})
	s.noError("leaving what is granted", granted.Leave(s.ctx))
	s.release(s.must(owner, c)) // it is free, so Leave released it
}

func described(s *suite, c coord.Claim) {
	session := s.open()
	s.keep(session, nil)
	if s.caps.MaxData > 0 {
		c.Data = bytes.Repeat([]byte("x"), min(s.caps.MaxData, 64))
	}
	g := s.must(session, c)
	d, ok := session.(coord.Describer)
	if !ok {
		s.Skip("the session is no Describer")
	}
	got, err := d.Describe(s.ctx, c.Kind, c.Name)
	if err != nil || len(got.Owners) != 1 {
		s.Fatalf("describing: %+v, %v, want one owner", got, err)
	}
	o, i := got.Owners[0], g.Info()
	switch {
	case got.Kind != c.Kind || got.Name != c.Name:
		s.Errorf("described as %v %q, want %v %q", got.Kind, got.Name, c.Kind, c.Name)
	case i.Owner != "" && o.ID != i.Owner:
		s.Errorf("described with the owner %q, which calls itself %q", o.ID, i.Owner)
	case o.Fence != 0 && o.Fence != i.Fence:
		s.Errorf("described with fence %d, granted with %d", o.Fence, i.Fence)
	case !bytes.Equal(o.Data, c.Data):
		s.Errorf("described with data %q, want %q", o.Data, c.Data)
	}
	if s.h.Owners != nil {
		if ids := s.h.Owners(s, c.Kind, c.Name); len(ids) != 1 || i.Owner != "" && ids[0] != i.Owner {
			s.Errorf("the service's owners are %q, ours calls itself %q", ids, i.Owner)
		}
	}
	s.release(g)
	got, err = d.Describe(s.ctx, c.Kind, c.Name)
	if len(got.Owners) != 0 || err != nil && !errors.Is(err, coord.ErrNotFound) {
		s.Errorf("after the release: %+v, %v, want no owner", got, err)
	}
}

// publisher returns g as a Publisher, or skips the case.
func (s *suite) publisher(g coord.Grant) coord.Publisher {
	s.Helper()
	p, ok := g.(coord.Publisher)
	if !ok || s.caps.MaxData == 0 {
		s.Skip("the grant is no Publisher")
	}
	return p
}

func publishes(s *suite, c coord.Claim) {
	owner, rival := s.open(), s.open()
	c.Data = s.data("first")
	g := s.must(owner, c)
	p := s.publisher(g)
	s.keep(rival, nil)
	for _, data := range []string{"second", "", strings.Repeat("z", s.caps.MaxData)} {
		if err := p.Publish(s.ctx, []byte(data)); err != nil {
			s.Fatalf("publishing %d bytes: %v", len(data), err)
		}
		s.seen(rival, c, "shows the new data", func(d coord.Description) bool {
			return len(d.Owners) == 1 && string(d.Owners[0].Data) == data
		})
	}
	if err := p.Publish(s.ctx, make([]byte, s.caps.MaxData+1)); !errors.Is(err, coord.ErrDataTooLong) {
		s.Errorf("publishing too much: %v, want ErrDataTooLong", err)
	}
	if i := g.Info(); s.caps.Fence && i.Fence == 0 {
		s.Error("publishing lost the fence")
	}
	i := g.Info()
	owner.Abandon()
	s.must(rival, waiting(c)) // a publication that dropped the TTL would keep it without end
	s.windowIsOver(i)         // unless publishing cut the TTL
}

func publishLate(s *suite, c coord.Claim) {
	c.Data = s.data("old")
	next := c
	next.Data = s.data("new")
	_, rival, old, _ := s.overtaken(c, next)
	if err := s.publisher(old).Publish(s.ctx, []byte("late")); !errors.Is(err, coord.ErrLost) {
		s.Errorf("publishing after a loss: %v, want ErrLost", err)
	}
	if d, ok := rival.(coord.Describer); ok {
		got, err := d.Describe(s.ctx, c.Kind, c.Name)
		if err != nil || len(got.Owners) != 1 || string(got.Owners[0].Data) != "new" {
			s.Errorf("after a late publication: %+v, %v, want the new owner's data", got, err)
		}
	}
}

func watches(s *suite, c coord.Claim) {
	owner, other := s.open(), s.open()
	w, ok := other.(coord.Watcher)
	if !ok {
		s.Skip("the session is no Watcher")
	}
	s.keep(owner, nil)
	s.keep(other, nil)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	var g coord.Grant
	steps := []step[coord.Description]{ // the first shows the present state
		{"nobody", func() {}, func(d coord.Description) bool { return len(d.Owners) == 0 }},
		{"an owner", func() { g = s.must(owner, c); s.keep(owner, g) }, func(d coord.Description) bool {
			return len(d.Owners) == 1 && d.Owners[0].ID == g.Info().Owner
		}},
		{"the release", func() { s.release(g) }, func(d coord.Description) bool { return len(d.Owners) == 0 }},
		{"another owner", func() { g = s.must(owner, c); s.keep(owner, g) }, func(d coord.Description) bool {
			return len(d.Owners) == 1
		}},
	}
	trial := s.must(owner, c)
	s.release(trial)
	if GrantAbilities(trial)&CanPublish != 0 && s.caps.MaxData > 0 {
		steps = append(steps, step[coord.Description]{"a publication", func() {
			s.is("publishing", g.(coord.Publisher).Publish(s.ctx, []byte("told")), nil)
		}, func(d coord.Description) bool { return len(d.Owners) == 1 && string(d.Owners[0].Data) == "told" }})
	}
	steps = append(steps, step[coord.Description]{"the end", cancel, nil})
	walk(s, w.Watch(ctx, c.Kind, c.Name), steps)
	if s.ctx.Err() != nil {
		s.Fatal("the watch did not end with its context")
	}
}

// step is an action and a check for the element of the sequence that shows its effect.
type step[T any] struct {
	what string
	do   func()
	seen func(T) bool // nil if the action ends the sequence
}

// walk reads a sequence and does each step when the one before it was yielded.
func walk[T any](s *suite, sequence iter.Seq2[T, error], steps []step[T]) {
	s.Helper()
	n := 0
	for x, err := range sequence {
		if err != nil {
			s.Fatalf("waiting for %s: %v", steps[n].what, err)
		}
		if seen := steps[n].seen; seen != nil && seen(x) {
			n++
			steps[n].do()
		}
	}
	if steps[n].seen != nil {
		s.Fatalf("it ended before it showed %s", steps[n].what)
	}
}
