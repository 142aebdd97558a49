package dflockcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"coordtop/coord"
	"coordtop/coord/dflockwire"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
)

// Driver is the coord.Driver of some dflockd servers. It keeps the connections of abandoned grants open until the
// grants have expired.
type Driver struct {
	dialers   []dflockwire.Dialer
	options   Options
	life      context.Context // ends with Close
	end       context.CancelFunc
	abandoned sync.WaitGroup // the goroutines that keep connections of abandoned grants
}

// New returns a driver. It does not connect. It returns an error if the options are contradictory or a certificate
// cannot be read.
func New(c ClientOptions, o Options) (*Driver, error) {
	if c.OwnSharding && len(c.Servers) > 1 && o.Shard == nil {
		return nil, fmt.Errorf("%w: the server of a key is not known without a Shard function", coord.ErrInvalid)
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	d := &Driver{options: o}
	d.life, d.end = context.WithCancel(context.Background())
	d.dialers, err = c.Dialers()
	return d, err
}

// Name implements coord.Driver.
func (d *Driver) Name() string { return "dflockd" }

// server describes one server, as found when the session opened.
type server struct {
	namespaces bool // locks and semaphores have separate names: 1.14 or later
	modern     bool // 2.0 or later
}

// Open implements coord.Driver: it connects to every server, to find out its version. If a server refuses us, Open
// returns an error. A server that cannot be reached is an error only if none can be reached.
func (d *Driver) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	servers, failed := make([]server, len(d.dialers)), make([]error, len(d.dialers))
	var looking sync.WaitGroup
	for i, dialer := range d.dialers {
		spawn.Go(ctx, &looking, func() { servers[i], failed[i] = look(ctx, dialer) }) // joined below
	}
	looking.Wait()
	for _, err := range failed {
		if errors.Is(err, coord.ErrRefused) {
			return nil, fmt.Errorf("opening a session: %w", err)
		}
	}
	if !slices.Contains(failed, nil) || ctx.Err() != nil {
		return nil, fmt.Errorf("opening a session: %w", errors.Join(append(failed, ctx.Err())...))
	}
	s := &session{
		Session: lifetime.NewSession[claimed](ctx), driver: d, servers: servers, ttl: cmp.Or(o.TTL, d.options.Lease),
		renewEvery: cmp.Or(o.RenewEvery, d.options.RenewEvery),
	}
	s.cut, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	return s, nil
}

func look(ctx context.Context, dialer dflockwire.Dialer) (s server, err error) {
	conn, err := dialer.Connect(ctx)
	if err == nil {
		defer conn.Close()
		s.namespaces, err = conn.Ping(ctx)
	}
	if err == nil && s.namespaces {
		var stats dflockwire.Stats
		stats, err = conn.Stats(ctx, func(*dflockwire.Entry) {})
		s.modern = err == nil && !stats.Signals
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", dialer.Addr, classify(err))
	}
	return s, nil
}

// Close implements coord.Driver. It closes the connections of abandoned grants, which the
// server then releases.
func (d *Driver) Close(context.Context) error {
	d.end()
	d.abandoned.Wait()
	return nil
}

// keepAbandoned leaves a connection open until the lease of its grant has expired.
func (d *Driver) keepAbandoned(ctx context.Context, conn *dflockwire.Conn, last time.Duration) {
	spawn.Go(ctx, &d.abandoned, func() { // Close joins it
		_ = backoff.Sleep(d.life, last)
		conn.Close()
	})
}

// serverOf returns the index of the server that a key belongs to.
func (d *Driver) serverOf(key string) (int, error) {
	n := d.options.Shard(key, len(d.dialers))
	if n < 0 || n >= len(d.dialers) {
		return 0, fmt.Errorf("the shard function chose server %d of %d: %w", n, len(d.dialers), coord.ErrInvalid)
	}
	return n, nil
}

// CheckName refuses a name that the protocol cannot carry.
func CheckName(name string) error { return dflockwire.Key{Name: name}.Check() }

// keyOf returns the key of a claim. It refuses claims that this backend cannot serve, before anything
// is sent.
func keyOf(c coord.Claim) (dflockwire.Key, error) {
	k := dflockwire.Key{Name: c.Name, Semaphore: c.Kind == coord.KindSemaphore, Limit: 1}
	switch {
	case !k.Semaphore && (c.Permits > 1 || c.Limit > 1):
		return k, fmt.Errorf("permits of a lock: %w", coord.ErrUnsupported)
	case k.Semaphore && (c.Limit == 0 || c.Limit > math.MaxInt32):
		return k, fmt.Errorf("a semaphore with a limit of %d: each claim must name it: %w", c.Limit, coord.ErrInvalid)
	case k.Semaphore && c.Permits > c.Limit:
		return k, fmt.Errorf("%d permits of a limit of %d: %w", c.Permits, c.Limit, coord.ErrRefused)
	case k.Semaphore:
		k.Limit = int(c.Limit)
	}
	return k, cmp.Or(Options{}.Caps().Check(c), classify(k.Check()))
}

// CheckTTL refuses a TTL that the protocol cannot carry.
func CheckTTL(ttl time.Duration) error {
	if ttl < time.Second || ttl%time.Second != 0 {
		return fmt.Errorf("%w: a TTL of %v: dflockd counts whole seconds", coord.ErrInvalid, ttl)
	}
	return nil
}

// OwnerID returns the identity of an owner for which the server lists the id of its connection.
func OwnerID(conn uint64) string { return fmt.Sprintf("conn %d", conn) }
