package pgcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/pgwire"
)

const driverName = "postgres"

// Driver is the coord.Driver of the advisory locks of one Postgres database.
type Driver struct {
	config  *pgconn.Config
	options Options
	known   pgwire.Known

	mu        sync.Mutex
	abandoned connections // of abandoned grants, until they expire
	serving   connections // of all sessions
	closed    bool
}

// New returns a driver for the database that a URL or keyword string names. It reads them like libpq, including PG*
// variables, password and service files. Several hosts are tried in turn until one is the primary, unless
// target_session_attrs says otherwise. New does not connect. Its error wraps coord.ErrInvalid, and never repeats a part
// of dsn that it could not read.
func New(dsn string, o Options) (*Driver, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	config, _, err := pgwire.Parse(dsn) // sources report the ignored parameters
	if err != nil {
		return nil, fmt.Errorf("%w: %w", coord.ErrInvalid, err)
	}
	pgwire.Override(o.Override).Apply(config)
	return &Driver{config: config, options: o, abandoned: connections{}, serving: connections{}}, nil
}

// Name implements coord.Driver.
func (d *Driver) Name() string { return driverName }

// Open implements coord.Driver: it connects, so that a wrong address, password, right or server is reported at once,
// and keeps the connection for the first claim. It refuses (coord.ErrRefused) a pooler that does not give us a server
// session of our own, a standby if no other host is named, and a server older than version 12.
func (d *Driver) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	s := &session{
		Session:     lifetime.NewSession[*grant](ctx),
		driver:      d,
		identity:    Identity(o.Description),
		ttl:         cmp.Or(o.TTL, d.options.TTL),
		connections: connections{},
		places:      map[*place]struct{}{},
	}
	if err := CheckTTL(s.ttl); err != nil {
		return nil, err
	}
	l, err := s.connect(ctx, s.ttl, s.identity)
	if err != nil {
		s.Abandon()
		return nil, failure.With(err, ctx.Err())
	}
	s.caps = d.options.Caps(o.Description)
	s.putBack(l)
	return s, nil
}

// Caps returns the abilities of a driver with these options. They depend on the identity, because the identity and the
// data of a claim share the name of a session.
func (o Options) Caps(identity string) coord.Caps {
	return coord.Caps{Mutex: true, Election: true, Shared: true, Fence: true, FIFO: o.Poll == 0, MaxData: maxData(identity)}
}

// check refuses a standby, on which a lock does not keep the primary's clients out.
func (d *Driver) check(f facts) error {
	if !f.standby {
		return nil
	}
	reason := errors.New("this server is a standby: a lock taken here is free on the primary")
	if pgwire.SeveralHosts(d.config) {
		return reason // another host may be the primary soon
	}
	return fmt.Errorf("%w: %w (name the primary, or all hosts)", coord.ErrRefused, reason)
}

// lockName is the name of a lock with its key. If sql is not empty, the server must compute the key with this
// statement.
type lockName struct {
	name, sql string
	key       Key
}

// key returns the key of a name, or the statement that computes it. It returns an error if no lock can have that name.
func (o Options) key(name string) (lockName, error) {
	k, named, err := ParseKey(name)
	switch {
	case err != nil:
		return lockName{}, fmt.Errorf("%w: %w", coord.ErrInvalid, err)
	case !named && k.Foreign():
		return lockName{}, fmt.Errorf("%w: an extension made the key %v: the functions for advisory locks cannot take it", coord.ErrInvalid, k)
	case !named:
		return lockName{key: k}, nil
	}
	k, sql := o.Scheme.Key(name)
	return lockName{name, sql, k}, nil
}

// of returns the key of a name. It asks the server for the key if needed.
func (n lockName) of(ctx context.Context, conn *pgwire.Conn) (Key, error) {
	if n.sql == "" {
		return n.key, nil
	}
	r, err := single(ctx, conn, n.sql, n.name)
	var number int64
	if err == nil {
		number, err = strconv.ParseInt(r.Text(0), 10, 64)
	}
	if err != nil {
		return Key{}, fmt.Errorf("computing the key of a name: %w", err)
	}
	return BigintKey(number), nil
}

