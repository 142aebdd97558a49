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

// ErrSilent: something accepts connections at the address, but it does not answer, or not
// in the language of YDB.
var ErrSilent = errors.New("connected, but there is no answer")

// checkTime bounds what Check does at an address that says nothing, where its context has no
// shorter end.
const checkTime = 5 * time.Second

// Check connects to the address once, without the SDK, and says what is wrong with it in
// errors that can be distinguished: *net.DNSError (no such name), syscall.ECONNREFUSED
// (nobody listens), *tls.CertificateVerificationError (a certificate that is not trusted;
// joined with coord.ErrRefused), context.DeadlineExceeded (no answer). It does not
// prove that a YDB is there; see Ping.
func (c *Client) Check(ctx context.Context) error { return c.check(ctx, false) }

// check is Check. To greet is also to find out whether a server without TLS speaks HTTP/2: the SDK
// would try until its context ends, and what it says then looks like silence.
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

// Ping asks the service something small (who we are), and so proves that a YDB is there
// which knows us. Of several hosts one that answers is enough. The error is that of Check,
// ErrSilent, or the service's refusal; a *HostsError names the hosts that were asked.
func (c *Client) Ping(ctx context.Context) error {
	conn, err := c.conn(ctx)
	if err != nil {
		return err
	}
	err = c.askHosts(ctx, func(ctx context.Context) error {
		reply, err := Ydb_Discovery_V1.NewDiscoveryServiceClient(conn).WhoAmI(ctx, &Ydb_Discovery.WhoAmIRequest{})
		switch {
		case err == nil:
			return operationError(reply.GetOperation())
		case ctx.Err() != nil:
			return fmt.Errorf("%w: %w", ErrSilent, ctx.Err())
		}
		return callError(err)
	})
	if err != nil {
		return fmt.Errorf("asking who we are: %w", err)
	}
	return nil
}

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

// greet finds out whether the server speaks HTTP/2 without TLS. A server that says nothing for now
// may only be slow, which is the SDK's to wait for.
func (o ClientOptions) greet(ctx context.Context, conn net.Conn) error {
	soon, cancel := context.WithTimeout(ctx, greetingFor)
	defer cancel()
	end, _ := soon.Deadline()
	_ = conn.SetDeadline(end) // it fails where the connection is closed, as what follows does
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

// wantsTLS reports whether the server answers the beginning of TLS. That its certificate is
// not trusted is such an answer.
func (o ClientOptions) wantsTLS(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, greetingFor)
	defer cancel()
	conn, err := (&tls.Dialer{Config: &tls.Config{NextProtos: []string{"h2"}}}).DialContext(ctx, "tcp", o.Address)
	if err == nil {
		_ = conn.Close() // nobody waits for what was sent
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	return err == nil || untrusted || alert
}
