package redissource

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

const eventsOn = "notify-keyspace-events Kg$x"

// warned waits until a warning contains text.
func (r *rig) warned(text string) sources.About {
	r.t.Helper()
	return r.About("", "a warning of "+text, func(a sources.About) bool {
		return strings.Contains(strings.Join(a.Warnings, "\n"), text)
	})
}

// TestEventsThatAreSwitchedOffAreLeft switches them off, with sweeps too rare to find out.
func TestEventsThatAreSwitchedOffAreLeft(t *testing.T) {
	t.Parallel()
	for name, rights := range map[string]string{"then tracking": "+@all", "then polling": "+@all -client|tracking"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{Config: []string{eventsOn}, Users: []string{"eve on >secret ~* &* " + rights}}, held)
			watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: scattered(), Resync: time.Hour}).synced()
			r.mode(modeEvents)
			r.Drain()
			r.do("CONFIG", "SET", "notify-keyspace-events", "")
			r.do("SET", "app:leader:x", uuidB, "PX", "600000")
			r.Expect(sources.EventOwnerChanged, "app:leader:x")
			about := r.warned(`left keyspace events until the next connection: notify-keyspace-events is "" now`)
			if !strings.Contains(about.Mode, "polling") || strings.Contains(about.Mode, "tracking") != strings.Contains(name, "tracking") {
				t.Errorf("the mode is %q", about.Mode)
			}
			r.do("SET", "app:leader:x", uuidA, "PX", "600000")
			r.Expect(sources.EventOwnerChanged, "app:leader:x")
			r.do("SET", "new:leader:x", uuidA, "PX", "600000")
			r.Expect(sources.EventAcquired, "new:leader:x")
		})
	}
}

// TestAModeThatASweepProvesBrokenIsLeft watches a lock in a hash with events that tell
// nothing of hashes.
func TestAModeThatASweepProvesBrokenIsLeft(t *testing.T) {
	t.Parallel()
	hold := func(thread int) []any { return []any{"HSET", "app:lock:x", fmt.Sprintf("%s:%d", uuidA, thread), 1} }
	r := serve(t, localserver.RedisOptions{Config: []string{eventsOn}, Users: []string{"eve on >secret ~* &* +@all -client|tracking"}}, hold(1))
	watch(t, r, Options{
		Client: client(r.server.Addr(), "eve", "secret"), Selections: []Selection{{Pattern: "app:lock:*"}},
		Resync: 200 * time.Millisecond, PollMin: 10 * time.Millisecond,
	}).synced()
	r.mode(modeEvents)
	r.do(hold(2)...)
	r.warned("left keyspace events until the next connection: a look found a change that was not pushed")
	r.mode(modePolling)
}

// TestTrackingThatTellsAllIsKept sweeps all the time while keys change.
func TestTrackingThatTellsAllIsKept(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{}, held)
	r.scatter(100)
	watch(t, r, Options{Selections: append(leaders(), scattered()...), Resync: time.Millisecond}).synced()
	for i := range 2000 {
		r.do("SET", fmt.Sprintf("svc%d:leader:x", i%100), fmt.Sprintf("host-1:%d", i), "PX", "600000")
		r.do("SET", "app:leader:x", fmt.Sprintf("host-1:%d", i), "PX", "600000")
	}
	r.do("SET", "app:leader:end", uuidA)
	r.Event(sources.EventAcquired, "app:leader:end")
	about := r.mode("tracking and polling")
	if text := strings.Join(about.Warnings, "\n"); strings.Contains(text, "left") || strings.Contains(text, "tracking-table") {
		t.Errorf("warned %q", text)
	}
}

// TestAPushThatIsOnItsWayProvesNothing finds a change before its push.
func TestAPushThatIsOnItsWayProvesNothing(t *testing.T) {
	t.Parallel()
	w := still(t)
	k := newKey("app:leader:x", rule{})
	w.admit(k)
	w.link.heartbeat.sent(ms(0))
	w.checks.suspect(k, lockReading(5, uuidA, time.Second), modeTracking)
	w.link.heartbeat.answered(ms(10))
	if why := w.checks.proof(w.link); why != "" {
		t.Error("a ping that was sent before the look proves nothing")
	}
	w.link.heartbeat.sent(ms(20))
	w.link.heartbeat.answered(ms(21))
	w.link.inbox.add(k.name, notice{}, "")
	if why := w.checks.proof(w.link); why != "" {
		t.Error("the push came")
	}
	w.link.inbox.take(1, nil)
	w.checks.suspect(k, lockReading(15, uuidA, time.Second), modeTracking)
	if why := w.checks.proof(w.link); why == "" {
		t.Error("no push came, and a later ping was answered")
	}
}

