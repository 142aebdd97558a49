package pgsource

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord/pgcoord"
	"coordtop/sources"
)

var errSilent = errors.New("the server is silent")

// link is one life of the connection that looks. The connection that listens may come and
// go meanwhile: looking is the truth.
type link struct {
	*sources.Link
	*line
	o      *Options
	config *pgconn.Config
	server server
	asks   *statements
	all    bool // every lock is watched
	keys   map[pgcoord.Key]*rule
	ears   *ears
	param  []byte // memory of the last parameter
}

// dial makes a link that is ready to look. ctx bounds the dialling only. Who gets a link
// closes it.
func dial(ctx context.Context, o *Options, config *pgconn.Config, selected *selection) (*link, error) {
	main, err := open(ctx, o, config, nil)
	if err != nil {
		return nil, err
	}
	l := &link{Link: sources.NewLink(ctx), line: main, o: o, config: config, all: selected.all}
	if err := l.prepare(ctx, selected); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *link) prepare(ctx context.Context, selected *selection) error {
	var err error
	if l.server, err = askServer(ctx, l.conn); err != nil {
		return err
	}
	if l.server.pooler, err = findPooler(ctx, l.o, l.config, l.line, l.server.pid); err != nil {
		return err
	}
	if l.keys, err = l.resolve(ctx, selected); err != nil {
		return err
	}
	l.asks = newStatements(l.server.major)
	l.ears = newEars(l.o.Channels)
	if l.server.pooler == pooledLent {
		return nil
	}
	if err := settle(ctx, l.conn); err != nil {
		return err
	}
	for _, s := range []*statement{&l.asks.locks, &l.asks.sessions, &l.asks.prepared} {
		if err := s.prepare(ctx, l.conn); err != nil {
			return because(ctx, "preparing to look", err)
		}
	}
	return nil
}

// resolve has the server compute the keys of names. Where two selections mean one lock,
// the first counts.
func (l *link) resolve(ctx context.Context, selected *selection) (map[pgcoord.Key]*rule, error) {
	keys := make(map[pgcoord.Key]*rule, len(selected.rules))
	for _, r := range selected.rules {
		if r.sql != "" {
			row, err := ask(ctx, l.conn, r.sql, r.name)
			if err == nil {
				r.key, _, err = pgcoord.ParseKey(row[0])
			}
			if err != nil {
				return nil, because(ctx, fmt.Sprintf("asking for the key of %q", r.name), err)
			}
		}
		if keys[r.key] == nil {
			keys[r.key] = &r
		}
	}
	return keys, nil
}

// close ends the link and joins its goroutines.
func (l *link) close() {
	if l.Context().Err() != nil {
		l.socket.cut() // it broke: nobody is there for a goodbye
	}
	l.Link.Close()
	l.line.close()
}

// because gives an error its place, and the cause of a context that has ended.
func because(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		err = errors.Join(cause, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
