package coord

import (
	"context"
	"time"
)

// OpenAsleep is Open on a machine that was suspended for as long as asleep tells.
func OpenAsleep(ctx context.Context, d Driver, o SessionOptions, asleep func() time.Duration) (*Session, error) {
	return open(ctx, d, o, clock{asleep}, newNotifier(ctx, o))
}
