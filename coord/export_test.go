package coord

import (
	"context"
	"iter"
	"time"
)

// OpenAsleep is Open on a machine that was suspended for as long as asleep tells.
func OpenAsleep(ctx context.Context, d Driver, o SessionOptions, asleep func() time.Duration) (*Session, error) {
	return open(ctx, d, o, clock{asleep}, newNotifier(ctx, o))
}

// SessionsAsleep is Sessions on such a machine.
func SessionsAsleep(ctx context.Context, d Driver, o SessionOptions, asleep func() time.Duration) iter.Seq2[*Session, error] {
	return sessions(ctx, d, o, clock{asleep})
}
