package dflockcoord

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"coordtop/coord"
	"coordtop/internal/dflockwire"
	"coordtop/internal/spawn"
)

// session is what claims share: a TTL and what is known of the servers. They know no session
// of ours, so nothing but Close and Abandon ends one.
type session struct {
	driver    *Driver
	servers   []server
	ttl       time.Duration // 0: the server's default
	observers []*observer   // one for each server

	life context.Context // ends when Close or Abandon begins
	end  context.CancelFunc
	cut  context.Context // ends when nothing more is asked
	stop context.CancelFunc
	done chan struct{}

	busy  sync.WaitGroup // calls of the core under way
	tasks sync.WaitGroup // goroutines of grants and places

	mu     sync.Mutex
	closed bool
	grants []*grant // oldest first
	places []*place // enqueued and not yet granted
}

var (
	_ coord.DriverSession = (*session)(nil)
	_ coord.Describer     = (*session)(nil)
	_ coord.Queuer        = (*session)(nil)
)

func newSession(ctx context.Context, d *Driver, servers []server, ttl time.Duration) *session {
	s := &session{driver: d, servers: servers, ttl: ttl, done: make(chan struct{})}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.cut, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	for _, dialer := range d.dialers {
		s.observers = append(s.observers, &observer{dialer: dialer, turn: make(chan struct{}, 1)})
	}
	return s
}

// Info implements coord.DriverSession.
func (s *session) Info() coord.SessionInfo {
	fences := !slices.ContainsFunc(s.servers, func(one server) bool { return !one.modern })
	return coord.SessionInfo{Caps: coord.Caps{Mutex: true, Semaphore: true, Election: true, FIFO: true, Fence: fences}}
}

// Done implements coord.DriverSession.
func (s *session) Done() <-chan struct{} { return s.done }

// Err implements coord.DriverSession.
func (s *session) Err() error {
	select {
	case <-s.done:
		return errSessionOver
	default:
		return nil
	}
}

// enter joins a call to the session: its context ends with the caller's and with the
// session's. leave must be called. It is false when the session is over.
func (s *session) enter(ctx context.Context) (joined context.Context, leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, false
	}
	s.busy.Add(1)
	joined, cancel := context.WithCancelCause(ctx)
	stop := spawn.OnDone(s.life, func() { cancel(errSessionOver) })
	return joined, func() {
		stop()
		cancel(nil)
		s.busy.Done()
	}, true
}

// adopt lists a grant; false: the session is over.
func (s *session) adopt(g *grant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.grants = append(s.grants, g)
	}
	return !s.closed
}

func (s *session) forget(g *grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants = slices.DeleteFunc(s.grants, func(o *grant) bool { return o == g })
}

// shut lets nobody in any more and returns what there is, newest grants first. It is false
// when it was done before.
func (s *session) shut(because error) (grants []*grant, places []*place, first bool) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, nil, false
	}
	s.closed = true
	grants, places = slices.Clone(s.grants), slices.Clone(s.places)
	s.mu.Unlock()
	s.end()
	slices.Reverse(grants)
	return slices.DeleteFunc(grants, func(g *grant) bool { return !g.finish(because) }), places, true
}

// Close implements coord.DriverSession.
func (s *session) Close(ctx context.Context) error {
	grants, places, first := s.shut(errSessionOver)
	if !first {
		return nil
	}
	var errs []error
	for _, g := range grants {
		errs = append(errs, g.giveBack(ctx))
	}
	for _, p := range places {
		errs = append(errs, p.leave(ctx))
	}
	s.over()
	return errors.Join(errs...)
}

// Abandon implements coord.DriverSession. What is owned runs out on connections that the
// driver keeps until then.
func (s *session) Abandon() {
	grants, places, first := s.shut(errSessionOver)
	s.stop()
	if !first {
		<-s.done
		return
	}
	for _, g := range grants {
		g.detach()
	}
	for _, p := range places {
		p.conn.Close()
	}
	s.over()
}

// over joins everything.
func (s *session) over() {
	s.busy.Wait()
	s.stop()
	for _, o := range s.observers {
		o.close()
	}
	s.tasks.Wait()
	close(s.done)
}

// observer is a connection to one server for looking.
type observer struct {
	dialer dflockwire.Dialer
	turn   chan struct{} // holds one element while somebody uses conn
	conn   *dflockwire.Conn
}

// stats lists everything on the server. The server may have ended the connection since it was
// used last, so it is tried anew once.
func (o *observer) stats(ctx context.Context) (dflockwire.Stats, error) {
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return dflockwire.Stats{}, ctx.Err()
	}
	for used := o.conn != nil; ; used = false {
		if o.conn == nil {
			var err error
			if o.conn, err = o.dialer.Connect(ctx); err != nil {
				return dflockwire.Stats{}, err
			}
		}
		stats, err := o.conn.Stats(ctx)
		if err == nil {
			return stats, nil
		}
		o.conn.Close()
		o.conn = nil
		if !used || !errors.Is(err, dflockwire.ErrHungUp) {
			return dflockwire.Stats{}, err
		}
	}
}

func (o *observer) close() {
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	if o.conn != nil {
		o.conn.Close()
		o.conn = nil
	}
}
