package ydbcoord

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"

	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/balancers"
	"github.com/ydb-platform/ydb-go-sdk/v3/config"
	"google.golang.org/grpc"

	"coordtop/coord"
	"coordtop/coord/certs"
)

// ClientOptions name a database and the way to connect to it. Address and Database, or Conn, are required.
type ClientOptions struct {
	Address  string       // host:port
	Database string       // path, for example /local
	TLS      *tls.Config  // nil: TLSFiles
	TLSFiles *certs.Files // read when the connection is made. TLS and TLSFiles nil: no encryption
	// Node is the coordination node that a URL names; "" if none. Clients do not use it.
	Node string
	// User and Password, or AccessToken, prove who we are. Without them we are anonymous.
	User, Password, AccessToken string
	// NoDiscovery makes the client use Address alone instead of asking it for the nodes of the cluster. It is for
	// tunnels and balancers that hide the nodes.
	NoDiscovery bool
	// Log receives the SDK's own messages. If it is nil, they are dropped. See also LogTo.
	Log *slog.Logger
	// Conn is used instead of a connection of ours. The caller closes it.
	Conn grpc.ClientConnInterface
}

func (o ClientOptions) check() error {
	switch {
	case o.Conn != nil:
		return nil
	case o.Address == "":
		return invalid(errors.New("no address of a YDB"))
	case o.Database == "":
		return invalid(errors.New("no database: write it as in grpc://host:2136/local"))
	case o.AccessToken != "" && o.User != "":
		return invalid(errors.New("a user and an access token: which of them?"))
	}
	return nil
}

// Client is a connection to one database, made when it is first needed. The SDK does discovery, balancing, credentials
// and encryption. Drivers for several coordination nodes can share a Client. Its methods are safe for concurrent use.
//
// A stream stays on the YDB node that it was opened on. It breaks when that node stops, or when discovery has not
// listed the node for a minute or two. Sessions then attach again on another node.
type Client struct {
	options ClientOptions
	turn    chan struct{} // holds one element while somebody connects or closes
	db      *ydb.Driver   // nil while not connected; guarded by turn
	closed  bool          // guarded by turn

	mu       sync.Mutex
	hosts    []host // of the cluster
	answered bool   // the first of hosts has answered the last Ping
}

// NewClient returns a client. It does not connect.
func NewClient(o ClientOptions) (*Client, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return &Client{options: o, turn: make(chan struct{}, 1)}, nil
}

// Close closes the connection. Close the sessions before. A second call does nothing.
func (c *Client) Close(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return fmt.Errorf("closing the connection: somebody is still making it: %w", ctx.Err())
	}
	db := c.db
	c.db, c.closed = nil, true
	if db == nil {
		return nil
	}
	return doing("closing the connection", sdkError(db.Close(ctx)))
}

// conn returns the connection, which the first call opens.
func (c *Client) conn(ctx context.Context) (grpc.ClientConnInterface, error) {
	if c.options.Conn != nil {
		return c.options.Conn, nil
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("connecting: %w", ctx.Err())
	}
	switch {
	case c.closed:
		return nil, fmt.Errorf("connecting: %w", coord.ErrClosed)
	case c.db == nil:
		db, err := c.open(ctx)
		if err != nil {
			return nil, fmt.Errorf("connecting to %s: %w", c.options.Address, err)
		}
		hosts := c.hostsOf(ctx, db)
		c.mu.Lock()
		c.hosts = hosts
		c.mu.Unlock()
		c.db = db
	}
	return ydb.GRPCConn(c.db), nil
}

// open lets the SDK connect. Whatever is wrong, the SDK tries until its context ends and does not report the reason. So
// open first connects once itself.
func (c *Client) open(ctx context.Context) (*ydb.Driver, error) {
	if err := c.check(ctx, true); err != nil {
		return nil, err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	options, err := c.options.sdk(fail)
	if err != nil {
		return nil, err
	}
	db, err := ydb.Open(ctx, c.options.connectionString(), options...)
	if foreign, ok := errors.AsType[*ForeignError](context.Cause(ctx)); ok {
		if err == nil {
			_ = db.Close(context.WithoutCancel(ctx)) // it is of no use
		}
		return nil, fmt.Errorf("%w: %w", coord.ErrRefused, foreign)
	}
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", ErrSilent, ctx.Err())
	}
	return db, sdkError(err)
}

// Bounds of what a connection buffers before it is read. They are fixed, because otherwise gRPC would increase them
// with the amount that a server sends.
const (
	longestHeaders = 64 << 10
	streamWindow   = 1 << 20
	connWindow     = 4 << 20
)

// connectionString returns the address that the SDK connects to, without credentials.
func (o ClientOptions) connectionString() string {
	scheme := "grpc"
	if o.TLS != nil || o.TLSFiles != nil {
		scheme = "grpcs"
	}
	return (&url.URL{Scheme: scheme, Host: o.Address, Path: o.Database}).String()
}

// sdk returns the SDK's options. fail is called with a *ForeignError when a connection ends because the server sent
// something that no YDB sends.
func (o ClientOptions) sdk(fail func(error)) ([]ydb.Option, error) {
	// Without a logger, the environment variable YDB_LOG_SEVERITY_LEVEL would make the SDK write to standard error,
	// which may be our screen.
	logged := ydb.WithLogger(sdkLogger{cmp.Or(o.Log, slog.New(slog.DiscardHandler))}, sdkEvents)
	options := []ydb.Option{ydb.WithApplicationName("coordtop"), logged}
	switch {
	case o.AccessToken != "":
		options = append(options, ydb.WithAccessTokenCredentials(o.AccessToken))
	case o.User != "":
		options = append(options, ydb.WithStaticCredentials(o.User, o.Password))
	default:
		options = append(options, ydb.WithAnonymousCredentials())
	}
	encryption, err := certs.Config(o.TLS, o.TLSFiles)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", coord.ErrInvalid, err)
	}
	if encryption != nil {
		options = append(options, ydb.WithTLSConfig(encryption))
	}
	options = append(options, ydb.With(config.WithGrpcOptions(
		grpc.WithTransportCredentials(newCounting(encryption, fail)),
		grpc.WithMaxHeaderListSize(longestHeaders),
		grpc.WithInitialWindowSize(streamWindow), grpc.WithInitialConnWindowSize(connWindow),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(longestMessage), grpc.ForceCodecV2(newBoundedProto())),
	)))
	if o.NoDiscovery {
		options = append(options, ydb.WithBalancer(balancers.SingleConn()))
	}
	return options, nil
}
