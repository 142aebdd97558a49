package pgsource

import (
	"context"
	"errors"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/pgwire"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// listenPauses are the pauses between two tries to listen.
var listenPauses = backoff.Policy{Min: 100 * time.Millisecond, Max: 5 * time.Second}

// listen keeps a second connection, which listens, until the first connection ends. It returns no error, because the
// source looks as often without notifications.
func (l *connection) listen() error {
	pauses := sources.NewPauses(listenPauses)
	for {
		life := sources.Life{Began: time.Now()}
		err := l.listenOnce(l.Context(), &life)
		if l.Context().Err() != nil {
			return nil
		}
		l.notifications.set(false, err)
		life.Ended = time.Now()
		if backoff.Sleep(l.Context(), pauses.After(life, err)) != nil {
			return nil
		}
	}
}

// errElsewhere reports that another of several hosts answered than the watched one.
var errElsewhere = errors.New("another server answered")

// listenPing is the pause between two pings of a connection that only listens.
const listenPing = 10 * time.Second

func (l *connection) listenOnce(ctx context.Context, life *sources.Life) error {
	setup, cancel := context.WithTimeoutCause(ctx, answerLimit, errSilent)
	defer cancel()
	second, err := l.open(setup, l.notifications.receive)
	if err != nil {
		return err
	}
	defer second.Close()
	stop := spawn.OnDone(ctx, second.Cut)
	defer stop()
	if second.Pooler() == pgwire.Lent {
		return errElsewhere
	}
	s, err := askServer(setup, second)
	if err != nil {
		return err
	}
	if s.incarnation() != l.server.incarnation() {
		return errElsewhere
	}
	if err := second.ReadOnly(setup, clientName); err != nil {
		return err
	}
	for _, c := range l.notifications.channels {
		if err := second.Listen(setup, c); err != nil {
			return pgwire.Because(setup, "listening", err)
		}
	}
	l.notifications.set(true, nil)
	life.Listed = time.Now()
	for {
		if err := awaitNotifications(ctx, second); err != nil {
			return err
		}
	}
}

// awaitNotifications waits for notifications for a while and then pings the server.
func awaitNotifications(ctx context.Context, c *pgwire.Conn) error {
	wait, cancel := context.WithTimeout(ctx, listenPing)
	defer cancel()
	for wait.Err() == nil {
		if err := c.Wait(wait); err != nil && (wait.Err() == nil || c.Closed()) {
			return pgwire.Because(ctx, "listening", err)
		}
	}
	ping, cancel := context.WithTimeoutCause(ctx, answerLimit, errSilent)
	defer cancel()
	return pgwire.Because(ping, "listening", c.Ping(ping))
}