// keepAbandoned keeps an abandoned connection until it expires; the driver's Close ends it earlier.
func (d *Driver) keepAbandoned(l *connection) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		l.cut(errClosed)
	}
	d.abandoned.add(l)
}

// payloadLimit is the maximum number of bytes in a notification.
const payloadLimit = 7999

// Notify sends payload on a channel to all listeners in this database, including leaders. It needs no session, and
// makes a connection for each call. The payload is at most 7999 bytes, else the error wraps coord.ErrDataTooLong; if
// the channel is invalid, it wraps coord.ErrInvalid. After another error the payload may have been sent.
func (d *Driver) Notify(ctx context.Context, channel, payload string) error {
	if err := CheckChannel(channel); err != nil {
		return fmt.Errorf("notifying: %w", err)
	}
	if len(payload) > payloadLimit {
		return fmt.Errorf("notifying: %w: %d bytes, Postgres carries %d", coord.ErrDataTooLong, len(payload), payloadLimit)
	}
	if !validText(payload) {
		return fmt.Errorf("notifying: %w: the payload has a zero byte or is not UTF-8", coord.ErrInvalid)
	}
	l, err := d.newPrepared(ctx, d.options.TTL, defaultIdentity)
	if err != nil {
		return fmt.Errorf("notifying: %w", err)
	}
	defer l.close(ctx)
	return notOurLoss(l.do(ctx, func(ctx context.Context, conn *pgwire.Conn) error {
		return notify(ctx, conn, channel, payload)
	}))
}

// notify sends a payload.
func notify(ctx context.Context, conn *pgwire.Conn, channel, payload string) error {
	if _, err := query(ctx, conn, "select pg_catalog.pg_notify($1::text, $2::text)", channel, payload); err != nil {
		return fmt.Errorf("notifying: %w", err)
	}
	return nil
}

// Close implements coord.Driver.
func (d *Driver) Close(context.Context) error {
	d.mu.Lock()
	d.closed = true
	left := d.abandoned
	d.abandoned = connections{}
	d.mu.Unlock()
	left.cut()
	return nil
}

// connections are connections that must have ended before their owner is closed. The owner's mutex guards them.
type connections map[*connection]struct{}

// add adds l, and drops connections that have ended, to keep the list short.
func (m connections) add(l *connection) {
	maps.DeleteFunc(m, func(old *connection, _ struct{}) bool { return isClosed(old.done) })
	m[l] = struct{}{}
}

// cut ends all connections immediately and waits until they have ended.
func (m connections) cut() {
	for l := range m {
		l.cut(errClosed)
	}
	for l := range m {
		<-l.done
	}
}

// errPooler reports that our statements run in sessions that other clients use as well, where everybody who asks is
// granted the same lock.
var errPooler = fmt.Errorf("%w: a pooler in transaction or statement mode stands between: it gives each statement another server session, "+
	"so two could own one lock: use its session mode, or the server's own address", coord.ErrRefused)

// errMoved reports that the process of the server that answered is not the one that granted the lock.
var errMoved = errors.New("another server session answered: a pooler stands between and has taken ours away")

// connect makes one connection, with keepalives for ttl on our side. notify is called on the goroutine that reads from
// it. The session at the server is not configured yet. It refuses a pooler that lends its sessions.
func (d *Driver) connect(ctx context.Context, ttl time.Duration, notify func(*pgconn.Notification)) (*pgwire.Conn, error) {
	config := d.config.Copy()
	config.ConnectTimeout = cmp.Or(max(config.ConnectTimeout, 0), defaultConnect)
	conn, err := pgwire.Open(ctx, pgwire.Options{
		Config: config, Dial: d.options.Dial, Keepalive: net.KeepAliveConfig(keepaliveFor(ttl)),
		Notify: notify, Known: &d.known,
	})
	if err != nil {
		return nil, failure.With(classify(err), ctx.Err())
	}
	if conn.Pooler() == pgwire.Lent {
		conn.Close()
		return nil, errPooler
	}
	return conn, nil
}
