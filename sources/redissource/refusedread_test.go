package redissource

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// TestACommandOfAReadThatIsRefusedIsNamedAndTheSourceNeverUp takes one right away at a time,
// before the first connection and while it is watched.
func TestACommandOfAReadThatIsRefusedIsNamedAndTheSourceNeverUp(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"pttl", "strlen", "getrange"} {
		for what, list := range map[string][]Selection{
			"a pattern": leaders(), "a name": {{Pattern: "app:leader:x"}}, "a name that is missing": {{Pattern: "app:leader:none"}}, "nothing selected": nil,
		} {
			t.Run(command+", "+what, func(t *testing.T) {
				t.Parallel()
				r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~* &* +@all -" + command}}, held, []any{"HSET", "app:leader:hash", "a", "b"})
				watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: list})
				e := r.Next()
				if e.Kind != sources.EventSourceDown || !strings.HasSuffix(e.Detail, "give it +"+command) {
					t.Errorf("%v: %+v", e.Kind, e)
				}
				r.Hub.Refresh("src")
				r.Hub.Refresh("src")
				r.do("ACL", "SETUSER", "eve", "+"+command)
				r.Hub.Refresh("src")
				if e := r.Next(); e.Kind != sources.EventSourceUp {
					t.Errorf("%v: %+v", e.Kind, e)
				}
				r.synced()
			})
		}
	}
}

// TestARightThatIsTakenAwayWhileReadingIsNamedOnce has a source lose one command of a read.
func TestARightThatIsTakenAwayWhileReadingIsNamedOnce(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"pttl", "strlen", "getrange"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~* &* +@all"}}, held)
			watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: leaders()}).synced()
			r.Drain()
			r.do("ACL", "SETUSER", "eve", "-"+command)
			r.do("SET", "app:leader:x", uuidB, "PX", "600000")
			r.Row("", "app:leader:x", "denied", func(row *sources.Row, _ *sources.State) bool {
				return strings.HasSuffix(row.Note, "give the user +"+command+" on this key")
			})
			r.do("ACL", "SETUSER", "eve", "+"+command)
			r.Row("", "app:leader:x", "led", led)
			for _, e := range r.Drain() {
				if e.Kind == sources.EventSourceDown || e.Kind == sources.EventSourceUp {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// TestManyKeysOfWhichNoneMayBeReadLeaveTheSourceUp has more of them than are asked for at a login.
func TestManyKeysOfWhichNoneMayBeReadLeaveTheSourceUp(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~other:* +@all"}})
	for i := range mostSampled + 1 {
		r.do("SET", fmt.Sprintf("app:leader:%d", i), uuidA)
	}
	watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: leaders()}).synced()
	a := r.About("", "what is refused", func(a sources.About) bool { return a.Partial == sources.Refused })
	if want := fmt.Sprintf("no right to read %d", mostSampled+1); !strings.HasPrefix(a.LeftOut, want) {
		t.Errorf("%q", a.LeftOut)
	}
}

// TestALockThatNobodyNamedAndThatMayNotBeReadIsSaidToBeLeftOut has a user who may read some keys of a
// server alone, and looks for locks on all of it: a warning counts those that others may own.
func TestALockThatNobodyNamedAndThatMayNotBeReadIsSaidToBeLeftOut(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~app:* &* +@all"}})
	for _, name := range []string{"app:lock:a", "lock:b", "other:leader:c", "page:d"} {
		r.do("SET", name, uuidA, "PX", "600000")
	}
	watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret")}).synced()
	r.About("", "what is refused", func(a sources.About) bool {
		return slices.ContainsFunc(a.Warnings, func(s string) bool { return strings.Contains(s, "; 2 keys with a lock's name may not be read") })
	})
	r.Row("", "app:lock:a", "owned", func(row *sources.Row, _ *sources.State) bool { return row.Taken == 1 })
}
