package dflockwire

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"coordtop/internal/spawn"
)

const (
	defaultConnectTimeout = 5 * time.Second
	defaultAnswerTimeout  = 5 * time.Second
	mostSecret            = 64 << 10
)

// Dialer makes connections to one server.
type Dialer struct {
	Addr   string      // host:port
	TLS    *tls.Config // nil: plain text
	Secret string      // --auth-token of the server; "": no login
	// ConnectTimeout bounds connecting, encryption and login together. 0: 5 s.
	ConnectTimeout time.Duration
	// AnswerTimeout bounds each request, beyond what a claim waits by itself. 0: 5 s.
	AnswerTimeout time.Duration
	// Dial makes the network connection. Nil: TCP with keepalive.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Connect connects and logs in. ctx bounds that only.
func (d Dialer) Connect(ctx context.Context) (*Conn, error) {
	bound, cancel := context.WithTimeout(ctx, cmp.Or(d.ConnectTimeout, defaultConnectTimeout))
	defer cancel()
	stream, err := d.connect(bound)
	if err != nil {
		return nil, errors.Join(connectError(d.Addr, err), ctx.Err())
	}
	c := &Conn{
		addr: d.Addr, stream: stream, patience: cmp.Or(d.AnswerTimeout, defaultAnswerTimeout),
		turn: make(chan struct{}, 1), done: make(chan struct{}),
	}
	spawn.Go(context.WithoutCancel(ctx), &c.running, func() { c.read(bufio.NewReaderSize(stream, 16<<10)) }) // Close joins it
	if d.Secret == "" {
		return c, nil
	}
	if err := c.login(bound, d.Secret); err != nil {
		c.Close()
		return nil, errors.Join(fmt.Errorf("logging in at %s: %w", d.Addr, err), ctx.Err())
	}
	return c, nil
}

func (d Dialer) connect(ctx context.Context) (net.Conn, error) {
	dial := d.Dial
	if dial == nil {
		dial = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 2}}).DialContext
	}
	stream, err := dial(ctx, "tcp", d.Addr)
	if err != nil || d.TLS == nil {
		return stream, err
	}
	config := d.TLS
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(d.Addr)
		if err != nil {
			host = d.Addr
		}
		config = config.Clone()
		config.ServerName = host
	}
	encrypted := tls.Client(stream, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		_ = stream.Close() // it is of no use
		return nil, err
	}
	return encrypted, nil
}

func (c *Conn) login(ctx context.Context, secret string) error {
	if len(secret) > mostSecret || strings.ContainsAny(secret, "\r\n") {
		return fmt.Errorf("an auth token of %d bytes, or with a line break: %w", len(secret), ErrInvalid)
	}
	ok, err := c.confirm(ctx, "auth", "_", secret)
	if err == nil && !ok {
		return fmt.Errorf("the server has no auth token configured and refuses ours: %w: %w", ErrAuth, ErrRejected)
	}
	return err
}
