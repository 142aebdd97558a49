package pgsource

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord/pgcoord"
	"coordtop/internal/ground/identify"
	"coordtop/internal/ground/pgwire"
	"coordtop/sources/kit"
)

// Source watches one server. It implements sources.Source, sources.Refresher and sources.Focuser. While a lock is
// selected, it looks as often as Options.PollMin allows, and asks the server for the order of that lock's queue. Each
// look publishes the activity of the sessions of visible locks.
type Source struct {
	o        Options
	config   *pgconn.Config
	notes    []string // about parameters of the URL
	selected *selection
	last     *watcher // of the last connection; its table and calls outlive the connection

	kit.Connector
	kit.Hints
}

var _ kit.Source = (*Source)(nil)

// New returns a source that is not connected. It starts nothing. Its error describes what is wrong with the options,
// and wraps pgcoord.ErrKey if that is a key. It contains no secret.
func New(o Options) (*Source, error) {
	o = o.withDefaults()
	scheme, err := pgcoord.ParseScheme(string(o.Scheme))
	if err != nil {
		return nil, err
	}
	selected, err := compile(o.Selections, scheme)
	if err != nil {
		return nil, fmt.Errorf("selecting locks: %w", err)
	}
	names, err := parseNames(o.Names)
	if err != nil {
		return nil, fmt.Errorf("naming locks: %w", err)
	}
	for _, c := range o.Channels {
		if err := pgcoord.CheckChannel(c); err != nil {
			return nil, err
		}
	}
	config, notes, err := parseURL(o)
	if err != nil {
		return nil, err
	}
	s := &Source{o: o, config: config, notes: notes, selected: selected}
	s.last = &watcher{table: &lockTable{o: &s.o, names: names}, calls: &callTimes{most: blockingMost}}
	s.Connector = kit.Connector{
		Product: identify.Postgres, Address: address(&o, config), Dial: s.dial,
		Explain: func(err error, opening bool) error { return explain(err, config, opening) },
	}
	return s, nil
}

// dial logs in, detects a pooler between us and the server, and starts the watcher.
func (s *Source) dial(ctx context.Context) (kit.Conn, error) {
	l, err := dial(ctx, &s.o, s.config, s.selected)
	if err != nil {
		return nil, err
	}
	w := &watcher{connection: l, notes: s.notes, table: s.last.table, calls: s.last.calls, hints: &s.Hints, pace: pace{Pace: kit.Pace{Min: s.o.PollMin, Max: s.o.PollMax}}}
	s.last = w
	l.Start(w.run)
	if w.mayListen() {
		l.Start(l.listen)
	}
	return l, nil
}

// parseURL returns the config of a connection. notes are about ignored parameters. Its error contains nothing of the
// URL that could be a secret.
func parseURL(o Options) (c *pgconn.Config, notes []string, err error) {
	if c, notes, err = pgwire.Parse(o.URL); err != nil {
		return nil, nil, err
	}
	pgwire.Override{User: o.User, Password: o.Password, TLS: o.TLS}.Apply(c)
	if validate := c.ValidateConnect; validate != nil {
		c.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
			if err := validate(ctx, conn); err != nil {
				return fmt.Errorf("%w: %w", errWrongRole, err)
			}
			return nil
		}
	}
	return c, notes, nil
}

// errWrongRole reports that no server among the hosts has the required role.
var errWrongRole = errors.New("not the role that was asked for")
