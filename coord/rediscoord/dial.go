package rediscoord

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"time"

	"coordtop/internal/respwire"
)

// dialer makes the connections of every client: to servers, to the nodes of a Cluster and
// to Sentinels. Answers are bounded, see respwire.
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
		c, err := dial(ctx, "tcp", addr)
		if err != nil {
			return nil, err
		}
		return respwire.New(c, addr, respwire.Defaults()), nil
	}
}
