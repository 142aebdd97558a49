package redissource

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// scattered are keys that have no prefix in common.
func scattered() []Selection {
	return []Selection{{Pattern: "*:leader:*", Kind: sources.KindElection}}
}

// scatter writes n leader keys, each with a prefix of its own.
func (r *rig) scatter(n int) {
	r.t.Helper()
	r.do("EVAL", `for i=0,ARGV[1]-1 do redis.call('SET','svc'..i..':leader:x',ARGV[2],'PX',600000) end`, 0, n, uuidA)
}

// TestKeysWithoutACommonPrefixArePushed changes, drops and takes such keys, with polls too
// rare to find any of it.
func TestKeysWithoutACommonPrefixArePushed(t *testing.T) {
	t.Parallel()
	for name, protocol := range map[string]int{"RESP3": 3, "RESP2": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{})
			r.scatter(20)
			c := client(r.server.Addr(), "", "")
			c.Protocol = protocol
			watch(t, r, Options{Client: c, Selections: scattered(), PollMin: time.Hour, PollMax: time.Hour, Resync: time.Hour}).synced()
			r.Drain()
			for i := range 3 { // each read has the next change pushed
				key := fmt.Sprintf("svc%d:leader:x", i)
				r.do("SET", key, uuidB, "PX", "600000")
				if e := r.Expect(sources.EventOwnerChanged, key); !noticed(e) {
					t.Errorf("%+v", e)
				}
				r.do("PEXPIRE", key, "900000")
				r.Expect(sources.EventRenewed, key)
				r.do("DEL", key)
				r.Expect(sources.EventReleased, key)
				r.do("SET", key, uuidA, "PX", "300")
				if e := r.Expect(sources.EventAcquired, key); !noticed(e) {
					t.Errorf("%+v", e)
				}
				r.Expect(sources.EventExpired, key)
				r.do("SET", key, uuidA)
				r.Expect(sources.EventAcquired, key)
			}
			r.do("FLUSHALL")
			for range 20 {
				if e := r.Next(); e.Kind != sources.EventReleased || e.Cause != sources.CauseDeleted {
					t.Errorf("flushed: %+v", e)
				}
			}
		})
	}
}

// TestPrefixesAndKeysAreTrackedSideBySide has keys of both kinds.
func TestPrefixesAndKeysAreTrackedSideBySide(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{}, held)
	r.scatter(5)
	watch(t, r, Options{Selections: append(leaders(), scattered()...), PollMin: time.Hour, PollMax: time.Hour, Resync: time.Hour}).synced()
	r.mode("tracking and polling")
	r.Drain()
	for _, key := range []string{"app:leader:x", "svc1:leader:x", "app:leader:x", "svc1:leader:x"} {
		r.do("SET", key, fmt.Sprintf("host-1:%d", time.Now().UnixNano()), "PX", "600000")
		if e := r.Expect(sources.EventOwnerChanged, key); !noticed(e) {
			t.Errorf("%+v", e)
		}
	}
	reads := func() string {
		_, rest, _ := strings.Cut(fmt.Sprint(r.do("INFO", "commandstats")), "cmdstat_getrange:calls=")
		calls, _, _ := strings.Cut(rest, ",")
		return calls
	}
	before := reads()
	r.do("SET", "app:leader:new", uuidA)
	r.Expect(sources.EventAcquired, "app:leader:new")
	r.do("SET", "svc1:leader:x", uuidB)
	r.Expect(sources.EventOwnerChanged, "svc1:leader:x")
	var was, is int
	_, _ = fmt.Sscan(before, &was)
	_, _ = fmt.Sscan(reads(), &is)
	if is-was > 4 {
		t.Errorf("two changes were read %d times", is-was)
	}
}

// TestKeysThatTheServerForgetsArePolled has room for a few keys in the server's table.
func TestKeysThatTheServerForgetsArePolled(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{Config: []string{"tracking-table-max-keys 10"}})
	r.scatter(100)
	watch(t, r, Options{Selections: scattered(), PollMin: 20 * time.Millisecond, PollMax: 100 * time.Millisecond, Resync: time.Hour}).synced()
	r.About("", "the table to be too small", func(a sources.About) bool {
		return strings.Contains(strings.Join(a.Warnings, ";"), "tracking-table-max-keys")
	})
	r.Drain()
	for i := range 100 {
		key := fmt.Sprintf("svc%d:leader:x", i)
		r.do("SET", key, uuidB, "PX", "600000")
		r.Expect(sources.EventOwnerChanged, key)
	}
}

// TestOnlySoManyKeysAreTrackedOneByOne counts them.
func TestOnlySoManyKeysAreTrackedOneByOne(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.push = &pushConn{mode: modeTracking, byKey: true}
	w.tracking.count = mostTracked - 1
	for _, name := range []string{"a:leader:x", "b:leader:x"} {
		w.admit(newKey(name, rule{}))
	}
	if k := w.keys["a:leader:x"]; !k.byKey || !w.arms(k.name, false) || !w.tracks(k) {
		t.Errorf("the last one with room: %+v", k)
	}
	if k := w.keys["b:leader:x"]; k.byKey || k.pushed || w.arms(k.name, true) || len(w.poll.names) != 1 {
		t.Errorf("one too many: %+v", k)
	}
	if list := w.warnings(); len(list) != 1 || !strings.Contains(list[0], "more than 100,000 keys") {
		t.Errorf("%q", list)
	}
	w.unwatch(w.keys["a:leader:x"])
	if w.tracking.count != mostTracked-1 {
		t.Error("no room is made")
	}
}
