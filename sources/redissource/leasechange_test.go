package redissource

import (
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// TestALeaseThatSomebodyChangesIsAnEvent removes, cuts and sets the end of a lock that
// somebody owns, and renews it.
func TestALeaseThatSomebodyChangesIsAnEvent(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"pushed": {Selections: leaders()},
		"by key": {Selections: scattered(), Resync: time.Hour},
		"polled": {Selections: leaders(), PollMin: time.Second}, // a machine that stalls for longer than that looks too late to tell
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{}, held)
			if name == "polled" {
				r.do("ACL", "SETUSER", "watcher", "on", ">pw", "~*", "&*", "+@all", "-client|tracking")
				o.Client = client(r.server.Addr(), "watcher", "pw")
			}
			watch(t, r, o).synced()
			r.Drain()
			for _, step := range []struct {
				command []any
				kind    sources.EventKind
				says    string
			}{
				{[]any{"PEXPIRE", "app:leader:x", "60000"}, sources.EventLeaseChanged, "it ends in "},
				{[]any{"PEXPIRE", "app:leader:x", "90000"}, sources.EventRenewed, ""},
				{[]any{"PERSIST", "app:leader:x"}, sources.EventLeaseChanged, "it has no end any more"},
				{[]any{"PEXPIRE", "app:leader:x", "90000"}, sources.EventLeaseChanged, "it had no end"},
				{[]any{"EXPIREAT", "app:leader:x", "1000"}, sources.EventReleased, ""},
			} {
				r.do(step.command...)
				if e := r.Expect(step.kind, "app:leader:x"); !strings.Contains(e.Detail, step.says) {
					t.Errorf("%v: %+v", step.command, e)
				}
			}
		})
	}
}

// TestAShortenedLeaseIsAsLongAsItIsNow cuts a lease and renews it, until the row tells the
// new length.
func TestAShortenedLeaseIsAsLongAsItIsNow(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{}, []any{"SET", "app:leader:x", "host-1:1", "PX", "60000"})
	watch(t, r, Options{Selections: leaders()}).synced()
	lease := func(what string, least, most time.Duration) {
		t.Helper()
		r.Row("", "app:leader:x", what, func(row *sources.Row, _ *sources.State) bool {
			return len(row.Owners) == 1 && row.Owners[0].Lease > least && row.Owners[0].Lease <= most
		})
	}
	lease("of a minute", 50*time.Second, time.Minute)
	for range 3 {
		r.do("PEXPIRE", "app:leader:x", "10000")
		lease("of 10 s", 9*time.Second, 10*time.Second)
	}
	r.do("PEXPIRE", "app:leader:x", "30000")
	lease("of 30 s", 29*time.Second, 30*time.Second)
}
