package backends_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/pgsource"
	"coordtop/sources/redissource"
	"coordtop/sources/sourcetest"
	"coordtop/sources/ydbsource"
)

const ydbNode = "/local/app"

// settable is the clock of this machine, which a test puts forward: as a whole, as if so much
// time had passed, or the wall clock alone.
type settable struct {
	sources.Clock
	passed, set atomic.Int64
}

func (c *settable) Now() sources.Instant {
	now := c.Clock.Now()
	now.Mono += time.Duration(c.passed.Load())
	now.Wall = now.Wall.Add(time.Duration(c.passed.Load() + c.set.Load()))
	return now
}

// live is a Hub with a source of each backend, all on real servers.
type live struct {
	t      *testing.T
	hub    *sources.Hub
	clock  *settable
	events *sources.Subscription
	unread []sources.Event

	server *localserver.Redis
	redis  *redis.Client
	pg     *pgx.Conn
	ydb    *coord.Session
	cuts   []func() // of the connections of each source
}

// startLive starts servers, and lists the sources that watch them.
func startLive(t *testing.T) (*live, []sources.Spec) {
	t.Helper()
	l := &live{t: t}
	retry := backoff.Policy{Min: 20 * time.Millisecond, Max: 100 * time.Millisecond}
	specs := []sources.Spec{l.startRedis(), l.startPostgres(), l.startYDB()}
	for i := range specs {
		specs[i].Name, specs[i].Retry = specs[i].Type, retry
	}
	return l, specs
}

func (l *live) startRedis() sources.Spec {
	l.t.Helper()
	server := localserver.RedisForTest(l.t, localserver.RedisOptions{})
	l.server = server
	l.redis = redis.NewClient(&redis.Options{Addr: server.Addr(), DisableIdentity: true})
	l.t.Cleanup(func() { _ = l.redis.Close() })
	proxy := localserver.ProxyForTest(l.t, server.Addr())
	l.cuts = append(l.cuts, proxy.Reset)
	return sources.Spec{Type: "redis", Source: redissource.New(redissource.Options{
		Name: "redis", Client: rediscoord.ClientOptions{Addrs: []string{proxy.Addr()}},
		Selections: []redissource.Selection{{Pattern: "app:*", Kind: sources.KindElection}}, Forget: time.Hour,
		Silence: sourcetest.Patience, // the Hub is the first to notice
	})}
}

func (l *live) startPostgres() sources.Spec {
	l.t.Helper()
	server := localserver.PostgresForTest(l.t, localserver.PostgresOptions{})
	conn, err := pgx.Connect(l.t.Context(), server.URL())
	l.must(err)
	l.pg = conn
	l.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	proxy := localserver.ProxyForTest(l.t, server.Addr())
	l.cuts = append(l.cuts, proxy.Reset)
	source, err := pgsource.New(pgsource.Options{
		Name: "postgres", URL: "postgres://postgres@" + proxy.Addr() + "/postgres?sslmode=disable",
		Selections: []pgsource.Selection{{Pattern: "*"}}, PollMin: 20 * time.Millisecond,
	})
	l.must(err)
	return sources.Spec{Type: "postgres", Source: source}
}

func (l *live) startYDB() sources.Spec {
	l.t.Helper()
	server, err := ydbtest.Start(ydbtest.Options{})
	l.must(err)
	l.t.Cleanup(func() { _ = server.Close() })
	l.must(server.CreateNode(ydbNode))
	l.must(server.CreateSemaphore(ydbNode, "leader", 1, nil))
	l.must(server.CreateSemaphore(ydbNode, "quota", 10, nil))
	o, err := ydbcoord.ParseURL(server.URL(1))
	l.must(err)
	client, err := ydbcoord.NewClient(o)
	l.must(err)
	l.t.Cleanup(func() { _ = client.Close(context.Background()) })
	driver, err := client.Driver(ydbNode, ydbcoord.Options{TTL: time.Minute})
	l.must(err)
	l.ydb, err = coord.Open(l.t.Context(), driver, coord.SessionOptions{TTL: time.Minute})
	l.must(err)
	l.t.Cleanup(l.ydb.Abandon)
	l.cuts = append(l.cuts, func() { server.CutConnections(0) })
	o, err = ydbcoord.ParseURL(server.URL(0))
	l.must(err)
	source, err := ydbsource.New(ydbsource.Options{Name: "ydb", Client: o, Nodes: []string{ydbNode},
		Selections: []ydbsource.Selection{{Pattern: "leader", Kind: sources.KindElection}, {Pattern: "quota", Kind: sources.KindSemaphore}}})
	l.must(err)
	return sources.Spec{Type: "ydb", Source: source}
}

func (l *live) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// await reads events until one of that kind came from each of the sources, in a row of that
// name if there is one.
func (l *live) await(kind sources.EventKind, name string, from ...string) {
	l.t.Helper()
	from = slices.Clone(from)
	l.awaits(fmt.Sprintf("%v of %q from all of %q", kind, name, from), func() bool {
		for len(from) > 0 && len(l.unread) > 0 {
			if e := l.unread[0]; e.Kind == kind && e.Ref.Name == name {
				from = slices.DeleteFunc(from, func(source string) bool { return source == e.Ref.Source })
			}
			l.unread = l.unread[1:]
		}
		return len(from) == 0
	})
}

