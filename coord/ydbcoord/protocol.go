package ydbcoord

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"coordtop/coord"
)

// ErrWantsTLS: the server speaks TLS, and we were configured without it. It comes beside
// coord.ErrRefused.
var ErrWantsTLS = errors.New("the server speaks TLS only")

// ErrForeign: what answers at the address does not speak HTTP/2, so it is not a YDB. It comes
// beside coord.ErrRefused.
var ErrForeign = errors.New("the answer is not HTTP/2")

const (
	// greeting is the first that a client of HTTP/2 says: the preface, and settings that
	// are empty (RFC 9113, 3.4).
	greeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	// frameHeader is the length of the beginning of what the server answers: settings too.
	frameHeader  = 9
	settingsKind = 4 // at the fourth byte

	greetingFor = time.Second // how long each of the two tries may take
)

// checkProtocol finds out whether the server speaks what we are configured to speak: without TLS the SDK
// would try until its context ends, and what it says then looks like silence. A server that
// says nothing for now may only be slow, which is the SDK's to wait for.
func (c *Client) checkProtocol(ctx context.Context) error {
	if c.options.Conn != nil || c.options.TLS != nil {
		return nil
	}
	err := c.options.settings(ctx)
	switch {
	case err == nil:
		return nil
	case c.options.wantsTLS(ctx):
		return fmt.Errorf("%w: %w", coord.ErrRefused, ErrWantsTLS)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrSilent, ctx.Err())
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	}
	return err
}

// settings greets the server without TLS and waits for its answer.
func (o ClientOptions) settings(ctx context.Context) error {
	conn, err := o.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() // nobody waits for what was sent
	if _, err := io.WriteString(conn, greeting); err != nil {
		return err
	}
	var header [frameHeader]byte
	if _, err := io.ReadFull(conn, header[:]); err != nil {
		return err
	}
	if header[3] != settingsKind {
		return fmt.Errorf("%w: %w", coord.ErrRefused, ErrForeign)
	}
	return nil
}

// wantsTLS reports whether the server answers the beginning of TLS. That its certificate is
// not trusted is such an answer.
func (o ClientOptions) wantsTLS(ctx context.Context) bool {
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		return false
	}
	conn, err := o.dial(ctx)
	if err != nil {
		return false
	}
	defer conn.Close() // nobody waits for what was sent
	err = tls.Client(conn, &tls.Config{ServerName: host, NextProtos: []string{"h2"}}).HandshakeContext(ctx)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	return err == nil || untrusted || alert
}

// dial makes a connection that ends soon.
func (o ClientOptions) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, greetingFor)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", o.Address)
	if err != nil {
		return nil, err
	}
	end, _ := ctx.Deadline()
	return conn, conn.SetDeadline(end)
}
