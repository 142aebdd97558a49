package pgsource

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord/pgcoord"
)

// parseURL makes the config of a connection. Its errors repeat nothing of the URL that
// could be a secret.
func parseURL(o Options) (*pgconn.Config, error) {
	c, err := pgconn.ParseConfig(o.URL)
	if err != nil {
		return nil, badURL(err)
	}
	if o.User != "" {
		c.User = o.User
	}
	if o.Password != "" {
		c.Password = o.Password
	}
	if o.TLS != nil {
		pgcoord.RequireTLS(c, o.TLS)
	}
	c.RuntimeParams["application_name"] = clientName
	if severalHosts(c) && c.ValidateConnect == nil {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	}
	if validate := c.ValidateConnect; validate != nil {
		c.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
			if err := validate(ctx, conn); err != nil {
				return fmt.Errorf("%w: %w", errWrongRole, err)
			}
			return nil
		}
	}
	return c, nil
}

// errWrongRole: no server among the hosts is of the sort that was asked for.
var errWrongRole = errors.New("not the role that was asked for")

// badURL says what is wrong without repeating what could be a part of the password: where
// the URL cannot be taken apart, any of its text could.
func badURL(err error) error {
	var parsing *pgconn.ParseConfigError
	if errors.As(err, new(*url.Error)) || !errors.As(err, &parsing) || parsing.Unwrap() == nil {
		return errors.New("the address cannot be read: write it as postgres://user@host:port/database, " +
			"with / ? # @ : % in a user or a password as %2F %3F %23 %40 %3A %25")
	}
	return fmt.Errorf("the address cannot be read: %s", parsing.Unwrap().Error())
}

func severalHosts(c *pgconn.Config) bool { return len(hosts(c)) > 1 }

// hosts are the servers of an address, each once.
func hosts(c *pgconn.Config) []string {
	list := []string{joinHostPort(c.Host, int32(c.Port))}
	for _, f := range c.Fallbacks {
		if h := joinHostPort(f.Host, int32(f.Port)); !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	return list
}

func joinHostPort(host string, port int32) string {
	if strings.HasPrefix(host, "/") {
		return host // a Unix socket's folder
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

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
