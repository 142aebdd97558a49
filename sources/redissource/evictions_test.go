package redissource

import (
	"fmt"
	"strings"
	"testing"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// TestAnEvictedLockIsNotToldAsReleased fills the memory of servers that drop keys then.
func TestAnEvictedLockIsNotToldAsReleased(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"allkeys-random", "volatile-ttl", "noeviction"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{})
			for i := range 50 {
				r.do("SET", fmt.Sprintf("app:leader:%d", i), fmt.Sprintf("host-%d:1", i), "PX", 600000+i)
			}
			r.do("CONFIG", "SET", "maxmemory-policy", policy, "maxmemory", "100mb")
			watch(t, r, Options{Selections: leaders()}).synced()
			r.About("", "a warning", func(a sources.About) bool {
				return strings.Contains(strings.Join(a.Warnings, " "), "maxmemory-policy "+policy) == (policy != "noeviction")
			})
			r.Drain()
			if policy == "noeviction" {
				r.do("DEL", "app:leader:7")
				if e := r.Expect(sources.EventReleased, "app:leader:7"); e.Cause != sources.CauseReleased {
					t.Errorf("%+v", e)
				}
				return
			}
			r.do("CONFIG", "SET", "maxmemory", "1")
			_ = r.writer.Set(r.ctx, "x", "y", 0).Err() // refused when nothing is left to drop
			for range 50 {
				e := r.Next()
				if e.Kind != sources.EventReleased || e.Cause != sources.CauseUnknown {
					t.Fatalf("%+v", e)
				}
			}
		})
	}
}

// TestALockThatMayNotBeReadNamesTheRight has a hash, and the rights that strings need.
func TestALockThatMayNotBeReadNamesTheRight(t *testing.T) {
	t.Parallel()
	for rights, note := range map[string]string{
		"": "+type +object|encoding, and +hlen +hgetall for a hash or +zcard +zrange for a sorted set", "+type +hlen +object|encoding": "+hgetall", "+type +hlen +hgetall": "+object|encoding",
	} {
		r := serve(t, localserver.RedisOptions{Users: []string{"eve on >pw ~* resetchannels +ping +scan +pttl +strlen +getrange +client|tracking " + rights}},
			[]any{"HSET", "app:leader:x", uuidA + ":7", "1"})
		watch(t, r, Options{Client: client(r.server.Addr(), "eve", "pw"), Selections: leaders()}).synced()
		row := r.Row("", "app:leader:x", "unknown", func(row *sources.Row, _ *sources.State) bool { return row.Note != "" })
		if row.Note != "it is no string, and the right to read it is missing: give the user "+note {
			t.Errorf("%q: %s", rights, row.Note)
		}
		r.About("", "refused", func(a sources.About) bool { return a.Partial == sources.Refused })
	}
}
