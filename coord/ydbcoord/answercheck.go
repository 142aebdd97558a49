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
	"coordtop/coord/certs"
	"coordtop/internal/ground/failure"
)

// ErrSilent reports that something accepts connections at the address, but does not answer in the protocol of YDB.
var ErrSilent = errors.New("connected, but there is no answer")

// checkTime bounds Check, unless its context ends earlier.
const checkTime = 5 * time.Second

// Check connects to the address once, without the SDK. Its errors are: *net.DNSError (no such name),
// syscall.ECONNREFUSED (nobody listens), *tls.CertificateVerificationError (a certificate that is not trusted; joined
// with coord.ErrRefused), context.DeadlineExceeded (no answer). Success does not prove that the server is a YDB; see
// Ping.
func (c *Client) Check(ctx context.Context) error { return c.check(ctx, false) }

// check implements Check. With greet it also finds out whether a server without TLS speaks HTTP/2. If it does not, the
// SDK would try until its context ends, and its error would look like silence.
func (c *Client) check(ctx context.Context, greet bool) error {
	if c.options.Conn != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	dial := new(net.Dialer).DialContext
	config, err := certs.Config(c.options.TLS, c.options.TLSFiles)
	if err != nil {
		return fmt.Errorf("%w: %w", coord.ErrInvalid, err)
	}
	if config != nil {
		config = config.Clone()
		config.NextProtos = []string{"h2"}
		dial = (&tls.Dialer{Config: config}).DialContext // it verifies the certificate in the same way as the SDK
	}
	conn, err := dial(ctx, "tcp", c.options.Address)
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		err = fmt.Errorf("%w: %w", coord.ErrRefused, bad)
	}
	if err != nil {
		return failure.With(err, ctx.Err())
	}
	defer conn.Close() // nothing was written, so closing loses nothing
	if greet && config == nil {
		return c.options.greet(ctx, conn)
	}
	return nil
}

// Ping asks the service who we are, which proves that the address is that of a YDB that knows us. If there are several
// hosts, one answer is enough. It returns an error of Check, ErrSilent, or the service's refusal; a *HostsError names
// the hosts that were asked.
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

// ErrWantsTLS reports that the server speaks TLS, but we are configured without. The error also wraps coord.ErrRefused.
var ErrWantsTLS = errors.New("the server speaks TLS only")

// ErrForeign reports that the server does not speak HTTP/2, so that it is not a YDB. The error also wraps
// coord.ErrRefused.
var ErrForeign = errors.New("the answer is not HTTP/2")

const (
	// greeting is the first message of a client of HTTP/2: the preface and empty settings (RFC 9113, 3.4).
	greeting     = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	frameHeader  = 9 // bytes; the server's answer also begins with a settings frame
	settingsKind = 4 // in the fourth byte of a frame

	greetingFor = time.Second // bounds each of the two tries
)

// greet finds out whether the server speaks HTTP/2 without TLS. If there is no answer, the server may only be slow;
// greet then returns nil, and the SDK waits for the server.
func (o ClientOptions) greet(ctx context.Context, conn net.Conn) error {
	soon, cancel := context.WithTimeout(ctx, greetingFor)
	defer cancel()
	end, _ := soon.Deadline()
	_ = conn.SetDeadline(end) // fails only if the connection is closed, and then the write fails as well
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

// wantsTLS reports whether the server answers a handshake of TLS, even with a certificate that is not trusted.
func (o ClientOptions) wantsTLS(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, greetingFor)
	defer cancel()
	conn, err := (&tls.Dialer{Config: &tls.Config{NextProtos: []string{"h2"}}}).DialContext(ctx, "tcp", o.Address)
	if err == nil {
		_ = conn.Close() // nothing important was sent
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	return err == nil || untrusted || alert
}
