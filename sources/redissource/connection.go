package redissource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/respwire"
	"coordtop/sources"
)

// errNoRedial is what the library gets when it wants to replace a broken connection behind
// our back, which would lose pushes without a trace.
var errNoRedial = errors.New("a broken connection is not replaced")

// errTwoServers reports that two connections of one link lead to different servers: pushes of
// the one say nothing about what is read from the other.
var errTwoServers = errors.New("two servers behind one name")

// errDatabase reports that the server refused the database.
var errDatabase = errors.New("selecting the database")

// dialer makes the connections of one link, all to the same server. Sentinels are asked
// for the master each time.
type dialer struct {
	options *redis.Options
	dial    func(ctx context.Context, addr string) (respwire.Conn, error)
	db      int
	server  net.Addr // of the first connection
}

func newDialer(o rediscoord.ClientOptions) (*dialer, error) {
	options, dial, err := rediscoord.NewServer(o)
	if err != nil { // nothing was sent yet: it is about the options, or a file that they name
		return nil, sources.Final(err, "%s", err)
	}
	return &dialer{options: options, dial: dial, db: o.DB}, nil
}

// connection is one to the server, with a client around it that has no other and makes no other.
type connection struct {
	client *redis.Client
	net    respwire.Conn
	addr   string // as in errors
}

// open dials and prepares a client, which logs in when it is first used and then calls
// ready. ctx bounds the dialling.
func (d *dialer) open(ctx context.Context, protocol int, ready func(context.Context, *redis.Conn) error) (*connection, error) {
	o := *d.options
	conn, err := d.dial(ctx, o.Addr)
	if err != nil {
		return nil, err
	}
	d.server = cmp.Or(d.server, conn.RemoteAddr())
	if conn.RemoteAddr().String() != d.server.String() {
		return nil, errors.Join(errTwoServers, conn.Close())
	}
	var taken atomic.Bool
	o.Dialer = func(context.Context, string, string) (net.Conn, error) {
		if taken.Swap(true) {
			return nil, errNoRedial
		}
		return conn, nil
	}
	named := o.OnConnect
	o.OnConnect = func(ctx context.Context, c *redis.Conn) error {
		if err := d.enter(ctx, c); err != nil {
			return fmt.Errorf("entering: %w", err) // the library takes one wrapping off
		}
		if err := named(ctx, c); err != nil || ready == nil {
			return err
		}
		return ready(ctx, c)
	}
	o.DB, o.Protocol, o.PushNotificationProcessor, o.MaxRetries = 0, protocol, nil, -1
	return &connection{client: redis.NewClient(&o), net: conn, addr: o.Addr}, nil
}

// enter does by itself what the library does with the login, so that it is known whether
// the database was refused.
func (d *dialer) enter(ctx context.Context, c *redis.Conn) error {
	if d.db == 0 {
		return c.Ping(ctx).Err()
	}
	if err := c.Select(ctx, d.db).Err(); err != nil {
		return fmt.Errorf("%w: %w", errDatabase, err)
	}
	return nil
}

// close ends the connection; what waits for it returns.
func (l *connection) close() {
	_ = l.net.Close() // nothing is left to be flushed
	_ = l.client.Close()
}
