package redissource

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

const testLimit = sourcetest.Patience

// rig is a server of its own, a writer, and the Witness of a source on it.
type rig struct {
	*sourcetest.Witness
	t      testing.TB
	ctx    context.Context
	server *localserver.Redis
	writer *redis.Client
}

// setup starts a server and watches it. prepare writes what is to be there before.
func setup(t testing.TB, server localserver.RedisOptions, o Options, prepare ...[]any) *rig {
	t.Helper()
	return watch(t, serve(t, server, prepare...), o)
}

// serve starts a server and a writer for it.
func serve(t testing.TB, o localserver.RedisOptions, prepare ...[]any) *rig {
	t.Helper()
	r := &rig{t: t, ctx: t.Context(), server: localserver.RedisForTest(t, o)}
	r.writer = redis.NewClient(&redis.Options{Addr: r.server.Addr(), Password: o.Password, MaxRetries: -1, DisableIdentity: true, PoolSize: 4, ReadTimeout: time.Minute})
	t.Cleanup(func() { _ = r.writer.Close() })
	for _, command := range prepare {
		r.do(command...)
	}
	return r
}

// watch runs a source on the rig's server, or where o.Client says. A stall of the machine is no
// silence of the server, where o.Silence does not say how long that is.
func watch(t testing.TB, r *rig, o Options) *rig {
	t.Helper()
	if len(o.Client.Addrs) == 0 {
		o.Client.Addrs = []string{r.server.Addr()}
	}
	o.Name, o.Silence = "src", cmp.Or(o.Silence, testLimit)
	r.Witness = sourcetest.Watch(t, "redis", New(o))
	return r
}

// client says how to reach a server as a user.
func client(addr, user, password string) rediscoord.ClientOptions {
	return rediscoord.ClientOptions{Addrs: []string{addr}, User: user, Password: password}
}

// do sends a command as a person at redis-cli would.
func (r *rig) do(args ...any) any {
	r.t.Helper()
	reply, err := r.writer.Do(r.ctx, args...).Result()
	if err != nil && err != redis.Nil {
		r.t.Fatalf("%v: %v", args[0], err)
	}
	return reply
}

// synced waits until the listing is complete.
func (r *rig) synced() *rig {
	r.t.Helper()
	r.Synced()
	return r
}

// mode waits for this About.Mode.
func (r *rig) mode(want string) sources.About {
	r.t.Helper()
	return r.About("", "the mode "+want, func(a sources.About) bool { return a.Mode == want })
}

// noticed reports whether e is known as a pushed change is: told at an instant, or seen
// in a span where the machine was too busy for an instant.
func noticed(e sources.Event) bool {
	return e.How == sources.Told && e.After.IsZero() || e.How == sources.Seen && e.After.Before(e.At)
}

// ranOut is the end of a lease that ran out: told so, or with an unknown cause where the
// machine was too busy to prove that the owner had not given it up just before.
func (r *rig) ranOut(name string) sources.Event {
	r.t.Helper()
	e := r.Next()
	for e.Ref.Name == "" {
		e = r.Next()
	}
	unknown := e.Kind == sources.EventReleased && e.Cause == sources.CauseUnknown && unproved(e)
	if e.Ref.Name != name || !unknown && (e.Kind != sources.EventExpired || e.Cause != sources.CauseExpired || e.How != sources.Inferred) {
		r.t.Fatalf("%+v, want the lease of %s to have run out", e, name)
	}
	return e
}

// unproved reports whether the machine was too busy for e to be known better than as a span.
func unproved(e sources.Event) bool {
	return !e.After.IsZero() && e.At.Sub(e.After) > sources.Promptness
}

// leaders is what most tests select.
func leaders() []Selection {
	return []Selection{{Pattern: "app:leader:*", Kind: sources.KindElection}}
}

// noError ends the test if there is an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
