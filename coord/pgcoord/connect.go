package pgcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord"
	"coordtop/internal/failure"
	"coordtop/internal/pgwire"
)

// errPooler: statements of ours run in sessions that others use too, in which the same
// lock is given to everybody who asks.
var errPooler = fmt.Errorf("%w: a pooler in transaction or statement mode stands between: it gives each statement another server session, "+
	"so two could own one lock: use its session mode, or the server's own address", coord.ErrRefused)

// errMoved: another process of the server answered than the one that gave us the lock.
var errMoved = errors.New("another server session answered: a pooler stands between and has taken ours away")

// connect makes one connection, whose own keepalives are for ttl. notify is called on the
// goroutine that reads from it. Nothing has been asked or set on it but who serves it. A
// pooler that lends its sessions is refused.
func (d *Driver) connect(ctx context.Context, ttl time.Duration, notify func(*pgconn.Notification)) (*pgwire.Conn, error) {
	config := d.config.Copy()
	config.ConnectTimeout = cmp.Or(max(config.ConnectTimeout, 0), defaultConnect)
	conn, err := pgwire.Open(ctx, pgwire.Options{
		Config: config, Dial: d.options.Dial, Keepalive: keepaliveFor(ttl).config(), Notify: notify, Known: &d.known,
	})
	if err != nil {
		return nil, failure.With(classify(err), ctx.Err())
	}
	if conn.Pooler() == pgwire.Lent {
		conn.Close()
		return nil, errPooler
	}
	return conn, nil
}
