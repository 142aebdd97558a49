package redissource

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/spawn"
	"coordtop/sources"
)

var errSilent = fmt.Errorf("%w of the server", sources.ErrSilent)

// link is one life of the two connections.
type link struct {
	*sources.Link
	o             *Options
	selected      *selection
	dialer        *dialer
	reads         *connection
	conn          *redis.Conn // on reads
	server        server
	inbox         *inbox
	push          *pushConn // nil: nothing is pushed
	heartbeat     heartbeat // of push
	readHeartbeat heartbeat // of reads
	answered      time.Time // when the server last answered on reads
}

// dial makes a link whose read connection is logged in. ctx bounds the dialling only. The
// caller must close the link.
func dial(ctx context.Context, o *Options, selected *selection) (*link, error) {
	d, err := newDialer(o.Client)
	if err != nil {
		return nil, err
	}
	l := newLink(ctx, o, selected, d)
	if err := l.login(ctx); err != nil {
		l.Close()
		return nil, errors.Join(err, ctx.Err())
	}
	return l, nil
}

func newLink(ctx context.Context, o *Options, selected *selection, d *dialer) *link {
	return &link{Link: sources.NewLink(ctx), o: o, selected: selected, dialer: d, inbox: newInbox()}
}

func (l *link) login(ctx context.Context) error {
	var err error
	if l.reads, err = l.dialer.open(ctx, l.o.Client.Protocol, nil); err != nil {
		return err
	}
	l.closeAtEnd(l.reads)
	if l.o.Client.Protocol != 2 {
		if err := l.receivePushes(l.reads, &l.readHeartbeat); err != nil {
			return err
		}
	}
	stop := spawn.OnDone(ctx, l.reads.close)
	defer stop()
	l.conn = l.reads.client.Conn()
	if l.server, err = askServer(ctx, l.conn, l.refusals()); err != nil {
		return err
	}
	l.server.addr = l.dialer.server.String()
	return l.mayScan(ctx)
}

// refusals is what the user was refused, on this link or on an earlier one.
func (l *link) refusals() *rediscoord.Refusals { return l.o.Client.Refusals }

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

// closeAtEnd closes c when the link ends, which wakes whoever reads from it.
func (l *link) closeAtEnd(c interface{ close() }) {
	l.Start(func() error {
		<-l.Context().Done()
		c.close()
		return nil
	})
}

// adopt makes c the link's push connection.
func (l *link) adopt(c *pushConn) {
	if c.connection == nil {
		return
	}
	l.closeAtEnd(c)
	l.Start(func() error { return l.listen(l.Context(), c) })
	l.Start(func() error { return l.beat(l.Context(), c) })
}
