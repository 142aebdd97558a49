package rediscoord

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// The headers of the scripts document their parameters and answers. Acquire, renew and release give the same answers as
// the scripts of LeaderService whenever those answer with a number. If a command in a script fails, our scripts answer
// with that command's error code (WRONGTYPE, NOPERM) on every version of the server; see lua/prelude.lua.
var (
	//go:embed lua/prelude.lua
	preludeText string
	//go:embed lua/acquire.lua
	acquireText string
	//go:embed lua/renew.lua
	renewText string
	//go:embed lua/release.lua
	releaseText string
	//go:embed lua/proclaim.lua
	proclaimText string
	//go:embed lua/force.lua
	forceText string
)

// The scripts. They are never changed.
var (
	acquireScript  = redis.NewScript(preludeText + acquireText)
	renewScript    = redis.NewScript(preludeText + renewText)
	releaseScript  = redis.NewScript(preludeText + releaseText)
	proclaimScript = redis.NewScript(preludeText + proclaimText)
	forceScript    = redis.NewScript(preludeText + forceText)
)

// run runs a script and returns the number that it answers. It sends the text of the script only if the server answers
// that it does not know the script; such a server has done nothing.
func run(ctx context.Context, c redis.UniversalClient, what *redis.Script, keys []string, args ...any) (int64, error) {
	cmd := what.Run(ctx, c, keys, args...)
	if err := cmd.Err(); err != nil {
		return 0, classify(err)
	}
	n, err := cmd.Int64()
	if err != nil {
		return 0, fmt.Errorf("a script answered with something else than a number: %w", err)
	}
	return n, nil
}

// longestCall is the longest time-out of one call.
const longestCall = 3 * time.Second

// callTimeout returns the time-out of one call about a key with that TTL. It leaves time for another call if the first
// is never answered.
func callTimeout(ttl time.Duration) time.Duration {
	return min(max(ttl/4, 50*time.Millisecond), longestCall)
}
