package rediscoord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/internal/spawn"
)

// session is a client's presence: connections, grants, and what is owed to the service.
// Redis knows no sessions, so nothing but Close and Abandon ends one.
type session struct {
	driver *Driver
	client redis.UniversalClient
	ttl    time.Duration

	// life ends, with ErrClosed as its cause, when Close or Abandon begins: whoever waits
	// in the session's name stops. A session's context is what the session is.
	life context.Context
	end  context.CancelCauseFunc

	// cut ends when the connections are: nothing more is asked or dialled.
	cut   context.Context
	sever context.CancelFunc

	busy   sync.WaitGroup // calls of the core under way
	asking sync.WaitGroup // questions to the server under way, see ask

	done chan struct{} // closed when everything is over

	connections *connections // that it has made

	mu        sync.Mutex
	closed    bool
	grants    []*grant
	leftovers []leftover
}

var (
	_ coord.DriverSession = (*session)(nil)
	_ coord.Describer     = (*session)(nil)
)

func newSession(ctx context.Context, d *Driver, client redis.UniversalClient, made *connections, ttl time.Duration) *session {
	s := &session{driver: d, client: client, connections: made, ttl: ttl, done: make(chan struct{})}
	s.life, s.end = context.WithCancelCause(context.WithoutCancel(ctx))
	s.cut, s.sever = context.WithCancel(context.WithoutCancel(ctx))
	return s
}

// Info implements coord.DriverSession.
func (s *session) Info() coord.SessionInfo {
	return coord.SessionInfo{Caps: s.driver.options.Caps()}
}

// Caps is what a driver with these options can do.
func (o Options) Caps() coord.Caps {
	return coord.Caps{Mutex: true, Election: true, Fence: o.FenceSuffix != "", MaxData: maxData}
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

// errSessionOver is the one way in which such a session ends.
var errSessionOver = fmt.Errorf("the session was closed: %w", coord.ErrClosed)

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

// shutting reports whether Close or Abandon has begun.
func (s *session) shutting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// adopt lists a grant. It is false when the session is over.
func (s *session) adopt(g *grant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.grants = append(s.grants, g)
	return true
}

func (s *session) forget(g *grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants = slices.DeleteFunc(s.grants, func(o *grant) bool { return o == g })
}

// shut lets nobody in any more and returns the grants, newest first. It is false when it
// was done before.
func (s *session) shut() (grants []*grant, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	s.closed = true
	grants = slices.Clone(s.grants)
	slices.Reverse(grants)
	return grants, true
}

// Close implements coord.DriverSession.
func (s *session) Close(ctx context.Context) error {
	grants, first := s.shut()
	if !first {
		return nil
	}
	s.end(errSessionOver) // those who wait clean up after themselves
	grants = slices.DeleteFunc(grants, func(g *grant) bool { return !g.finish(errSessionOver) })
	idle := make(chan struct{})
	spawn.Go(s.life, nil, func() { // ends with the calls in flight, which over makes end; joined below
		defer close(idle)
		s.busy.Wait()
	})
	var errs []error
	for _, g := range grants {
		errs = append(errs, g.giveBack(ctx))
	}
	select {
	case <-idle:
	case <-ctx.Done():
	}
	errs = append(errs, s.releaseLeftoversAtClose(ctx))
	s.over()
	<-idle
	return errors.Join(errs...)
}

// releaseLeftoversAtClose gives back, while the session closes, what may be ours without our knowing. Where a
// late try makes that unsure, the connections are closed and a successor on new ones goes on until
// the server has none of the old ones, or ctx ends.
func (s *session) releaseLeftoversAtClose(ctx context.Context) error {
	all := func(leftover) bool { return true }
	err := s.releaseLeftovers(ctx, all)
	late := s.leftoversWhere(func(d leftover) bool { return d.late })
	if err == nil || len(late) == 0 {
		return err
	}
	s.disconnect()
	client, failed := s.driver.newClient(ctx, s.connections)
	if failed != nil {
		return uncertain(late[0].ttl, failed)
	}
	next := newSession(ctx, s.driver, client, s.connections, s.ttl)
	defer next.Abandon()
	next.leftovers = s.leftoversWhere(all)
	pause := retryPolicy.Start()
	for {
		err := next.releaseLeftovers(ctx, all)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, coord.ErrRefused), s.connections.hidden(s.driver.client.Refusals), pause.Wait(ctx) != nil:
			return uncertain(late[0].ttl, err)
		}
	}
}

// Abandon implements coord.DriverSession. Closing the client makes those in flight return,
// also a Close that is still talking.
func (s *session) Abandon() {
	grants, first := s.shut()
	if !first {
		s.disconnect()
		<-s.done
		return
	}
	s.end(errSessionOver)
	for _, g := range grants {
		g.finish(errSessionOver)
	}
	s.over()
}

// over cuts the connections and joins every call. Nobody asks any more once the calls are
// over, so that asking can be waited for.
func (s *session) over() {
	s.disconnect()
	s.busy.Wait()
	s.asking.Wait()
	close(s.done)
}

// disconnect makes everything in flight return, also what still dials.
func (s *session) disconnect() {
	s.sever()
	_ = s.client.Close() // that it was closed or broken already is of no interest
}
