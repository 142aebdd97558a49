package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
)

// nextWithin is the time after an announcement during which a Listener counts on the next one. It is longer than
// history.WriteEvery.
const nextWithin = 3 * time.Second

// Listener receives the announcements of a Writer. Its session must be one of the server: through a pooler in
// transaction mode nothing arrives, which Written reports. Its methods are safe for concurrent use.
type Listener struct {
	o       Options
	written chan struct{} // capacity 1
	last    atomic.Int64  // Unix time of the last announcement, in nanoseconds; 0: none
	stop    context.CancelFunc
	joined  sync.WaitGroup
}

// Listen returns a Listener, which connects, and again after an error, until Close.
func Listen(ctx context.Context, o Options) *Listener {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &Listener{o: o, written: make(chan struct{}, 1), stop: stop}
	spawn.Go(ctx, &l.joined, func() {
		pauses := backoff.Policy{Max: connectTimeout}.Start()
		for began := time.Now(); ctx.Err() == nil; began = time.Now() {
			_ = l.session(ctx) // the reader of the store reports a server that does not answer
			if time.Since(began) > connectTimeout {
				pauses.Reset()
			}
			_ = pauses.Wait(ctx) // the loop checks ctx
		}
	})
	return l
}

// Close ends the session.
func (l *Listener) Close() {
	l.stop()
	l.joined.Wait()
}

// Written returns a channel that receives after a write; nil: no announcement has arrived for some seconds, so that the
// store must be polled.
func (l *Listener) Written() <-chan struct{} {
	if time.Since(time.Unix(0, l.last.Load())) > nextWithin {
		return nil
	}
	return l.written
}

// session receives announcements on one connection until an error.
func (l *Listener) session(ctx context.Context) error {
	conn, err := l.o.open(ctx, func(c *pgconn.Config) {
		c.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) {
			l.last.Store(time.Now().UnixNano())
			spawn.Wake(l.written)
		}
	})
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing) // it may be broken
	}()
	ask := func(text string) error {
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		_, err := conn.Exec(ctx, text).ReadAll()
		return err
	}
	for err = ask("listen " + l.o.Name()); err == nil; {
		waiting, cancel := context.WithTimeout(ctx, nextWithin)
		err = conn.WaitForNotification(waiting)
		cancel()
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) { // the recorder is silent, or the link is dead
			err = ask("")
		}
	}
	return err
}
