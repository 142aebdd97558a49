package rediscoord

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/respwire"
)

// Receive reads the next message of a subscription to addr, for as long as limit; 0: for
// ever. A message of another form than Redis sends, on which the library panics, is a
// *respwire.Error.
func Receive(ctx context.Context, sub *redis.PubSub, addr string, limit time.Duration) (m any, err error) {
	defer func() {
		if recover() != nil {
			m, err = nil, &respwire.Error{Addr: addr, What: "a message that no Redis sends"}
		}
	}()
	return sub.ReceiveTimeout(ctx, limit)
}
