package coordtest

import (
	"errors"
	"sync"

	"coordtop/coord"
)

// waitingIsTold checks that Claim.Waiting is called when the service has queued a claim.
func waitingIsTold(s *suite) {
	c := waiting(s.claim(coord.KindMutex))
	owner := s.open()
	g := s.must(owner, c)
	s.keep(owner, g)
	noted := make(chan struct{})
	c.Waiting = sync.OnceFunc(func() { close(noted) })
	session := s.open()
	s.keep(session, nil)
	answers := s.start(s.ctx, session, c)
	select {
	case <-noted:
	case a := <-answers:
		s.Fatalf("it does not wait: ok %v, %v", a.ok, a.err)
	case <-s.ctx.Done():
		s.Fatal("nobody was told that the claim waits")
	}
	s.release(g)
	if a := s.receive(answers); a.err != nil || !a.ok {
		s.Fatalf("waiting: ok %v, %v", a.ok, a.err)
	}
}

// uncertainClaim checks that a claim that was sent is uncertain, not a miss, if its time or its session ends before the
// service answers.
func uncertainClaim(s *suite) {
	if s.h.Freezer == nil || !s.h.FreezesQueues {
		s.Skip("the harness cannot freeze a service's queues")
	}
	d, freeze := s.h.Freezer(s)
	s.Cleanup(func() { _ = d.Close(s.ctx) }) // the service does not answer
	var sessions [2]coord.DriverSession
	for i := range sessions {
		session, err := d.Open(s.ctx, s.options())
		s.noError("opening a session", err)
		s.Cleanup(session.Abandon)
		sessions[i] = session
	}
	c := waiting(s.claim(coord.KindMutex))
	s.must(sessions[0], c)
	noted := make(chan struct{})
	c.Waiting, c.Wait = sync.OnceFunc(func() { close(noted) }), 2*s.h.TTL
	answers := s.start(s.ctx, sessions[1], c)
	await(s, noted, "nobody was told that the claim waits")
	freeze()
	if a := s.receive(answers); a.ok || !errors.Is(a.err, coord.ErrUncertain) {
		s.Errorf("it ended with ok %v, %v, want ErrUncertain", a.ok, a.err)
	}
}

// waitingOutlives checks that a waiting claim is granted after each error that passes, and that OnTrouble receives
// these errors.
func waitingOutlives(s *suite) {
	if s.h.Troubles == nil {
		s.Skip("the harness makes no trouble")
	}
	newDriver, all := s.h.Troubles(s)
	s.h.NewDriver = newDriver
	for _, t := range all {
		s.outlive(t)
	}
}

func (s *suite) outlive(t Trouble) {
	s.Helper()
	name := s.fresh(coord.KindMutex)
	l := s.lock(s.core(), name)
	told := make(chan coord.Trouble, 1000)
	o := s.options()
	o.OnTrouble = func(x coord.Trouble) {
		if x.Err == nil { // reports the place in the queue, or that the claim waits again
			return
		}
		select {
		case told <- x:
		default: // the first ones are enough
		}
	}
	session := s.coreOn(s.driver(), o)
	type outcome struct {
		l   *coord.Lease
		err error
	}
	outcomes := make(chan outcome, 1)
	s.background(func() {
		l, err := session.Mutex(name, coord.MutexOptions{}).Lock(s.ctx)
		outcomes <- outcome{l, err}
	})
	t.Begin()
	if !t.Silent {
		select {
		case x := <-told:
			if !coord.Passing(x.Err) {
				s.Errorf("%s: the claim goes on after what is said not to pass: %v", t.Name, x.Err)
			}
		case got := <-outcomes:
			s.Fatalf("%s: the claim ended: %v", t.Name, got.err)
		case <-s.ctx.Done():
			s.Fatalf("%s: nobody was told of the trouble", t.Name)
		}
	}
	t.End()
	_ = l.Release(s.ctx) // the trouble may have ended the lease
	select {
	case got := <-outcomes:
		if got.err != nil {
			s.Fatalf("%s: the claim did not outlive it: %v", t.Name, got.err)
		}
		if err := got.l.Release(s.ctx); err != nil {
			s.Errorf("%s: releasing: %v", t.Name, err)
		}
	case <-s.ctx.Done():
		s.Fatalf("%s: what passed has passed, and the claim gets nothing", t.Name)
	}
}