// awaits calls ok whenever there are new events, or there is a new state.
func (l *live) awaits(what string, ok func() bool) {
	l.t.Helper()
	limit := time.NewTimer(sourcetest.Patience)
	defer limit.Stop()
	for {
		events, missed := l.events.Events(0)
		if missed > 0 {
			l.t.Fatalf("%d events were missed", missed)
		}
		l.unread = append(l.unread, events...)
		if ok() {
			return
		}
		select {
		case <-l.events.Wake():
		case <-limit.C:
			l.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// sleepsLong makes Redis silent for two hours: longer than a key without an owner is kept.
func (l *live) sleepsLong() {
	l.t.Helper()
	brief := sources.Ref{Source: "redis", Space: "0", Name: "app:brief"}
	row := func() *sources.Row { return l.hub.Row(l.hub.State(), brief) }
	l.must(l.redis.Set(l.t.Context(), brief.Name, "host-0:11", time.Minute).Err()) // in a turn it may be gone before it is seen
	l.awaits("app:brief to be owned", func() bool { return row() != nil && len(row().Owners) == 1 })
	l.must(l.redis.PExpire(l.t.Context(), brief.Name, time.Millisecond).Err())
	l.awaits("app:brief to be free", func() bool { return len(row().Owners) == 0 })
	l.must(l.server.Freeze())
	l.clock.passed.Add(int64(2 * time.Hour))
	l.await(sources.EventSourceDown, "", "redis")
	l.must(l.server.Thaw())
	l.awaits("app:brief to be forgotten", func() bool { return row() == nil })
}

// takeTurns takes and releases something on each server, and waits until that was seen.
func (l *live) takeTurns(round int) {
	ctx := l.t.Context()
	me := fmt.Sprintf("host-%d:11", round)
	l.must(l.redis.Set(ctx, "app:leader", me, 10*time.Second).Err())
	l.await(sources.EventAcquired, "app:leader", "redis")
	l.must(l.redis.PExpire(ctx, "app:leader", 20*time.Second).Err())
	l.must(l.redis.Set(ctx, "app:brief", me, 50*time.Millisecond).Err())
	_, err := l.pg.Exec(ctx, "select pg_advisory_lock(4242)")
	l.must(err)
	l.await(sources.EventAcquired, "4242", "postgres")
	term, err := l.ydb.Election("leader", coord.ElectionOptions{}).Campaign(ctx, []byte(me))
	l.must(err)
	l.await(sources.EventAcquired, "leader", "ydb")
	permits, err := l.ydb.Semaphore("quota", coord.SemaphoreOptions{}).Acquire(ctx, 3)
	l.must(err)
	l.must(term.Proclaim(ctx, []byte(me+" draining")))
	l.must(permits.Release(ctx))
	l.must(term.Resign(ctx))
	l.await(sources.EventReleased, "leader", "ydb")
	_, err = l.pg.Exec(ctx, "select pg_advisory_unlock(4242)")
	l.must(err)
	l.await(sources.EventReleased, "4242", "postgres")
	l.hub.Expect(sources.Ending{Ref: sources.Ref{Source: "redis", Space: "0", Name: "app:leader"}, Owner: me, Cause: sources.CauseEvicted}, time.Minute)
	l.must(l.redis.Del(ctx, "app:leader").Err())
	l.await(sources.EventReleased, "app:leader", "redis")
	l.hub.AddEvent(sources.Event{Kind: sources.EventAction, Detail: fmt.Sprintf("round %d", round)})
}

func TestALiveRunOfAllBackendsIsReplayedEqually(t *testing.T) {
	t.Parallel()
	l, specs := startLive(t)
	l.clock = &settable{Clock: sources.SystemClock()}
	o := sources.HubOptions{Clock: l.clock, Recorder: sources.NewInputBuffer(math.MaxInt, math.MaxInt)}
	l.hub = sources.NewHub(t.Context(), o)
	l.events = l.hub.Subscribe(0)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- sources.Run(ctx, l.hub, specs) }() // joined below
	stop := func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		l.hub.Close()
	}
	defer func() {
		if stop != nil {
			stop()
		}
	}()
	all := []string{"redis", "postgres", "ydb"}
	l.await(sources.EventSynced, "", all...)
	for round := range 5 {
		l.takeTurns(round)
	}
	for _, cut := range l.cuts {
		cut()
	}
	l.await(sources.EventSynced, "", all...)
	l.takeTurns(5)

	l.sleepsLong()
	l.takeTurns(6)
	for _, step := range []time.Duration{time.Minute, -2 * time.Minute} {
		l.clock.set.Add(int64(step))
		l.await(sources.EventClockStep, "", "")
		l.await(sources.EventSynced, "", all...)
		l.takeTurns(7)
	}
	stop()
	stop = nil
	inputs, _ := o.Recorder.Take()
	sourcetest.CheckReplay(t, l.hub, o, inputs)
	counts := map[sources.InputKind]int{}
	for i := range inputs {
		counts[inputs[i].Kind]++
	}
	for k := range sources.InputPublished + 1 {
		if counts[k] == 0 {
			t.Errorf("no input was %q: the run does not show that it is recorded", k)
		}
	}
	t.Log(strings.TrimPrefix(fmt.Sprint(counts), "map"), len(inputs), "inputs")
}
