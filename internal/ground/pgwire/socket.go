package pgwire

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// phase is the present reason for which a connection's socket may be dialled. When a connection breaks, the library by
// itself dials again to cancel a statement that may still run. That dial is refused: it could interrupt a statement in
// a session that others use, and its goroutine would outlive the connection.
type phase int32

const (
	phaseConnecting phase = iota
	phaseConnected
	phaseCancelling
)

// errNoDial ends the dials that the library begins by itself.
var errNoDial = errors.New("the connection is over")

// connectMark is in the context of a connect. The library passes this context to the dials of that
// connect, but not to those by which it cancels a statement at an earlier host.
type connectMark struct{}

// dialFunc makes a network connection.
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// socket makes the network connection of one Conn and remembers it.
type socket struct {
	dial  dialFunc
	phase atomic.Int32
	conn  atomic.Pointer[net.Conn]
	at    atomic.Pointer[string] // the address that was dialled
	state traffic
}

func (s *socket) enter(p phase) { s.phase.Store(int32(p)) }

// Dial makes the connection. Hosts may be tried in turn; it remembers the last one.
func (s *socket) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	now := phase(s.phase.Load())
	if now == phaseConnected || now == phaseConnecting && ctx.Value(connectMark{}) == nil {
		return nil, errNoDial
	}
	c, err := s.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if now == phaseCancelling {
		return c, nil
	}
	s.state.reset()
	c = &counted{Conn: c, state: &s.state}
	s.conn.Store(&c)
	s.at.Store(&address)
	return c, nil
}

// close closes the socket without a goodbye, so that its readers and writers return at once.
func (s *socket) close() {
	if c := s.conn.Load(); c != nil {
		_ = (*c).Close() // an error means only that it was closed before
	}
}

// interrupt makes the socket's reads and writes fail: at once, or after Grace if an interruption could harm others.
func (s *socket) interrupt() {
	s.state.gate.Lock()
	defer s.state.gate.Unlock()
	if s.state.delicate() {
		s.expire(time.Now().Add(Grace))
	} else {
		s.expire(time.Now())
	}
}

// expire sets the deadline of the socket's reads and writes; zero: none.
func (s *socket) expire(t time.Time) {
	if c := s.conn.Load(); c != nil {
		_ = (*c).SetDeadline(t) // a closed one needs none
	}
}

// HandleCancel implements ctxwatch.Handler.
func (s *socket) HandleCancel(context.Context) { s.interrupt() }

// HandleUnwatchAfterCancel implements ctxwatch.Handler.
func (s *socket) HandleUnwatchAfterCancel() { s.expire(time.Time{}) }

// local returns the address of our end; nil if it is not a TCP address.
func (s *socket) local() *net.TCPAddr {
	if c := s.conn.Load(); c != nil {
		a, _ := (*c).LocalAddr().(*net.TCPAddr)
		return a
	}
	return nil
}
