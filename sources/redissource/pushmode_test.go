package redissource

import (
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

// readingRights is all that a user needs to be shown the keys by polling.
const readingRights = "+ping +pttl +strlen +getrange +scan"

func TestPushModeIsTheBestThatIsGranted(t *testing.T) {
	t.Parallel()
	const events = "notify-keyspace-events Kg$x"
	keys := leaders()
	first := []Selection{{Pattern: "*:leader:*"}}
	tests := []struct {
		name     string
		config   []string
		rights   string // of the user; "": everything
		protocol int
		select_  []Selection
		mode     string
		warned   string // a part of the warning; "": there is none
	}{
		{name: "everything is allowed", select_: keys, mode: "tracking"},
		{name: "tracking before events", config: []string{events}, select_: keys, mode: "tracking"},
		{name: "the least rights for tracking", rights: readingRights + " +client|tracking", select_: keys, mode: "tracking"},
		{name: "RESP2 by choice", protocol: 2, select_: keys, mode: "tracking RESP2"},
		{name: "a server without RESP3", config: []string{`rename-command HELLO ""`}, select_: keys, mode: "tracking RESP2"},
		{name: "the least rights for RESP2", protocol: 2, rights: readingRights + " +client|tracking +client|id +subscribe &__redis__:invalidate", select_: keys, mode: "tracking RESP2"},
		{name: "no right to track", config: []string{events}, rights: "+@all -client|tracking &*", select_: keys, mode: "keyspace events"},
		{name: "no right to track or to subscribe", config: []string{events}, rights: "+@all -client|tracking", select_: keys, mode: "polling", warned: "keyspace events are refused"},
		{name: "no right to track or to read the configuration", config: []string{events}, rights: readingRights, select_: keys, mode: "polling", warned: "+config|get"},
		{name: "no events configured", rights: "+@all -client|tracking", select_: keys, mode: "polling", warned: `notify-keyspace-events is ""`},
		{name: "too few events configured", config: []string{"notify-keyspace-events Kg"}, rights: "+@all -client|tracking", select_: keys, mode: "polling", warned: `"gK"`},
		{name: "the variable part comes first", select_: first, mode: "tracking and polling", warned: "variable part comes first"},
		{name: "the least rights for tracking keys one by one", rights: readingRights + " +client|tracking +client|id +client|caching", select_: first, mode: "tracking and polling", warned: "for new keys"},
		{name: "no right to track keys one by one", rights: readingRights + " +client|tracking +client|id", select_: first, mode: "polling", warned: "one by one is refused"},
		{name: "no right to the connection's id", rights: readingRights + " +client|tracking +client|caching", select_: first, mode: "polling", warned: "client|id"},
		{name: "no right to the connection's id over RESP2", protocol: 2, rights: readingRights + " +client|tracking +client|caching", select_: first, mode: "polling", warned: "client|id"},
		{name: "the variable part comes first, with events", config: []string{events}, select_: first, mode: "keyspace events"},
		{name: "some can be tracked", select_: append(first, keys...), mode: "tracking and polling", warned: "variable part comes first"},
		{name: "all can be told by events", config: []string{events}, select_: append(first, keys...), mode: "keyspace events"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := localserver.RedisOptions{Config: tt.config}
			var c rediscoord.ClientOptions
			if tt.rights != "" {
				server.Users = []string{"eve on >secret resetchannels ~* " + tt.rights}
				c.User, c.Password = "eve", "secret"
			}
			r := serve(t, server, held)
			c.Addrs, c.Protocol = []string{r.server.Addr()}, tt.protocol
			watch(t, r, Options{Client: c, Selections: tt.select_, PollMin: 20 * time.Millisecond, PollMax: 100 * time.Millisecond}).synced()
			about := r.mode(tt.mode)
			if warnings := strings.Join(about.Warnings, "\n"); tt.warned == "" && warnings != "" || !strings.Contains(warnings, tt.warned) {
				t.Errorf("warnings %q", warnings)
			}
			if polled := strings.Contains(tt.mode, "polling"); (about.Sampling > 0) != polled {
				t.Errorf("sampling %v", about.Sampling)
			}
			r.lifeOfALock(strings.Contains(tt.mode, "events"))
		})
	}
}

