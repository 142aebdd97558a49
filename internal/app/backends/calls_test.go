package backends

import (
	"strings"
	"testing"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/coord/rediscoord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/action"
	"coordtop/sources"
)

func TestWhatAnActionSendsIsSaidByItsDriver(t *testing.T) {
	t.Parallel()
	redis, postgres, ydb := rediscoord.Options{TTL: redisLease}.Wire, pgcoord.Options{Scheme: pgcoord.CRC32}.Wire, ydbcoord.Options{}.Wire
	for _, c := range []struct {
		wire func(coord.Call, coord.Claim) string
		verb action.Verb
		kind sources.Kind
		name string
		data string
		want string
	}{
		{redis, action.Acquire, sources.KindMutex, "a\nb", "", `script: SET "a\nb" <nonce> PX 30000, if there is no such key; again at most every second`},
		{redis, action.Try, sources.KindElection, "a", "us", `script: SET "a" "<nonce> us" PX 30000, if there is no such key`},
		{redis, action.Proclaim, sources.KindElection, "a", "us", `script: SET "a" "<nonce> us" KEEPTTL, if its value is ours`},
		{redis, action.Resign, sources.KindElection, "a", "", `script: DEL "a", if its value is ours`},
		{postgres, action.Campaign, sources.KindElection, "17:-4", "", "select pg_advisory_lock(17, -4), on a connection of its own"},
		{postgres, action.Try, sources.KindMutex, "it's", "", "select pg_try_advisory_lock(crc32('it''s')), on a connection of its own"},
		{postgres, action.Resign, sources.KindMutex, "4242", "", "select pg_advisory_unlock(4242)"},
		{postgres, action.Proclaim, sources.KindElection, "4242", "x", `set application_name with the data "x", and notify coordtop`},
		{pgcoord.Options{}.Wire, action.Acquire, sources.KindMutex, "m", "", "select pg_advisory_lock(hashtextextended('m', 0)), on a connection of its own"},
		{ydb, action.Acquire, sources.KindMutex, "m", "", `acquire_semaphore "m", count all permits, ephemeral, in a session of its own`},
		{ydb, action.Try, sources.KindSemaphore, "s", "us", `acquire_semaphore "s", count 1, timeout 0 with the data "us", in a session of its own`},
		{ydb, action.Proclaim, sources.KindElection, "e", "us", `acquire_semaphore "e" once more, timeout 0 with the data "us"`},
		{ydb, action.Create, sources.KindSemaphore, "s", "", `create_semaphore "s", limit 1`},
		{ydb, action.Update, sources.KindSemaphore, "s", strings.Repeat("x", 301), `update_semaphore "s" with the data "` + strings.Repeat("x", 300) + `..."`},
		{ydb, action.Delete, sources.KindSemaphore, "s", "", `delete_semaphore "s", without force`},
		{ydb, action.Resign, sources.KindSemaphore, "s", "", `release_semaphore "s"`},
	} {
		r := action.Request{Verb: c.verb, Data: []byte(c.data)}
		r.Target.Kind, r.Target.Ref = c.kind, sources.Ref{Source: "x", Space: "/local/app", Name: c.name}
		if got := sent(c.wire)(r); got != c.want {
			t.Errorf("%v of %q: %s, want %s", c.verb, c.name, got, c.want)
		}
	}
	shared := action.Request{Verb: action.Acquire, Mode: sources.Shared}
	shared.Target.Ref.Name = "1"
	if got := sent(postgres)(shared); got != "select pg_advisory_lock_shared(1), on a connection of its own" {
		t.Errorf("shared: %s", got)
	}
}
