package redissource

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/sources"
)

var (
	errSilent = errors.New("the server is silent")
	errClosed = errors.New("closed by us")
)

// link is one life of the two connections. The first thing that goes wrong ends all of
// it.
type link struct {
	o        *Options
	selected *selection
	x        *exchange
	reads    *line
	conn     *redis.Conn // on reads
	server   server
	inbox    *inbox
	pulse    pulse

	ctx    context.Context // the link's life; its cause is why it ended
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	out    chan sources.Change
	alive  chan struct{} // capacity 1: the server answered
}

// dial makes a link whose read connection is logged in. ctx bounds the dialling only. Who
// gets a link closes it.
func dial(ctx context.Context, o *Options, selected *selection) (*link, error) {
	x, err := newExchange(o.Client)
	if err != nil {
		return nil, err
	}
	l := newLink(o, selected, x)
	if err := l.login(ctx); err != nil {
		l.close()
		return nil, errors.Join(err, ctx.Err())
	}
	return l, nil
}

func newLink(o *Options, selected *selection, x *exchange) *link {
	l := &link{o: o, selected: selected, x: x, inbox: newInbox(), out: make(chan sources.Change), alive: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l
}

func (l *link) login(ctx context.Context) error {
	var err error
	if l.reads, err = l.x.open(ctx, l.o.Client.Protocol, nil); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, l.reads.close)
	defer stop()
	l.conn = l.reads.client.Conn()
	if l.server, err = askServer(ctx, l.conn); err != nil {
		return err
	}
	return l.mayScan(ctx)
}

// mayScan refuses a user who can find nothing: patterns need a scan, names do not.
func (l *link) mayScan(ctx context.Context) error {
	if len(l.selected.exact) > 0 {
		return nil
	}
	err := l.conn.Scan(ctx, 0, "", 1).Err()
	if redis.IsPermissionError(err) {
		return fmt.Errorf("%w: %w", errNoScan, err)
	}
	return err
}

// heard tells Next that the server answered.
func (l *link) heard() {
	select {
	case l.alive <- struct{}{}:
	default:
	}
}

// start runs f in a goroutine that close waits for; an error or a panic of it ends the
// link.
func (l *link) start(f func() error) {
	l.wg.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				l.fail(fmt.Errorf("%w: %v", sources.ErrPanic, v))
			}
		}()
		if err := f(); err != nil {
			l.fail(err)
		}
	})
}

// fail ends the link; only the first reason counts.
func (l *link) fail(err error) {
	l.cancel(err)
	if l.reads != nil {
		l.reads.close()
	}
}

// adopt makes c the link's push connection.
func (l *link) adopt(c *channel) {
	l.start(func() error {
		<-l.ctx.Done()
		c.close()
		return nil
	})
	l.start(func() error { return l.listen(l.ctx, c) })
	l.start(func() error { return l.beat(l.ctx, c) })
}

// close ends the link and joins its goroutines.
func (l *link) close() {
	l.fail(errClosed)
	l.wg.Wait()
	l.x.close()
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
