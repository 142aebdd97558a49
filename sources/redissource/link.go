package redissource

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/ground/respwire"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/sources/kit"
)

var errSilent = fmt.Errorf("%w of the server", sources.ErrSilent)

// link is one pair of connections, until either ends.
type link struct {
	*kit.Link
	o             *Options
	selected      *selection
	dialer        *dialer
	hints         *focusHints // of the source
	began         time.Time
	reads         *connection
	conn          *redis.Conn // on reads
	server        server
	inbox         *inbox
	stirred       chan struct{} // capacity 1: receives when something was pushed after a quiet time
	push          *pushConn     // nil if nothing is pushed
	heartbeat     heartbeat     // of push
	readHeartbeat heartbeat     // of reads
	answered      time.Time     // when the server last answered on reads
}

// dial returns a link with a read connection that is logged in. ctx bounds only the dialling. The caller must close the
// link.
func dial(ctx context.Context, o *Options, selected *selection) (*link, error) {
	d, err := newDialer(o.Client)
	if err != nil {
		return nil, err
	}
	l := newLink(ctx, o, selected, d)
	if err := l.login(ctx); err != nil {
		l.Close()
		return nil, l.ofMaster(errors.Join(err, ctx.Err()))
	}
	return l, nil
}

// ofMaster adds the server's address to an error if Sentinels named the server.
func (l *link) ofMaster(err error) error {
	if l.o.Client.Topology != rediscoord.Sentinel || l.dialer.server == nil || err == nil {
		return err
	}
	return &rediscoord.MasterError{Addr: l.dialer.server.String(), Err: err}
}

// Next implements kit.Conn.
func (l *link) Next(ctx context.Context) (sources.Change, error) {
	c, err := l.Link.Next(ctx)
	return c, l.ofMaster(err)
}

func newLink(ctx context.Context, o *Options, selected *selection, d *dialer) *link {
	return &link{Link: kit.NewLink(ctx), o: o, selected: selected, dialer: d, inbox: newInbox(), stirred: make(chan struct{}, 1), hints: new(focusHints), began: time.Now()}
}

// login logs in, and returns an error if the user can read nothing.
func (l *link) login(ctx context.Context) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	stop := spawn.OnDone(ctx, l.reads.close)
	defer stop()
	_, err := l.mayRead(ctx)
	return err
}

// enter opens the read connection, logs in and asks the server for its facts.
func (l *link) enter(ctx context.Context) error {
	var err error
	if l.reads, err = l.dialer.open(ctx, l.o.Client.Protocol, nil); err != nil {
		return err
	}
	l.closeAtEnd(l.reads)
	stop := spawn.OnDone(ctx, l.reads.close)
	defer stop()
	l.conn = l.reads.client.Conn()
	if l.server, err = l.askServer(ctx); err != nil {
		return err
	}
	l.server.addr = l.dialer.server.String()
	return nil
}

// refusals returns the record of refused commands, on this link and earlier ones.
func (l *link) refusals() *rediscoord.Refusals { return l.o.Client.Refusals }

// mostSampled is the maximum number of keys that are read to find out whether the user may read any.
const mostSampled = 100

// mayRead returns an error if the user may not scan for the patterns or has no right to read. A refused command proves
// that; some refused keys do not, unless they are all keys. If there are too many keys to try all, the notes of the
// rows report the missing right. key is a key that may be read and is no table, or with an error the first one that was
// tried; "": no such key.
func (l *link) mayRead(ctx context.Context) (key string, err error) {
	names, cursor := slices.Collect(maps.Keys(l.selected.exact)), uint64(len(l.selected.globs))
	if len(names) == 0 {
		if names, cursor, err = l.conn.Scan(ctx, 0, l.selected.scanPattern(), scanCount).Result(); redis.IsPermissionError(err) {
			return "", fmt.Errorf("%w: %w", errNoScan, err)
		} else if err != nil {
			return "", err
		}
		names = slices.DeleteFunc(names, func(name string) bool { _, ok := l.selected.find(name); return !ok })
	}
	sampled := names[:min(len(names), mostSampled)]
	all := cursor == 0 && len(sampled) == len(names) && !l.selected.guess
	if len(sampled) == 0 {
		return "", nil
	}
	if readings, err := l.readKeys(ctx, sampled[:1]); err != nil || firstReadable(readings) == 0 { // in the usual case one key is enough
		return sampled[0], err
	}
	readings, err := l.readKeys(ctx, sampled)
	if err != nil {
		return "", err
	}
	lacks := allRights
	for _, r := range readings {
		if r == nil || r.shape != denied {
			if i := firstReadable(readings); i >= 0 {
				key = names[i]
			}
			return key, nil
		}
		if r.lacks != allRights {
			lacks = r.lacks
		}
	}
	if all || lacks != allRights {
		return names[0], &noReadError{lacks}
	}
	return "", nil
}

