package rediscoord_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/coordtest"
	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
)

// troubles are errors that a real server answers for a while, and ways in which it is away for a while.
func troubles(t testing.TB, o rediscoord.Options) (func(testing.TB) coord.Driver, []coordtest.Trouble) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	server := localserver.RedisForTest(t, localserver.RedisOptions{Keep: true})
	raw := client(t, server.URL())
	do := func(words ...any) func() {
		return func() {
			if err := raw.Do(ctx, words...).Err(); err != nil && err != redis.Nil {
				t.Errorf("%v: %v", words, err)
			}
		}
	}
	set := func(what, value string) func() { return do("config", "set", what, value) }
	both := func(a, b func()) func() { return func() { a(); b() } }
	cut := do("client", "kill", "type", "normal")
	replica := do("replicaof", "127.0.0.1", "1")
	var busy chan struct{}
	return func(t testing.TB) coord.Driver { return driver(t, server.URL(), o) }, []coordtest.Trouble{
		{Name: "READONLY", Begin: replica, End: do("replicaof", "no", "one")},
		{
			Name:  "MASTERDOWN",
			Begin: both(set("replica-serve-stale-data", "no"), replica),
			End:   both(do("replicaof", "no", "one"), set("replica-serve-stale-data", "yes")),
		},
		{Name: "NOREPLICAS", Begin: set("min-replicas-to-write", "1"), End: set("min-replicas-to-write", "0")},
		{Name: "OOM", Begin: both(set("maxmemory", "1"), do("flushall")), End: set("maxmemory", "0")},
		{Name: "max clients", Begin: both(set("maxclients", "1"), cut), End: set("maxclients", "1000")},
		{
			Name: "BUSY",
			Begin: func() {
				set("lua-time-limit", "1")()
				long := client(t, server.URL())
				busy = make(chan struct{})
				go func() { // End waits for it
					defer close(busy)
					_ = long.Eval(ctx, "while true do end", nil).Err() // it is killed, or given up
				}()
			},
			End: func() { do("script", "kill")(); <-busy },
		},
		{Name: "restart", Begin: server.Kill, End: func() {
			if err := server.Restart(ctx); err != nil {
				t.Error(err)
			}
		}},
	}
}

func TestWhatPassesIsSaidInASentence(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	for name, c := range map[string]struct{ begin, end []any }{
		"this server is a replica now, and takes no writes (READONLY)": {
			[]any{"replicaof", "127.0.0.1", "1"}, []any{"replicaof", "no", "one"},
		},
		"the server has too few replicas to take writes (NOREPLICAS)": {
			[]any{"config", "set", "min-replicas-to-write", "1"}, []any{"config", "set", "min-replicas-to-write", "0"},
		},
		"the server's memory is full, it takes no writes (OOM)": {
			[]any{"config", "set", "maxmemory", "1"}, []any{"config", "set", "maxmemory", "0"},
		},
	} {
		b.raw.Do(b.ctx, c.begin...)
		_, ok, err := b.direct(0).Acquire(b.ctx, election("k", nil))
		if ok || !coord.Passing(err) || fmt.Sprint(err) != "acquiring: "+name {
			t.Errorf("acquiring: ok %v, %v, want %q", ok, err, name)
		}
		b.raw.Do(b.ctx, c.end...)
	}
}
