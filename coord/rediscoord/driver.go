package rediscoord

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/spawn"
)

const (
	driverName        = "redis"
	defaultTTL        = 30 * time.Second // the default of LeaderService
	defaultRetryDelay = time.Second
	shortestTTL       = 50 * time.Millisecond
	maxData           = 4096
)

// Options configure a driver. The zero value is usable.
type Options struct {
	// TTL is for sessions that set none. 0: 30 s. At least 50 ms.
	TTL time.Duration
	// RetryDelay is the longest pause between two tries of a waiting claim, unless the session's Retry has a Max. The
	// actual pause is random between half of that and all of it, or shorter if the key expires before. 0: 1 s.
	RetryDelay time.Duration
	// Removal reads a key of that type and kind, which may be KindNone, and returns how to release one of its owners by
	// force; it returns the zero Removal if the key is no lock now. If Removal is nil, ForceRelease removes the owner's
	// part of the key and wakes no waiter.
	Removal func(ctx context.Context, c redis.Cmdable, key, typ string, kind coord.Kind) (Removal, error)
}

// Driver is the coord.Driver of one Redis. Sessions share nothing but their options; each has its own connections, so
// that Abandon can cut them.
type Driver struct {
	client  ClientOptions
	options Options
}

// New returns a driver. It does not connect. It returns an error if the options are contradictory or a certificate
// cannot be read.
func New(c ClientOptions, o Options) (*Driver, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	o.TTL = cmp.Or(max(o.TTL, 0), defaultTTL)
	o.RetryDelay = cmp.Or(max(o.RetryDelay, 0), defaultRetryDelay)
	if err := CheckTTL(o.TTL); err != nil {
		return nil, err
	}
	c.Refusals = cmp.Or(c.Refusals, new(Refusals))
	return &Driver{client: c, options: o}, nil
}

// Name implements coord.Driver.
func (d *Driver) Name() string { return driverName }

// Open implements coord.Driver: it makes a client and sends one PING, so that a wrong address, password or certificate
// is reported at once.
func (d *Driver) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	ttl := cmp.Or(max(o.TTL, 0), d.options.TTL)
	if err := CheckTTL(ttl); err != nil {
		return nil, err
	}
	options, made := d.client, &connections{}
	options.Name = cmp.Or(options.Name, connectionName(o.Description))
	options.OnConnect = func(ctx context.Context, c *redis.Conn) error { return made.note(ctx, c, d.client.Refusals) }
	client, err := connect(ctx, options)
	if err != nil {
		return nil, err
	}
	s := &session{
		Session: lifetime.NewSession[*grant](ctx), driver: d, client: client, connections: made, ttl: ttl,
		retryDelay: cmp.Or(max(o.Retry.Max, 0), d.options.RetryDelay),
	}
	s.cut, s.sever = context.WithCancel(context.WithoutCancel(ctx))
	return s, nil
}

// connectionName returns the description of a session as a name that CLIENT SETNAME accepts.
func connectionName(description string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, description)
}

// connect makes a client and sends one PING.
func connect(ctx context.Context, o ClientOptions) (redis.UniversalClient, error) {
	client, err := NewClient(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if err := ping(ctx, client); err != nil {
		_ = client.Close() // the client may be closed already
		return nil, fmt.Errorf("connecting to %v: %w", o, err)
	}
	return client, nil
}

// ping sends one PING. It is no error if the user may not send PING, because the login succeeded.
func ping(ctx context.Context, client redis.UniversalClient) error {
	// The library notices a cancel only between two commands, so the client is closed.
	stop := spawn.OnDone(ctx, func() { client.Close() })
	err := client.Ping(ctx).Err()
	if redis.IsPermissionError(err) {
		err = nil
	}
	if !stop() {
		return failure.With(fmt.Errorf("no answer: %w", context.Cause(ctx)), err)
	}
	return classify(err)
}

// Close implements coord.Driver. It does nothing, because sessions share nothing.
func (d *Driver) Close(context.Context) error { return nil }

// CheckTTL refuses a TTL that no key can have here.
func CheckTTL(ttl time.Duration) error {
	if ttl < shortestTTL {
		return fmt.Errorf("a TTL of %v: it must be at least %v: %w", ttl, shortestTTL, coord.ErrRefused)
	}
	return nil
}

// checkClaim refuses claims that this backend cannot serve, before anything is sent.
func (d *Driver) checkClaim(c coord.Claim) error {
	switch {
	case c.Permits > 1 || c.Limit > 1:
		return fmt.Errorf("permits and limits: %w", coord.ErrUnsupported)
	case c.Name == "":
		return fmt.Errorf("an empty key: %w", coord.ErrRefused)
	}
	return cmp.Or(d.options.Caps().Check(c), CheckTTL(cmp.Or(c.TTL, d.options.TTL)))
}

// Wire describes the commands of a call in one line, with <nonce> for the nonce; see the scripts in lua. It returns ""
// for a call that this backend does not support.
func (o Options) Wire(call coord.Call, c coord.Claim) string {
	key, value, again := strconv.Quote(c.Name), "<nonce>", ""
	if len(c.Data) > 0 {
		value = coord.Quoted(append([]byte("<nonce> "), c.Data...))
	}
	if c.Wait != 0 {
		again = "; again at most every second"
	}
	switch call {
	case coord.CallAcquire:
		return fmt.Sprintf("script: SET %s %s PX %d, if there is no such key%s", key, value, cmp.Or(c.TTL, o.TTL).Milliseconds(), again)
	case coord.CallPublish:
		return fmt.Sprintf("script: SET %s %s KEEPTTL, if its value is ours", key, value)
	case coord.CallRelease:
		return fmt.Sprintf("script: DEL %s, if its value is ours", key)
	}
	return ""
}
