package pgsource

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord/pgcoord"
	"coordtop/sources"
)

var (
	errSilent = errors.New("the server is silent")
	errClosed = errors.New("closed by us")
)

// link is one life of the connection that looks. The first thing that goes wrong with it
// ends all. The connection that listens may come and go meanwhile: looking is the truth.
type link struct {
	*line
	o      *Options
	config *pgconn.Config
	server server
	asks   *statements
	all    bool // every lock is watched
	keys   map[pgcoord.Key]*rule
	ears   *ears
	param  []byte // memory of the last parameter

	ctx    context.Context // the link's life; its cause is why it ended
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	out    chan sources.Change
	alive  chan struct{} // capacity 1: the server answered
}

// dial makes a link that is ready to look. ctx bounds the dialling only. Who gets a link
// closes it.
func dial(ctx context.Context, o *Options, config *pgconn.Config, selected *selection) (*link, error) {
	main, err := open(ctx, o, config, nil)
	if err != nil {
		return nil, err
	}
	l := &link{line: main, o: o, config: config, all: selected.all, out: make(chan sources.Change), alive: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
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

// heard tells Next that the server answered.
func (l *link) heard() {
	select {
	case l.alive <- struct{}{}:
	default:
	}
}

// start runs f in a goroutine that close waits for; an error of it ends the link.
func (l *link) start(f func() error) {
	l.wg.Go(func() {
		if err := f(); err != nil {
			l.cancel(err)
		}
	})
}

// close ends the link and joins its goroutines.
func (l *link) close() {
	if context.Cause(l.ctx) != nil {
		l.socket.cut() // it broke: nobody is there for a goodbye
	}
	l.cancel(errClosed)
	l.wg.Wait()
	l.line.close()
}

// tell hands a change to Next.
func (l *link) tell(c sources.Change) error {
	if c.At.IsZero() {
		c.At = time.Now()
	}
	select {
	case l.out <- c:
		return nil
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	}
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
