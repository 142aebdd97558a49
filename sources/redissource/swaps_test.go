package redissource

import (
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// TestAnOwnerWhoWentUnpushedIsToldInASpan drops an owner in a way that is pushed to nobody, or
// to nobody in that mode, and has another one take the key later.
func TestAnOwnerWhoWentUnpushedIsToldInASpan(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		events string
		drop   []any
		renew  bool // the other one was there, and is pushed because it renews
	}{
		"databases swapped": {"", []any{"SWAPDB", 0, 1}, false}, "databases swapped, renewed": {"", []any{"SWAPDB", 0, 1}, true},
		"databases swapped, events": {"Kg$xe", []any{"SWAPDB", 0, 1}, false}, "flushed, events": {"Kg$xe", []any{"FLUSHDB"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := localserver.RedisOptions{Users: []string{"eve on >secret ~* &* +@all"}}
			if tt.events != "" {
				o.Config, o.Users[0] = []string{"notify-keyspace-events " + tt.events}, o.Users[0]+" -client|tracking"
			}
			r := serve(t, o, held)
			if tt.renew {
				r.do("EVAL", `redis.call('SELECT',1) redis.call('SET',KEYS[1],ARGV[1],'PX',60000)`, 1, "app:leader:x", uuidB)
			}
			watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: leaders()}).synced()
			r.Drain()
			r.do(tt.drop...)
			dropped := time.Now() // a look may have been sent just before
			r.do("BLPOP", "nothing", 0.5)
			if tt.renew {
				r.do("PEXPIRE", "app:leader:x", 90000)
			} else {
				r.do("SET", "app:leader:x", uuidB, "NX", "PX", 60000)
			}
			first := r.Expect(sources.EventOwnerChanged, "app:leader:x")
			if e := first; e.After.IsZero() || e.After.After(dropped) || e.Cause == sources.CauseReplaced && e.How == sources.Told {
				t.Errorf("it went by %v: %+v", dropped, e)
			}
			r.do("PEXPIRE", "app:leader:x", 120000)
			r.Expect(sources.EventRenewed, "app:leader:x")
			r.do("SET", "app:leader:x", uuidA, "PX", 60000)
			if e := r.Expect(sources.EventOwnerChanged, "app:leader:x"); !noticed(e) || !e.After.IsZero() && e.After.Before(first.At) {
				t.Errorf("pushed, and nothing was swapped since %v: %+v", first.At, e)
			}
		})
	}
}
