package rediscoord

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"coordtop/coord/certs"
	"coordtop/internal/ground/address"
	"coordtop/internal/ground/respwire"
)

const (
	defaultName        = "coordtop"
	defaultDialTimeout = 2 * time.Second
	defaultReadTimeout = 3 * time.Second
)

// NewClient returns a client of Redis. All of coordtop's clients come from it. It does not connect. It returns an error
// if the options contradict each other or a certificate cannot be read. The caller must close the client. That also
// ends commands in flight and, with Sentinels, the goroutine that subscribes to them. A panic of that goroutine goes to
// the handler of ctx.
//
// The client never sends a command twice by itself: a command whose reply was lost may
// have been executed, and only its sender knows whether that matters.
func NewClient(ctx context.Context, o ClientOptions) (redis.UniversalClient, error) {
	server, err := o.library()
	if err != nil {
		return nil, err
	}
	silence()
	if o.Topology == Sentinel {
		return newFailover(ctx, newSentinels(o, server), server), nil
	}
	return redis.NewClient(server), nil
}

// NewServer returns the library's options for the server of o, and a function that dials it, for use instead of their
// Dialer. With Sentinels, dial asks them for the master each time and ignores addr.
func NewServer(o ClientOptions) (options *redis.Options, dial func(ctx context.Context, addr string) (net.Conn, error), err error) {
	if options, err = o.library(); err != nil {
		return nil, nil, err
	}
	silence()
	if o.Topology != Sentinel {
		plain := o.dialer(options.TLSConfig)
		return options, func(ctx context.Context, addr string) (net.Conn, error) { return plain(ctx, addr) }, nil
	}
	known := newSentinels(o, options)
	return options, func(ctx context.Context, _ string) (net.Conn, error) {
		conn, _, err := known.dialMaster(ctx)
		return conn, err
	}, nil
}

// ErrCluster reports that the options are for a Cluster, whose servers no single client covers.
var ErrCluster = errors.New("a cluster cannot be watched as a whole yet: name its masters one by one, each as redis://host:port")

// Check returns the error that NewClient would return for the options.
func (o ClientOptions) Check() error {
	_, err := o.library()
	return err
}

// check returns an error if the options contradict each other.
func (o ClientOptions) check() error {
	switch {
	case len(o.Addrs) == 0:
		return errors.New("no address of a Redis server")
	case o.Topology == Single && len(o.Addrs) > 1:
		return errors.New("several addresses: they need Sentinel or Cluster")
	case o.Topology == Sentinel && o.Master == "":
		return errors.New("no name of a master for the Sentinels: write it as redis+sentinel://host:26379/master/0")
	case o.Topology != Sentinel && o.Master != "":
		return errors.New("the name of a master needs Sentinel")
	case o.DB < 0:
		return errors.New("a DB number is not negative")
	case o.Protocol != 0 && o.Protocol != 2 && o.Protocol != 3:
		return errors.New("the protocol is 2 or 3")
	}
	return nil
}

// library returns the library's options for one server.
func (o ClientOptions) library() (*redis.Options, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Topology == Cluster {
		return nil, ErrCluster
	}
	u := &redis.UniversalOptions{
		Addrs:            o.Addrs,
		DB:               o.DB,
		Username:         o.User,
		Password:         o.Password,
		Protocol:         o.Protocol,
		PoolSize:         o.PoolSize,
		PipelinePoolSize: -1, // pipelines use the same connections as everything else
		DialTimeout:      cmp.Or(max(o.DialTimeout, 0), defaultDialTimeout),
		ReadTimeout:      cmp.Or(max(o.ReadTimeout, 0), defaultReadTimeout),
		WriteTimeout:     cmp.Or(max(o.ReadTimeout, 0), defaultReadTimeout),
		OnConnect:        o.onConnect,

		MaxRetries:            -1,
		DialerRetries:         1,
		ContextTimeoutEnabled: true,
		DisableIdentity:       true,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	}
	var err error
	if u.TLSConfig, err = certs.Config(o.TLS, o.TLSFiles); err != nil {
		return nil, err
	}
	dial := o.dialer(u.TLSConfig)
	u.Dialer = func(ctx context.Context, _, addr string) (net.Conn, error) { return dial(ctx, addr) }
	return u.Simple(), nil
}

// dialer returns the function that dials servers and Sentinels for every client. The size of answers is bounded, see
// respwire.
func (o ClientOptions) dialer(config *tls.Config) func(ctx context.Context, addr string) (respwire.Conn, error) {
	plain := &net.Dialer{
		Timeout:         cmp.Or(max(o.DialTimeout, 0), defaultDialTimeout),
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 5 * time.Second, Count: 3},
	}
	dial := plain.DialContext
	if config != nil {
		dial = (&tls.Dialer{NetDialer: plain, Config: config}).DialContext
	}
	return func(ctx context.Context, addr string) (respwire.Conn, error) {
		network := address.Network(addr)
		c, err := dial(ctx, network, addr)
		if network == "unix" && errors.Is(err, syscall.ECONNREFUSED) { // nobody listens at the socket
			if info, no := os.Stat(addr); no == nil && info.Mode()&os.ModeSocket == 0 {
				err = &net.OpError{Op: "dial", Net: network, Err: errors.New("it is no socket")}
			}
		}
		if err != nil {
			return nil, err
		}
		return respwire.New(c, addr, respwire.Defaults()), nil
	}
}

// onConnect names the connection. It is not done by the library's option, which ends the connection if the user may not
// set a name.
func (o ClientOptions) onConnect(ctx context.Context, c *redis.Conn) error {
	name := cmp.Or(o.Name, defaultName)
	var refused redis.Error
	_, err := Once(o.Refusals, "client|setname", func() (bool, error) { return c.ClientSetName(ctx, name).Result() })
	if err != nil && !errors.As(err, &refused) {
		return fmt.Errorf("naming the connection: %w", err)
	}
	if o.OnConnect != nil {
		return o.OnConnect(ctx, c)
	}
	return nil
}

// silence makes the library silent once, so that a later NewClient does not undo LogTo. The library has one logger for
// the whole process, which writes to standard error until it is replaced.
var silence = sync.OnceFunc(func() { redis.SetLogger(logger{slog.New(slog.DiscardHandler)}) })

// LogTo sends the messages of the Redis library, in the whole process, to l. Without LogTo the library is silent. It
// may be called at any time; the last call counts.
func LogTo(l *slog.Logger) {
	silence()
	redis.SetLogger(logger{l})
}

// logger implements the library's interface with a slog.Logger.
type logger struct{ to *slog.Logger }

func (l logger) Printf(ctx context.Context, format string, args ...any) {
	l.to.WarnContext(ctx, "redis library", "text", fmt.Sprintf(format, args...))
}
