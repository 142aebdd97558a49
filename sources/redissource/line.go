package redissource

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/respwire"
	"coordtop/sources"
)

// errNoRedial is what the library gets when it wants to replace a broken connection behind
// our back, which would lose pushes without a trace.
var errNoRedial = errors.New("a broken connection is not replaced")

// errElsewhere says that two connections of one link lead to different servers: pushes of
// the one say nothing about what is read from the other.
var errElsewhere = errors.New("two servers behind one name")

// exchange makes the connections of one link, all to the same server. Sentinels are asked
// for the master each time.
type exchange struct {
	options *redis.Options
	dial    func(ctx context.Context, addr string) (respwire.Conn, error)
	db      int
	server  net.Addr // of the first connection
}

func newExchange(o rediscoord.ClientOptions) (*exchange, error) {
	server, err := rediscoord.NewServer(o)
	switch {
	case errors.Is(err, rediscoord.ErrCluster):
		return nil, err
	case err != nil: // nothing was sent yet: it is about the options, or a file that they name
		return nil, sources.Final(err, "%s", err)
	}
	return &exchange{options: server.Options, dial: server.Dial, db: o.DB}, nil
}

// line is one connection and a client around it that has no other and makes no other.
type line struct {
	client *redis.Client
	net    respwire.Conn
	addr   string // as in errors
}

// open dials and prepares a client, which logs in when it is first used and then calls
// ready. ctx bounds the dialling.
func (x *exchange) open(ctx context.Context, protocol int, ready func(context.Context, *redis.Conn) error) (*line, error) {
	o := *x.options
	conn, err := x.dial(ctx, o.Addr)
	if err != nil {
		return nil, err
	}
	if x.server == nil {
		x.server = conn.RemoteAddr()
	}
	if conn.RemoteAddr().String() != x.server.String() {
		return nil, errors.Join(errElsewhere, conn.Close())
	}
	hand := make(chan net.Conn, 1)
	hand <- conn
	o.Dialer = func(context.Context, string, string) (net.Conn, error) {
		select {
		case c := <-hand:
			return c, nil
		default:
			return nil, errNoRedial
		}
	}
	named := o.OnConnect
	o.OnConnect = func(ctx context.Context, c *redis.Conn) error {
		if err := x.enter(ctx, c); err != nil {
			return fmt.Errorf("entering: %w", err) // the library takes one wrapping off
		}
		if err := named(ctx, c); err != nil || ready == nil {
			return err
		}
		return ready(ctx, c)
	}
	o.DB, o.Protocol, o.PushNotificationProcessor, o.MaxRetries = 0, protocol, nil, -1
	return &line{client: redis.NewClient(&o), net: conn, addr: o.Addr}, nil
}

// enter does by itself what the library does with the login, so that it is known whether
// the database was refused.
func (x *exchange) enter(ctx context.Context, c *redis.Conn) error {
	if x.db == 0 {
		return c.Ping(ctx).Err()
	}
	if err := c.Select(ctx, x.db).Err(); err != nil {
		return &selectError{err}
	}
	return nil
}

// close ends the connection; what waits for it returns.
func (l *line) close() {
	_ = l.net.Close() // nothing is left to be flushed
	_ = l.client.Close()
}

// selectError says that it is the database which was refused.
type selectError struct{ err error }

// Error repeats what the server said.
func (e *selectError) Error() string { return fmt.Sprintf("selecting the database: %v", e.err) }

// Unwrap returns what the server said.
func (e *selectError) Unwrap() error { return e.err }
