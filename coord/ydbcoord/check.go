package ydbcoord

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Discovery_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Discovery"

	"coordtop/coord"
)

// handshake looks at the certificate as the SDK will.
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
// which knows us. The error is that of Check, ErrSilent, or the service's refusal.
func (c *Client) Ping(ctx context.Context) error {
	conn, err := c.conn(ctx)
	if err != nil {
		return err
	}
	reply, err := Ydb_Discovery_V1.NewDiscoveryServiceClient(conn).WhoAmI(ctx, &Ydb_Discovery.WhoAmIRequest{})
	switch {
	case err == nil:
		err = operationError(reply.GetOperation())
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", ErrSilent, ctx.Err())
	default:
		err = callError(err)
	}
	if err != nil {
		return fmt.Errorf("asking who we are: %w", err)
	}
	return nil
}