// lifeOfALock lets a lock be taken, renewed, taken over, given up and run out, and
// expects to be told all of it.
func (r *rig) lifeOfALock(told bool) {
	r.t.Helper()
	r.Drain()
	r.do("SET", "app:leader:new", uuidA, "NX", "PX", "300000")
	r.Expect(sources.EventAcquired, "app:leader:new")
	if !slices.ContainsFunc([]int{600_000, 601_000, 602_000, 603_000, 604_000}, r.renews) {
		r.t.Fatal("no renewal was told of")
	}
	r.do("SET", "app:leader:new", uuidB, "PX", "600000")
	e := r.Expect(sources.EventOwnerChanged, "app:leader:new")
	if told && (e.Cause != sources.CauseReplaced || !noticed(e)) {
		r.t.Errorf("written over: %+v", e)
	}
	r.do("DEL", "app:leader:new")
	e = r.Expect(sources.EventReleased, "app:leader:new")
	busy := e.Cause == sources.CauseUnknown && unproved(e)
	if !busy && (e.Cause != sources.CauseReleased || told != noticed(e)) {
		r.t.Errorf("deleted: %+v", e)
	}
	r.do("SET", "app:leader:new", uuidA, "NX", "PX", "1500") // longer than any pause between two polls
	r.Expect(sources.EventAcquired, "app:leader:new")
	if !told {
		r.ranOut("app:leader:new")
	} else if e = r.Expect(sources.EventExpired, "app:leader:new"); e.Cause != sources.CauseExpired { // by the look at its end, or by the event
		r.t.Errorf("ran out: %+v", e)
	}
}

// renews renews the lock for so many milliseconds, and reports whether that is told soon. On a machine that stood still it may
// have gone on in the dark, which is no renewal.
func (r *rig) renews(lease int) bool {
	r.do("PEXPIRE", "app:leader:new", lease)
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if slices.ContainsFunc(r.Drain(), func(e sources.Event) bool { return e.Kind == sources.EventRenewed && e.Ref.Name == "app:leader:new" }) {
			return true
		}
	}
	return false
}

func TestLookingChangesNothing(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~* &* +@all"}}, held)
	before := r.do("CONFIG", "GET", "*")
	watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: append(leaders(), Selection{Pattern: "*:lock:*"})}).synced()
	r.Hub.Refresh("src")
	r.do("SET", "app:leader:end", uuidA)
	r.Event(sources.EventAcquired, "")
	r.Stop()
	stats := r.do("INFO", "commandstats").(string)
	for _, command := range []string{"set", "del", "expire", "pexpire", "config|set", "eval", "multi", "publish", "keys"} {
		if strings.Contains(stats, "cmdstat_"+command+":") && command != "set" {
			t.Errorf("%s was called", command)
		}
	}
	if n := strings.Count(stats, "cmdstat_set:calls=2,"); n != 1 {
		t.Errorf("SET was called by others than the test:\n%s", stats)
	}
	if after := r.do("CONFIG", "GET", "*"); len(after.(map[any]any)) != len(before.(map[any]any)) {
		t.Error("the configuration differs")
	} else {
		for k, v := range before.(map[any]any) {
			if after.(map[any]any)[k] != v {
				t.Errorf("%v was %v and is %v", k, v, after.(map[any]any)[k])
			}
		}
	}
}

func TestAtMostTwoConnectionsNamedForWhatTheyAre(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}, held).synced()
	list := r.do("CLIENT", "LIST").(string)
	if n := strings.Count(list, "name="+clientName+" "); n != 2 {
		t.Errorf("%d connections:\n%s", n, list)
	}
	r.Stop()
	r.State("nothing to be left", func(*sources.State) bool {
		return !strings.Contains(r.do("CLIENT", "LIST").(string), "name="+clientName)
	})
}

func TestPolledKeyOnScreenIsLookedAtMoreOften(t *testing.T) {
	t.Parallel()
	o := Options{Selections: []Selection{{Pattern: "app:leader:x"}, {Pattern: "app:leader:y"}}, PollMin: time.Millisecond}
	w := &watcher{link: &link{o: &o, selected: compile(o.Selections), hints: &focusHints{}}, keys: map[string]*key{}, space: "0"}
	for _, name := range []string{"app:leader:x", "app:leader:y"} {
		w.admit(newKey(name, rule{exact: true}))
	}
	now := time.Now()
	w.poll.due = now.Add(time.Hour)
	if next := w.pollNext(); !next.Equal(w.poll.due) {
		t.Errorf("without a focus the next look is %v away", next.Sub(now))
	}
	w.link.hints.Focus([]sources.Ref{{Space: "0", Name: "app:leader:x"}}, sources.Ref{})
	w.poll.focusDue = now.Add(time.Second)
	if next := w.pollNext(); !next.Equal(w.poll.focusDue) {
		t.Errorf("with a focus the next look is %v away", next.Sub(now))
	}
}
