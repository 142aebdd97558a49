package ydbcoord

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Discovery_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Discovery"

	"coordtop/coord"
	"coordtop/internal/failure"
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
func (c *Client) Check(ctx context.Context) error {
	if c.options.Conn != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", c.options.Address)
	if err != nil {
		return failure.With(err, ctx.Err())
	}
	defer conn.Close() // nothing was written that closing could lose
	if c.options.TLS == nil {
		return nil
	}
	return failure.With(c.options.handshake(ctx, conn), ctx.Err())
}

// handshake verifies the certificate as the SDK will.
func (o ClientOptions) handshake(ctx context.Context, conn net.Conn) error {
	config, err := o.TLS.Load()
	if err != nil {
		return fmt.Errorf("%w: %w", coord.ErrInvalid, err)
	}
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(o.Address)
		if err != nil {
			return fmt.Errorf("%w: %w", coord.ErrInvalid, err)
		}
		config.ServerName = host
	}
	config.NextProtos = []string{"h2"}
	err = tls.Client(conn, config).HandshakeContext(ctx)
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("%w: %w", coord.ErrRefused, bad)
	}
	return err
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
