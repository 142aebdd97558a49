package redissource

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/kit"
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

// reads is how often a value was read.
func (r *rig) reads() int { return r.calls("getrange") }

// calls is how often the server was sent a command.
func (r *rig) calls(command string) (n int) {
	r.t.Helper()
	_, rest, _ := strings.Cut(fmt.Sprint(r.do("INFO", "commandstats")), "cmdstat_"+command+":calls=")
	_, _ = fmt.Sscan(rest, &n)
	return n
}

// TestKeysWithoutACommonPrefixArePushed changes, drops and takes such keys, with polls too
// rare to find any of it.
func TestKeysWithoutACommonPrefixArePushed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		protocol int
		mode     string
	}{
		{name: "RESP3", mode: "tracking and polling"},
		{name: "RESP2", protocol: 2, mode: "tracking RESP2 and polling"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{})
			r.scatter(20)
			c := client(r.server.Addr(), "", "")
			c.Protocol = tt.protocol
			watch(t, r, Options{Client: c, Selections: scattered(), PollMin: time.Hour, PollMax: time.Hour, Resync: time.Hour}).synced()
			r.mode(tt.mode)
			if n := strings.Count(r.do("CLIENT", "LIST").(string), "name="+clientName+" "); n != 2 {
				t.Errorf("%d connections, not 2", n)
			}
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
				r.do("SET", key, uuidA, "PX", "1500")
				if e := r.Expect(sources.EventAcquired, key); !noticed(e) {
					t.Errorf("%+v", e)
				}
				r.ranOut(key)
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

// TestKeysThatAreNotRedirectedArePolled has a server behind a proxy that refuses REDIRECT, alone and
// beside keys with a prefix, which go on being pushed.
func TestKeysThatAreNotRedirectedArePolled(t *testing.T) {
	t.Parallel()
	for mode, beside := range map[string][]Selection{"polling": nil, "tracking and polling": leaders()} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{})
			r.scatter(5)
			proxy := localserver.ProxyForTest(t, r.server.Addr())
			proxy.Replace("redirect", "nowhere!")
			watch(t, r, Options{Client: client(proxy.Addr(), "", ""), Selections: append(scattered(), beside...), PollMin: 20 * time.Millisecond, PollMax: 100 * time.Millisecond, Resync: time.Hour}).synced()
			if about := r.mode(mode); !strings.Contains(strings.Join(about.Warnings, ";"), "one by one is refused") {
				t.Errorf("warnings %q", about.Warnings)
			}
			r.Drain()
			r.do("SET", "svc1:leader:x", uuidB, "PX", "600000")
			r.Expect(sources.EventOwnerChanged, "svc1:leader:x")
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
	before := r.reads()
	r.do("SET", "app:leader:new", uuidA)
	r.Expect(sources.EventAcquired, "app:leader:new")
	r.do("SET", "svc1:leader:x", uuidB)
	r.Expect(sources.EventOwnerChanged, "svc1:leader:x")
	if n := r.reads() - before; n > 4 {
		t.Errorf("two changes were read %d times", n)
	}
}

// TestKeysThatTheServerForgetsArePolled has room for a few keys in the server's table, and
// many or a few too many of them.
func TestKeysThatTheServerForgetsArePolled(t *testing.T) {
	t.Parallel()
	for _, n := range []int{100, 12} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{Config: []string{"tracking-table-max-keys 10"}})
			r.scatter(n)
			watch(t, r, Options{Selections: scattered(), PollMin: 20 * time.Millisecond, PollMax: 100 * time.Millisecond, Resync: time.Hour}).synced()
			r.About("", "the table to be too small", func(a sources.About) bool {
				return strings.Contains(strings.Join(a.Warnings, ";"), "tracking-table-max-keys")
			})
			r.Drain()
			for from := 0; from < n; from += 10 { // some at once: each change may wait for the next poll
				changed := map[string]bool{}
				for i := from; i < min(from+10, n); i++ {
					key := fmt.Sprintf("svc%d:leader:x", i)
					r.do("SET", key, uuidB, "PX", "600000")
					changed[key] = true
				}
				for len(changed) > 0 {
					e := r.Next()
					if e.Ref.Name == "" {
						continue
					}
					if e.Kind != sources.EventOwnerChanged || !changed[e.Ref.Name] {
						t.Fatalf("%+v, want a new owner of one of %v", e, changed)
					}
					delete(changed, e.Ref.Name)
				}
			}
		})
	}
}

