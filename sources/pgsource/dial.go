package pgsource

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// socket makes the network connection of one connection of ours and remembers it. When
// that breaks, the library dials once more behind our back to cancel what may still run;
// statements of ours end by themselves, and its goroutine would outlive the connection.
type socket struct {
	dial pgconn.DialFunc
	done atomic.Bool
	conn atomic.Pointer[net.Conn]
}

var errNoDial = errors.New("the connection is over")

func (s *socket) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.done.Load() {
		return nil, errNoDial
	}
	c, err := s.dial(ctx, network, address)
	if err == nil {
		s.conn.Store(&c)
	}
	return c, err
}

// cut ends the connection without a word.
func (s *socket) cut() {
	s.done.Store(true)
	if c := s.conn.Load(); c != nil {
		// Its only error is that it was closed before.
		_ = (*c).Close()
	}
}

// line is one connection to the server. It is used by one goroutine at a time.
type line struct {
	conn   *pgconn.PgConn
	socket *socket
}

// open connects. heard is called with what arrives on channels, by the goroutine that reads
// from the line; nil: nothing is listened to.
func open(ctx context.Context, o *Options, config *pgconn.Config, heard func(*pgconn.Notification)) (*line, error) {
	s := &socket{dial: o.Dial}
	if s.dial == nil {
		s.dial = (&net.Dialer{KeepAlive: 5 * time.Second}).DialContext
	}
	c := config.Copy()
	c.DialFunc = s.Dial
	if heard != nil {
		c.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { heard(n) }
	}
	conn, err := pgconn.ConnectConfig(ctx, c)
	if err != nil {
		return nil, because(ctx, "connecting", err)
	}
	s.done.Store(true)
	return &line{conn: conn, socket: s}, nil
}

// partingLimit bounds the goodbye.
const partingLimit = 300 * time.Millisecond

// close ends the line, with a goodbye if it is still whole, and joins what the library
// started for it.
func (l *line) close() {
	if !l.conn.IsClosed() {
		ctx, cancel := context.WithTimeout(context.Background(), partingLimit)
		// It always closes; its error is that the server could not be told.
		_ = l.conn.Close(ctx)
		cancel()
	}
	l.socket.cut()
	<-l.conn.CleanupDone()
}