// readKeys reads keys by their names.
func (l *link) readKeys(ctx context.Context, names []string) ([]*reading, error) {
	questions := make([]question, len(names))
	for i, name := range names {
		questions[i].name = name
	}
	return fetch(ctx, l.conn, l.refusals(), questions)
}

// firstReadable returns the index of the first key that may be read and is no table, or -1.
func firstReadable(readings []*reading) int {
	return slices.IndexFunc(readings, func(r *reading) bool { return r != nil && (r.shape == text || r.shape == missing) })
}

// closeAtEnd closes c when the link ends, so that its reader returns.
func (l *link) closeAtEnd(c interface{ close() }) {
	l.Start(func() error {
		<-l.Context().Done()
		c.close()
		return nil
	})
}

// adopt makes c the link's push connection.
func (l *link) adopt(c *pushConn) {
	l.closeAtEnd(c)
	l.Start(func() error { return l.listen(l.Context(), c) })
	l.Start(func() error { return l.beat(l.Context(), c) })
}

// errNoRedial keeps the library from replacing a broken connection by itself, which would lose pushes without notice.
var errNoRedial = errors.New("a broken connection is not replaced")

// errTwoServers reports that two connections of one link lead to different servers, so that pushes of one prove nothing
// about reads from the other.
var errTwoServers = errors.New("two servers behind one name")

// errDatabase reports that the server refused the database.
var errDatabase = errors.New("selecting the database")

// dialer makes the connections of one link, all to the same server. It asks Sentinels for the master each time.
type dialer struct {
	options *redis.Options
	dial    func(ctx context.Context, addr string) (net.Conn, error)
	db      int
	server  net.Addr // of the first connection
}

func newDialer(o rediscoord.ClientOptions) (*dialer, error) {
	options, dial, err := rediscoord.NewServer(o)
	if err != nil { // nothing was sent yet: the options, or a file that they name, are wrong
		return nil, sources.Final(err, "%s", err)
	}
	return &dialer{options: options, dial: dial, db: o.DB}, nil
}

// connection is one connection to the server, in a client that never opens another.
type connection struct {
	client *redis.Client
	net    respwire.Conn
	addr   string // in the form used in errors
}

// open dials and returns a connection whose client logs in and calls ready at its first use. ctx bounds the dialling.
func (d *dialer) open(ctx context.Context, protocol int, ready func(context.Context, *redis.Conn) error) (*connection, error) {
	o := *d.options
	dialled, err := d.dial(ctx, o.Addr)
	if err != nil {
		return nil, err
	}
	conn := dialled.(respwire.Conn) // see rediscoord.NewServer
	if d.server == nil {            // set by login, before other goroutines start
		d.server = conn.RemoteAddr()
	}
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
			return fmt.Errorf("entering: %w", err) // because the library unwraps once
		}
		if err := named(ctx, c); err != nil || ready == nil {
			return err
		}
		return ready(ctx, c)
	}
	o.DB, o.Protocol, o.PushNotificationProcessor, o.MaxRetries = 0, protocol, nil, -1
	return &connection{client: redis.NewClient(&o), net: conn, addr: o.Addr}, nil
}

// enter selects the database after the login, instead of the library, so that a refused database has its own error.
func (d *dialer) enter(ctx context.Context, c *redis.Conn) error {
	if d.db == 0 {
		return c.Ping(ctx).Err()
	}
	if err := c.Select(ctx, d.db).Err(); err != nil {
		return fmt.Errorf("%w: %w", errDatabase, err)
	}
	return nil
}

// close ends the connection; pending calls return.
func (l *connection) close() {
	_ = l.net.Close() // nothing is left to flush
	_ = l.client.Close()
}