// TestKeyWrittenInAnotherDatabaseIsPolledAlone has one that is written there all the time,
// and others that are written there twice a second, with polls too rare to find any change.
func TestKeyWrittenInAnotherDatabaseIsPolledAlone(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{})
	r.scatter(20)
	watch(t, r, Options{Selections: scattered(), PollMin: time.Hour, PollMax: time.Hour, Resync: time.Hour}).synced()
	r.Drain()
	stop, stopped := make(chan struct{}), make(chan error)
	go func() { stopped <- r.writeElsewhere(stop) }()
	r.About("", "the noisy key to be polled", func(a sources.About) bool {
		return strings.Contains(strings.Join(a.Warnings, ";"), "in another database")
	})
	close(stop)
	noError(t, <-stopped)
	for i := range 19 {
		key := fmt.Sprintf("svc%d:leader:x", 1+i)
		r.do("SET", key, uuidB, "PX", "600000")
		if e := r.Expect(sources.EventOwnerChanged, key); !noticed(e) {
			t.Errorf("%+v", e)
		}
	}
}

// writeElsewhere writes the first key in another database all the time, and the nine after it
// twice a second and at the end.
func (r *rig) writeElsewhere(stop <-chan struct{}) error {
	other := redis.NewClient(&redis.Options{Addr: r.server.Addr(), DB: 1, DisableIdentity: true})
	defer other.Close()
	var last time.Time
	for ended := false; !ended; {
		select {
		case <-stop:
			ended = true
		default:
		}
		n := 1
		if ended || time.Since(last) > 500*time.Millisecond {
			n, last = mostFutile, time.Now()
		}
		for i := range n {
			if err := other.Set(context.Background(), fmt.Sprintf("svc%d:leader:x", i), uuidB, 0).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestPushesWithoutAChangeAreCountedByKey counts those of one key and those of many.
func TestPushesWithoutAChangeAreCountedByKey(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		keys, n int // each key has n pushes
		every   int // one push every so many ms
		polled  int
	}{
		{name: "one key, as often as it may", keys: 1, n: mostFutile, polled: 0},
		{name: "one key, too often", keys: 1, n: mostFutile + 1, polled: 1},
		{name: "one key, in more than a second", keys: 1, n: 5 * mostFutile, every: 110, polled: 0},
		{name: "as many keys as may be", keys: mostFutile, n: mostFutile, polled: 0},
		{name: "one key more", keys: mostFutile + 1, n: 1, polled: 1},
		{name: "many keys", keys: 10 * mostFutile, n: 1, polled: 9 * mostFutile},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var tracking keyTracking
			keys := make([]*key, tt.keys)
			for i := range keys {
				keys[i] = newKey(fmt.Sprint(i), rule{})
				keys[i].byKey = true
			}
			polled := 0
			for i := range tt.keys * tt.n {
				if tracking.futilePush(keys[i%tt.keys], ms(i*tt.every)) {
					polled++
				}
			}
			if polled != tt.polled || tracking.evicts != (polled > 0) {
				t.Errorf("%d are polled, not %d, and a warning: %v", polled, tt.polled, tracking.evicts)
			}
		})
	}
}

// TestALostPushArmsItsKeyAgain loses what was pushed about a key that is tracked by itself: one
// push too many, and all that waited for too long.
func TestALostPushArmsItsKeyAgain(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.link.Link = kit.NewLink(t.Context())
	defer w.link.Link.Close()
	w.link.push = &pushConn{mode: modeTracking, byKey: true}
	k := newKey("a:leader:x", rule{})
	w.admit(k)
	k.armed, k.denied = true, true // it is not asked for
	if w.link.inbox.everything(notice{}, false); w.arms(k.name, false) {
		t.Fatal("it is armed already")
	}
	if _, err := w.urgent(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if !w.arms(k.name, false) {
		t.Error("a push was lost, and the next look does not arm it")
	}
	k.armed = true
	w.link.Start(w.fallBehind)
	if _, err := w.link.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.link.Link.Close()
	if !w.arms(k.name, false) {
		t.Error("pushes were dropped, and the next look does not arm it")
	}
}
