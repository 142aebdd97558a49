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

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Discovery_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Discovery"

	"coordtop/coord"
	"coordtop/internal/ground/failure"
)

// ErrSilent: something accepts connections at the address, but does not answer, or not
// in the protocol of YDB.
var ErrSilent = errors.New("connected, but there is no answer")

// checkTime bounds Check, where its context has no shorter end.
const checkTime = 5 * time.Second

// Check connects to the address once, without the SDK. Its errors can be distinguished:
// *net.DNSError (no such name), syscall.ECONNREFUSED
// (nobody listens), *tls.CertificateVerificationError (a certificate that is not trusted;
// joined with coord.ErrRefused), context.DeadlineExceeded (no answer). It does not
// prove that a YDB is there; see Ping.
func (c *Client) Check(ctx context.Context) error { return c.check(ctx, false) }

// check is Check. With greet it also finds out whether a server without TLS speaks HTTP/2: if it does not, the SDK
// would try until its context ends, and its error would look like silence.
func (c *Client) check(ctx context.Context, greet bool) error {
	if c.options.Conn != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	dial := new(net.Dialer).DialContext
	if c.options.TLS != nil {
		config, err := c.options.TLS.Load()
		if err != nil {
			return fmt.Errorf("%w: %w", coord.ErrInvalid, err)
		}
		config.NextProtos = []string{"h2"}
		dial = (&tls.Dialer{Config: config}).DialContext // it verifies the certificate as the SDK will
	}
	conn, err := dial(ctx, "tcp", c.options.Address)
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		err = fmt.Errorf("%w: %w", coord.ErrRefused, bad)
	}
	if err != nil {
		return failure.With(err, ctx.Err())
	}
	defer conn.Close() // nothing was written that closing could lose
	if greet && c.options.TLS == nil {
		return c.options.greet(ctx, conn)
	}
	return nil
}

// Ping asks the service who we are, and so proves that the address is that of a YDB
// which knows us. Of several hosts one that answers is enough. The error is that of Check,
// ErrSilent, or the service's refusal; a *HostsError names the hosts that were asked.
func (c *Client) Ping(ctx context.Context) error {
	conn, err := c.conn(ctx)
	if err != nil {
		return err
	}
	return doing("asking who we are", c.askHosts(ctx, func(ctx context.Context) error {
		reply, err := Ydb_Discovery_V1.NewDiscoveryServiceClient(conn).WhoAmI(ctx, &Ydb_Discovery.WhoAmIRequest{})
		switch {
		case err == nil:
			return operationError(reply.GetOperation())
		case ctx.Err() != nil:
			return fmt.Errorf("%w: %w", ErrSilent, ctx.Err())
		}
		return callError(err)
	}))
}

// ErrWantsTLS: the server speaks TLS, and we were configured without it. It comes beside
// coord.ErrRefused.
var ErrWantsTLS = errors.New("the server speaks TLS only")

// ErrForeign: the server at the address does not speak HTTP/2, so it is not a YDB. It comes
// beside coord.ErrRefused.
var ErrForeign = errors.New("the answer is not HTTP/2")

const (
	// greeting is the first message of a client of HTTP/2: the preface, and settings that
	// are empty (RFC 9113, 3.4).
	greeting     = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	frameHeader  = 9 // bytes; the server's answer begins with one, of settings too
	settingsKind = 4 // at its fourth byte

	greetingFor = time.Second // bounds each of the two tries
)

// greet finds out whether the server speaks HTTP/2 without TLS. A server that does not answer yet
// may only be slow: then the SDK waits for it.
func (o ClientOptions) greet(ctx context.Context, conn net.Conn) error {
	soon, cancel := context.WithTimeout(ctx, greetingFor)
	defer cancel()
	end, _ := soon.Deadline()
	_ = conn.SetDeadline(end) // it fails only if the connection is closed; then the write fails too
	_, err := io.WriteString(conn, greeting)
	var header [frameHeader]byte
	if err == nil {
		_, err = io.ReadFull(conn, header[:])
	}
	switch {
	case err == nil && header[3] == settingsKind:
		return nil
	case o.wantsTLS(ctx):
		return fmt.Errorf("%w: %w", coord.ErrRefused, ErrWantsTLS)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrSilent, ctx.Err())
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	case err == nil:
		return fmt.Errorf("%w: %w", coord.ErrRefused, ErrForeign)
	}
	return err
}

// wantsTLS reports whether the server answers a handshake of TLS, also with a certificate that is
// not trusted.
func (o ClientOptions) wantsTLS(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, greetingFor)
	defer cancel()
	conn, err := (&tls.Dialer{Config: &tls.Config{NextProtos: []string{"h2"}}}).DialContext(ctx, "tcp", o.Address)
	if err == nil {
		_ = conn.Close() // nothing was sent that matters
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	return err == nil || untrusted || alert
}