// TestOwnersThatCannotBeToldAnyMoreAreAnEvent replaces a lock by a list.
func TestOwnersThatCannotBeToldAnyMoreAreAnEvent(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}, held).synced()
	r.Drain()
	r.do("EVAL", "redis.call('DEL',KEYS[1]) redis.call('LPUSH',KEYS[1],'x')", 1, "app:leader:x")
	r.Expect(sources.EventOwnerUnknown, "app:leader:x")
	r.do("DEL", "app:leader:x")
	r.do("SET", "app:leader:x", uuidB)
	r.Row("", "app:leader:x", "led", led)
}

// TestRightsThatAreWithdrawnAndGivenBackAreSeen leaves the keys alone meanwhile, with sweeps
// too rare to find out.
func TestRightsThatAreWithdrawnAndGivenBackAreSeen(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~* &* +@all"}}, held, []any{"SET", "app:leader:y", uuidA})
	watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: leaders(), Resync: time.Hour}).synced()
	unknown := func(row *sources.Row, _ *sources.State) bool { return row.OwnersHow == sources.Unknown }
	for range 2 {
		r.Drain()
		r.do("ACL", "SETUSER", "eve", "resetkeys", "~other:*")
		for range 2 {
			if e := r.Next(); e.Kind != sources.EventOwnerUnknown {
				t.Errorf("%+v", e)
			}
		}
		for _, name := range []string{"app:leader:x", "app:leader:y"} {
			r.Row("", name, "unknown", unknown)
		}
		r.do("ACL", "SETUSER", "eve", "resetkeys", "~*")
		for _, name := range []string{"app:leader:x", "app:leader:y"} {
			r.Row("", name, "led", led)
		}
	}
}

// TestTheOneKeyThatMayNotBeReadIsAskedFor has many that may be read beside it.
func TestTheOneKeyThatMayNotBeReadIsAskedFor(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~app:leader:*-* &* +@all"}}, held)
	for i := range 500 {
		r.do("SET", fmt.Sprintf("app:leader:a-%d", i), uuidA)
	}
	watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: leaders(), Resync: time.Hour}).synced()
	r.do("ACL", "SETUSER", "eve", "~*")
	r.Row("", "app:leader:x", "led", led)
}

// TestARightThatIsGivenBackProvesNothingAgainstTracking changes keys while they may not be
// read.
func TestARightThatIsGivenBackProvesNothingAgainstTracking(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][]Selection{"by prefix": leaders(), "by key": scattered()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~* &* +@all"}}, held)
			watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: list, Resync: time.Hour}).synced()
			for i := range 3 {
				r.do("ACL", "SETUSER", "eve", "resetkeys", "~other:*")
				r.Row("", "app:leader:x", "unknown", func(row *sources.Row, _ *sources.State) bool { return row.OwnersHow == sources.Unknown })
				r.do("SET", "app:leader:x", fmt.Sprintf("host-1:%d", i), "PX", "600000")
				r.do("ACL", "SETUSER", "eve", "resetkeys", "~*")
				r.Row("", "app:leader:x", "led", led)
				r.do("SET", "app:leader:x", fmt.Sprintf("host-2:%d", i), "PX", "600000")
				r.Row("", "app:leader:x", "led by another", func(row *sources.Row, _ *sources.State) bool {
					return len(row.Owners) == 1 && strings.HasPrefix(row.Owners[0].ID, "host-2")
				})
			}
			if about := r.About("", "any mode", func(sources.About) bool { return true }); strings.Contains(strings.Join(about.Warnings, "\n"), "left") {
				t.Errorf("%+v", about)
			}
		})
	}
}

// TestTheFirstGuessedKeyIsTrackedAtOnce writes the first key that looks like a lock, with
// resyncs too rare to ask for pushes.
func TestTheFirstGuessedKeyIsTrackedAtOnce(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{PollMin: 20 * time.Millisecond, Resync: time.Hour}).synced()
	r.mode("polling")
	r.do("SET", "app:lock:x", uuidA)
	r.mode("tracking")
	r.Drain()
	r.do("SET", "app:lock:x", uuidB)
	if e := r.Expect(sources.EventOwnerChanged, "app:lock:x"); !noticed(e) {
		t.Errorf("%+v", e)
	}
}
