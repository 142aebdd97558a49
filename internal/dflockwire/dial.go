package dflockwire

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"coordtop/internal/failure"
	"coordtop/internal/spawn"
)

const (
	defaultTimeout = 5 * time.Second
	mostSecret     = 64 << 10
)

// Dialer makes connections to one server.
type Dialer struct {
	Addr           string        // host:port
	TLS            *tls.Config   // nil: plain text
	Secret         string        // --auth-token of the server; "": no login
	ConnectTimeout time.Duration // of connecting, encryption and login together. 0: 5 s
	AnswerTimeout  time.Duration // of each request, beyond what a claim waits by itself. 0: 5 s
	// Dial makes the connection, also its encryption. Nil: TCP with keepalive, and TLS.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Connect connects and logs in. ctx bounds that only.
func (d Dialer) Connect(ctx context.Context) (*Conn, error) {
	bound, cancel := context.WithTimeout(ctx, cmp.Or(d.ConnectTimeout, defaultTimeout))
	defer cancel()
	stream, err := d.dial(bound)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		err = failure.With(ErrSilent, err)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to %s: %w", d.Addr, err), ctx.Err())
	}
	c := &Conn{stream: stream, patience: cmp.Or(d.AnswerTimeout, defaultTimeout), turn: make(chan struct{}, 1), done: make(chan struct{})}
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

func (d Dialer) dial(ctx context.Context) (net.Conn, error) {
	plain := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 2}}
	switch {
	case d.Dial != nil:
		return d.Dial(ctx, "tcp", d.Addr)
	case d.TLS != nil:
		return (&tls.Dialer{NetDialer: plain, Config: d.TLS}).DialContext(ctx, "tcp", d.Addr)
	}
	return plain.DialContext(ctx, "tcp", d.Addr)
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
