package pgwire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgproto3"

	"coordtop/internal/ground/format"
	"coordtop/internal/ground/lazy"
)

const (
	// Grace bounds the wait for an answer whose caller no longer waits: interrupting the statement could harm others
	// who share its server session.
	Grace = 2 * time.Second
	// farewell bounds the goodbye of Close.
	farewell = 300 * time.Millisecond
)

// Options configure a connection. Only Config is needed.
type Options struct {
	// Config is the address and the user; it is not changed.
	Config *pgconn.Config
	// Dial makes the network connections. Nil: TCP with Keepalive, or a Unix socket.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Keepalive lets our system detect that the other end is gone.
	Keepalive net.KeepAliveConfig
	// Notify is called with each notification, by the goroutine that reads from the
	// Conn. Nil: notifications are dropped.
	Notify func(*pgconn.Notification)
	// Known remembers facts about the server from one connection to the next. Nil: each connection finds them out.
	Known *Known
}

// Conn is one connection. It is used by one goroutine at a time; only Cut may be called by any.
type Conn struct {
	conn   *pgconn.PgConn
	socket *socket

	pid    uint32 // of the server's process
	pooler Pooler
	major  int // number of the server's version
	nat    string
	note   string
	asked  int64 // counts the queries of who
}

// Open connects and finds out whether a pooler stands between us and the server. After an error no connection is left
// open. The error is one of this package's, a *Reply or a network error, joined with the error of ctx if ctx has ended.
// If the server or a pooler refuses parameters of the address, Open connects without them, see Note.
func Open(ctx context.Context, o Options) (*Conn, error) {
	o.Known = cmp.Or(o.Known, &Known{})
	c, err := connect(ctx, o)
	if err != nil && refusedParameter(err) && len(o.Config.RuntimeParams) > 0 && !o.Known.refuses.Swap(true) {
		c, err = connect(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	asking := ctx // it ends before ctx by the Grace that a missing answer may need
	if end, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		asking, cancel = context.WithDeadline(ctx, end.Add(-min(Grace, time.Until(end)/2)))
		defer cancel()
	}
	if err = c.inspect(asking, o); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// refusedParameter reports whether a login failed because of a parameter: one that the server does not know or whose
// value is impossible, or one that a pooler does not pass on. Only the text of a Reply would say more.
func refusedParameter(err error) bool {
	reply, ok := errors.AsType[*Reply](err)
	return ok && slices.Contains([]string{"42704", "42602", "22023", "08P01"}, reply.Code)
}

// plainName matches only the name of a setting. Other text may be part of a password that contains a ? or a &.
var plainName = lazy.Regexp(`^[a-z]{1,12}([._][a-z]{1,12})*$`)

// connect logs in.
func connect(ctx context.Context, o Options) (*Conn, error) {
	s := &socket{dial: o.Dial}
	if s.dial == nil {
		s.dial = (&net.Dialer{KeepAliveConfig: o.Keepalive}).DialContext
	}
	config := o.Config.Copy()
	var note string
	if o.Known.refuses.Load() {
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(config.RuntimeParams)), func(name string) bool { return !plainName().MatchString(name) })
		note = fmt.Sprintf("the server or a pooler refuses a parameter of the address, so it is ignored: %s", Line(strings.Join(names, ", ")))
		clear(config.RuntimeParams)
	}
	config.DialFunc = s.Dial
	config.BuildContextWatcherHandler = func(*pgconn.PgConn) ctxwatch.Handler { return s }
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(newMessages(r, &s.state), newQuestions(w, &s.state))
	}
	if o.Notify != nil {
		config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { o.Notify(n) }
	}
	conn, err := pgconn.ConnectConfig(context.WithValue(ctx, connectMark{}, true), config)
	if err != nil {
		s.close()
		return nil, Connecting(ctx, err)
	}
	s.enter(phaseConnected)
	return &Conn{conn: conn, socket: s, note: note}, nil
}

// inspect finds out the server's version and process, and whether there is a pooler or a NAT between us and the server.
func (c *Conn) inspect(ctx context.Context, o Options) error {
	var err error
	if c.major, err = MajorVersion(c.Version()); err != nil {
		return Because(ctx, "connecting", err)
	}
	_, known := o.Known.own.Load(c.Address())
	first, err := c.who(ctx)
	if err != nil && ctx.Err() != nil && (c.conn.PID() > mostPID || known) {
		return fmt.Errorf("connecting: %w", ErrNoSession)
	}
	if err != nil {
		return err
	}
	c.pid = first.pid
	if c.pid == c.conn.PID() {
		c.nat = between(c.socket.local(), first.seen)
		c.socket.state.lent.Store(false)
		return nil
	}
	if known {
		c.pooler = Session
	} else if c.pooler, err = c.probe(ctx, o); err != nil {
		return Because(ctx, "looking at the pooler", err)
	}
	if c.pooler == Session {
		o.Known.own.Store(c.Address(), true)
		c.socket.state.lent.Store(false)
	}
	return nil
}

// Address returns the address that the network connection was made to.
func (c *Conn) Address() string { return *c.socket.at.Load() }

// Pooler returns the kind of the pooler between us and the server.
func (c *Conn) Pooler() Pooler { return c.pooler }

// NAT returns a sentence about an address translation or a proxy between us and the server; "" if it found neither.
func (c *Conn) NAT() string { return c.nat }

// Note returns a sentence about parameters of the address that are ignored because the server or a pooler refuses one
// of them; "" if no parameter is ignored.
func (c *Conn) Note() string { return c.note }

// PID returns the id of the server process that served us when we connected.
func (c *Conn) PID() uint32 { return c.pid }

// Version returns the server's version, as the server writes it.
func (c *Conn) Version() string { return c.conn.ParameterStatus("server_version") }

// Major returns the major number of the server's version, Oldest at least.
func (c *Conn) Major() int { return c.major }

// Closed reports whether the connection is over.
func (c *Conn) Closed() bool { return c.conn.IsClosed() }

// Cut ends the connection and the statement that runs on it: at once, or within Grace if an interruption could harm
// others. It does not block, and may be called by any goroutine.
func (c *Conn) Cut() {
	c.socket.state.gate.Lock()
	delicate := c.socket.state.delicate()
	c.socket.state.gate.Unlock()
	if delicate {
		c.socket.expire(time.Now().Add(Grace))
		return
	}
	c.socket.close()
}

// Close ends the connection, with a goodbye if it is still usable, and joins the library's goroutines. It may be called
// again.
func (c *Conn) Close() {
	if !c.conn.IsClosed() {
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		_ = c.conn.Close(ctx) // it always closes; an error means only that the goodbye could not be sent
		cancel()
	}
	c.socket.close()
	<-c.conn.CleanupDone()
}

// Known holds facts about a server that one connection of a driver or source finds out and the next ones reuse. It is
// safe for concurrent use; the zero value is empty.
type Known struct {
	own     sync.Map    // the addresses at which a pooler in session mode was found
	refuses atomic.Bool // the server refuses a parameter of the address
}

// Oldest is the lowest major version of Postgres that is supported.
const Oldest = 12

// VersionError reports a server that is too old, or that is not Postgres.
type VersionError struct{ Version string }

// Error is a sentence.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the server is version \"%s\": Postgres %d or newer is needed", format.Clean(e.Version, 60), Oldest)
}

// MajorVersion reads "15.18 (Debian 15.18-1)", "17beta2" and "9.6.24". Its error is a
// *VersionError.
func MajorVersion(text string) (int, error) {
	digits := text
	if i := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = text[:i]
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < Oldest {
		return 0, &VersionError{text}
	}
	return n, nil
}
