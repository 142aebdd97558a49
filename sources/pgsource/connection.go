package pgsource

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord/pgcoord"
	"coordtop/internal/ground/pgwire"
	"coordtop/sources"
	"coordtop/sources/kit"
)

var errSilent = fmt.Errorf("%w of the server", sources.ErrSilent)

// connection is the connection that looks, until it ends. The one that listens may end before and be replaced, because
// the looks alone decide.
type connection struct {
	*kit.Link
	*pgwire.Conn
	o             *Options
	config        *pgconn.Config
	known         *pgwire.Known
	server        server
	asks          *statements
	all           bool // all locks are watched
	keys          map[pgcoord.Key]*rule
	notifications *notifications
	param         []byte // buffer of the last parameter
}

// dial returns a connection that is ready to look. ctx bounds only the dialling. The caller must close it.
func dial(ctx context.Context, o *Options, config *pgconn.Config, selected *selection) (*connection, error) {
	l := &connection{Link: kit.NewLink(ctx), o: o, config: config, known: &pgwire.Known{}, all: selected.all}
	var err error
	if l.Conn, err = l.open(ctx, nil); err != nil {
		return nil, err
	}
	if err := l.prepare(ctx, selected); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// open connects. receive is called with each notification; if it is nil, the connection does not listen.
func (l *connection) open(ctx context.Context, receive func(*pgconn.Notification)) (*pgwire.Conn, error) {
	return pgwire.Open(ctx, pgwire.Options{
		Config: l.config, Dial: l.o.Dial, Notify: receive, Known: l.known,
		Keepalive: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second},
	})
}

func (l *connection) prepare(ctx context.Context, selected *selection) error {
	if err := l.ReadOnly(ctx, clientName); err != nil {
		return err
	}
	var err error
	if l.server, err = askServer(ctx, l.Conn); err != nil {
		return err
	}
	if l.keys, err = l.resolve(ctx, selected); err != nil {
		return err
	}
	l.asks = newStatements(l.server.major)
	l.notifications = newNotifications(l.o.Channels)
	all := []*pgwire.Statement{&l.asks.locks, &l.asks.sessions, &l.asks.prepared}
	if l.server.blocking {
		all = append(all, &l.asks.blocking)
	}
	for _, s := range all {
		if err := l.Prepare(ctx, s); err != nil {
			return pgwire.Because(ctx, "preparing to look", err)
		}
	}
	return nil
}

// resolve makes the server compute the keys of names. If two selections mean one lock, the first is used.
func (l *connection) resolve(ctx context.Context, selected *selection) (map[pgcoord.Key]*rule, error) {
	keys := make(map[pgcoord.Key]*rule, len(selected.rules))
	for _, r := range selected.rules {
		if r.sql != "" {
			row, err := l.One(ctx, r.sql, r.name)
			if err == nil {
				r.key, _, err = pgcoord.ParseKey(row.Text(0))
			}
			if err != nil {
				return nil, pgwire.Because(ctx, fmt.Sprintf("asking for the key of %q", r.name), err)
			}
		}
		if keys[r.key] == nil {
			keys[r.key] = &r
		}
	}
	return keys, nil
}

// each runs a statement of a look, with a time-out, and passes each row to f.
func (l *connection) each(ctx context.Context, doing string, s *pgwire.Statement, pids []uint32, f func(fields)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, errSilent)
	defer cancel()
	var params [][]byte
	if pids != nil {
		l.param = array(l.param[:0], pids)
		params = [][]byte{l.param}
	}
	err := l.Each(ctx, s, params, func(r pgwire.Row) error {
		f(fields(r))
		return nil
	})
	return pgwire.Because(ctx, doing, err)
}

// Close ends the connection and waits for its goroutines.
func (l *connection) Close() {
	if l.Context().Err() != nil {
		l.Cut() // the connection is broken, so no Terminate message is sent
	}
	l.Link.Close()
	l.Conn.Close()
}
