package redissource

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/backoff"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

// patience of the tests with a machine that others use too.
const testLimit = 30 * time.Second

// rig is a server of its own, a source on it run by a Hub, and a writer.
type rig struct {
	t      testing.TB
	ctx    context.Context
	server *localserver.Redis
	writer *redis.Client
	hub    *sources.Hub
	events *sources.Subscription
	queued []sources.Event
	stop   func()
}

// setup starts a server and watches it. prepare writes what is to be there before.
func setup(t testing.TB, server localserver.RedisOptions, o Options, prepare ...[]any) *rig {
	t.Helper()
	return watch(t, serve(t, server, prepare...), o)
}

// serve starts a server and a writer for it.
func serve(t testing.TB, o localserver.RedisOptions, prepare ...[]any) *rig {
	t.Helper()
	r := &rig{t: t, ctx: t.Context(), server: localserver.RedisForTest(t, o), stop: func() {}}
	r.writer = redis.NewClient(&redis.Options{Addr: r.server.Addr(), Password: o.Password, MaxRetries: -1, DisableIdentity: true, PoolSize: 4})
	t.Cleanup(func() { _ = r.writer.Close() })
	for _, command := range prepare {
		r.do(command...)
	}
	return r
}

// watch runs a source on the rig's server, or where o.Client says.
func watch(t testing.TB, r *rig, o Options) *rig {
	t.Helper()
	if len(o.Client.Addrs) == 0 {
		o.Client.Addrs = []string{r.server.Addr()}
	}
	o.Name = "src"
	r.hub = sources.NewHub(sources.HubOptions{})
	r.events = r.hub.Subscribe(0)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	spec := sources.Spec{Name: "src", Type: "redis", Source: New(o), Retry: backoff.Policy{Min: 50 * time.Millisecond, Max: 200 * time.Millisecond}}
	go func() { done <- sources.Run(ctx, r.hub, []sources.Spec{spec}) }()
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		r.events.Close()
		r.hub.Close()
	}
	t.Cleanup(r.stop)
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

// next waits for the next event, of whatever kind.
func (r *rig) next() sources.Event {
	r.t.Helper()
	limit := time.NewTimer(testLimit)
	defer limit.Stop()
	for {
		if len(r.queued) > 0 {
			e := r.queued[0]
			r.queued = r.queued[1:]
			return e
		}
		events, missed := r.events.Events(1000)
		if missed > 0 {
			r.t.Fatalf("missed %d events", missed)
		}
		if r.queued = events; len(events) > 0 {
			continue
		}
		select {
		case <-r.events.Wake():
		case <-limit.C:
			r.t.Fatalf("no event came; the source says %v", r.source())
		}
	}
}

// until skips events until one of this kind comes.
func (r *rig) until(kind sources.EventKind) sources.Event {
	r.t.Helper()
	for range 100_000 {
		if e := r.next(); e.Kind == kind {
			return e
		}
	}
	r.t.Fatalf("no %v among 100,000 events; the source says %v", kind, r.source())
	return sources.Event{}
}

// expect is next, of this kind and about this key; events of the source are skipped.
func (r *rig) expect(kind sources.EventKind, name string) sources.Event {
	r.t.Helper()
	for {
		e := r.next()
		if e.Ref.Name == "" {
			continue
		}
		if e.Kind != kind || e.Ref.Name != name {
			r.t.Fatalf("%v %q came (%+v), want %v %q", e.Kind, e.Ref.Name, e, kind, name)
		}
		return e
	}
}

// synced waits until the listing is complete.
func (r *rig) synced() *rig {
	r.t.Helper()
	r.until(sources.EventSynced)
	return r
}

// row waits until the row of name satisfies ok, and returns it.
func (r *rig) row(name, what string, ok func(*sources.Row, *sources.State) bool) *sources.Row {
	r.t.Helper()
	var row *sources.Row
	r.state("the row of "+name+" to be "+what, func(s *sources.State) bool {
		for _, row = range s.Rows {
			if row != nil && row.Name == name {
				return ok(row, s)
			}
		}
		return false
	})
	return row
}

// state waits until a published state satisfies ok.
func (r *rig) state(what string, ok func(*sources.State) bool) *sources.State {
	r.t.Helper()
	limit := time.NewTimer(testLimit)
	defer limit.Stop()
	poll := time.NewTicker(5 * time.Millisecond) // a state wakes nobody by itself
	defer poll.Stop()
	for {
		if s := r.hub.State(); ok(s) {
			return s
		}
		select {
		case <-poll.C:
		case <-limit.C:
			r.t.Fatalf("waited in vain for %s; the source says %+v, %+v", what, r.source(), r.hub.State().Scopes)
		}
	}
}

// source is what the Hub says of the source.
func (r *rig) source() sources.SourceStatus {
	for _, s := range r.hub.State().Sources {
		return s
	}
	return sources.SourceStatus{}
}

// about waits until what the source tells of itself is complete and ok, and returns it.
func (r *rig) about(what string, ok func(sources.About) bool) sources.About {
	r.t.Helper()
	var about sources.About
	r.state(what, func(s *sources.State) bool {
		if len(s.Scopes) == 0 || !s.Scopes[0].Synced {
			return false
		}
		about = s.Scopes[0].About
		return about.Mode != "" && ok(about)
	})
	return about
}

// mode waits for this About.Mode.
func (r *rig) mode(want string) sources.About {
	r.t.Helper()
	return r.about("the mode "+want, func(a sources.About) bool { return a.Mode == want })
}

// noticed reports whether e is known as a pushed change is: told at an instant, or seen
// in a span where the machine was too busy for an instant.
func noticed(e sources.Event) bool {
	return e.How == sources.Told && e.After.IsZero() || e.How == sources.Seen && e.After.Before(e.At)
}

// leaders is what most tests select.
func leaders() []Selection {
	return []Selection{{Pattern: "app:leader:*", Kind: sources.KindElection}}
}
