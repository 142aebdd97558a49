package dflockcoord

import (
	"context"
	"errors"
	"slices"
	"time"

	"coordtop/coord"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/dflockwire"
	"coordtop/internal/spawn"
)

// session is what claims share: a TTL and what is known of the servers. A server knows no
// sessions, so only Close and Abandon end one.
type session struct {
	*lifetime.Session[claimed]
	driver    *Driver
	servers   []server
	ttl       time.Duration // 0: the server's default
	observers []*observer   // one for each server

	cut  context.Context // ends when no request may be sent any more
	stop context.CancelFunc
}

// claimed is a grant, or a place in a queue.
type claimed interface {
	finish(cause error) bool // false: it was over before
	giveBack(ctx context.Context) error
	detach() // sends nothing
}

var (
	_ coord.DriverSession = (*session)(nil)
	_ coord.Describer     = (*session)(nil)
	_ coord.Queuer        = (*session)(nil)
)

func newSession(ctx context.Context, d *Driver, servers []server, ttl time.Duration) *session {
	s := &session{Session: lifetime.NewSession[claimed](ctx), driver: d, servers: servers, ttl: ttl}
	s.cut, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	for _, dialer := range d.dialers {
		s.observers = append(s.observers, &observer{dialer: dialer, turn: make(chan struct{}, 1)})
	}
	return s
}

// Info implements coord.DriverSession.
func (s *session) Info() coord.SessionInfo {
	caps := s.driver.options.Caps()
	caps.Fence = !slices.ContainsFunc(s.servers, func(one server) bool { return !one.modern })
	return coord.SessionInfo{Caps: caps}
}

// Close implements coord.DriverSession.
func (s *session) Close(ctx context.Context) error {
	all, first := s.Shut(errSessionOver)
	if !first {
		return nil
	}
	defer spawn.OnDone(ctx, s.stop)()
	all = slices.DeleteFunc(all, func(c claimed) bool { return !c.finish(errSessionOver) })
	var errs []error
	for _, c := range all {
		errs = append(errs, c.giveBack(ctx))
	}
	s.over()
	return errors.Join(errs...)
}

// Abandon implements coord.DriverSession. What is owned runs out on connections that the
// driver keeps until then.
func (s *session) Abandon() {
	all, first := s.Shut(errSessionOver)
	s.stop()
	if !first {
		<-s.Done()
		return
	}
	for _, c := range all {
		if c.finish(errSessionOver) {
			c.detach()
		}
	}
	s.over()
}

// over joins every goroutine and ends the connections.
func (s *session) over() {
	s.Wait()
	s.stop()
	for _, o := range s.observers {
		o.hangUp()
	}
	s.Finish(errSessionOver)
}

// observer is a connection to one server that only reads.
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

// hangUp ends the connection.
func (o *observer) hangUp() {
	if o.conn != nil {
		o.conn.Close()
	}
}
