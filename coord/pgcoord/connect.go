package pgcoord

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// connect makes one connection, whose own keepalives are for ttl. notify is called on the
// goroutine that reads from it.
func (d *Driver) connect(ctx context.Context, ttl time.Duration, notify func(*pgconn.Notification)) (*pgconn.PgConn, *dialer, error) {
	config := d.config.Copy()
	socket := &dialer{dial: d.options.Dial}
	if socket.dial == nil {
		keep := keepaliveFor(ttl)
		socket.dial = (&net.Dialer{KeepAliveConfig: keep.config()}).DialContext
	}
	config.DialFunc = socket.Dial
	if config.ConnectTimeout <= 0 {
		config.ConnectTimeout = defaultConnect
	}
	if config.ValidateConnect == nil && severalHosts(config) {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	}
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { notify(n) }
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, nil, withContext(ctx, fmt.Errorf("connecting: %w", tidy(err)))
	}
	socket.enter(phaseConnected)
	return conn, socket, nil
}

// phase is what a connection's dialer may still be used for. The library dials by itself
// once more when a connection breaks, to cancel what may run on it; there is nothing to
// cancel then, and its goroutine would outlive the connection by as long as that takes.
type phase int32

const (
	phaseConnecting phase = iota
	phaseConnected
	phaseCancelling
)

// errNoDial ends what the library dials behind our back.
var errNoDial = errors.New("the connection is over")

// dialer makes the socket of one connection and remembers it.
type dialer struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	phase  atomic.Int32
	socket atomic.Pointer[net.Conn]
}

func (d *dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	now := phase(d.phase.Load())
	if now == phaseConnected {
		return nil, errNoDial
	}
	conn, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if now == phaseConnecting {
		d.socket.Store(&conn)
	}
	return conn, nil
}

func (d *dialer) enter(p phase) { d.phase.Store(int32(p)) }

// cut closes the socket without a word, so that whatever uses it ends at once.
func (d *dialer) cut() {
	if conn := d.socket.Load(); conn != nil {
		// Its only error is that it was closed before.
		_ = (*conn).Close()
	}
}
