package rediscoord

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// The scripts' headers say what they take and return. Acquire, renew and release behave
// exactly as LeaderService's where those answer with a number. Where a command in a script
// fails, ours answer with that command's own error code (WRONGTYPE, NOPERM), whatever the
// server's version makes of an error in a script; see lua/prelude.lua.
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

// script is a Lua text and its digest.
type script struct{ text, sha string }

func newScript(text string) script {
	text = preludeText + text
	sum := sha1.Sum([]byte(text))
	return script{text, hex.EncodeToString(sum[:])}
}

// scripts are all of them, made once a driver.
type scripts struct {
	acquire, renew, release, proclaim, force script
}

func newScripts() scripts {
	return scripts{
		acquire:  newScript(acquireText),
		renew:    newScript(renewText),
		release:  newScript(releaseText),
		proclaim: newScript(proclaimText),
		force:    newScript(forceText),
	}
}

// run runs a script and returns its number. The text is sent only to a server that does
// not know it yet; a server that answers so has done nothing.
func (s script) run(ctx context.Context, c redis.UniversalClient, keys []string, args ...any) (int64, error) {
	n, err := call(ctx, c, "evalsha", s.sha, keys, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		n, err = call(ctx, c, "eval", s.text, keys, args)
	}
	return n, err
}

func call(ctx context.Context, c redis.UniversalClient, verb, what string, keys []string, args []any) (int64, error) {
	words := []any{verb, what, len(keys)}
	for _, key := range keys {
		words = append(words, key)
	}
	cmd := redis.NewCmd(ctx, append(words, args...)...)
	if err := c.Process(ctx, cmd); err != nil {
		return 0, classify(err)
	}
	n, err := cmd.Int64()
	if err != nil {
		return 0, fmt.Errorf("a script answered with something else than a number: %w", err)
	}
	return n, nil
}

// longestCall bounds one call at the most.
const longestCall = 3 * time.Second

// callTimeout bounds one call about a key with that TTL, so that a call that is never
// answered leaves time for another.
func callTimeout(ttl time.Duration) time.Duration {
	return min(max(ttl/4, 50*time.Millisecond), longestCall)
}
