package backends_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/dflockcoord"
	"coordtop/coord/rediscoord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/history"
	"coordtop/internal/history/recordtest"
	"coordtop/internal/history/sqlite"
	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/dflocksource"
	"coordtop/sources/pgsource"
	"coordtop/sources/redissource"
	"coordtop/sources/ydbsource"
)

// backend is one that a random run changes.
type backend struct {
	sources.Spec
	change func(ctx context.Context, r *rand.Rand) error
	fault  func(on bool)
}

// seenAt is a State that was shown live at an instant.
type seenAt struct {
	at    time.Time
	state *sources.State
}

// TestAReplayShowsWhatWasShownLive changes what is on servers of all backends at random, looks at the live Hub at many
// instants, and compares each with the recording at that instant as it was believed then. COORDTOP_TEST_LIVE_STATES is how many.
func TestAReplayShowsWhatWasShownLive(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts servers of all backends")
	}
	most := 40
	if n, err := strconv.Atoi(os.Getenv("COORDTOP_TEST_LIVE_STATES")); err == nil {
		most = n
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, %d states", seed, most)
	path := filepath.Join(t.TempDir(), "history.db")
	seen := lookLive(t, path, []backend{redisOf(t), postgresOf(t), ydbOf(t), dflockdOf(t)}, rand.New(rand.NewPCG(seed, 1)), most)
	store := sqlite.NewReader(path)
	p := history.NewPlayer(t.Context(), store, store)
	defer func() {
		p.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	p.Believe(true)
	later, dark := 0, 0
	rand.New(rand.NewPCG(seed, 2)).Shuffle(len(seen), func(i, j int) { seen[i], seen[j] = seen[j], seen[i] })
	for _, live := range seen {
		p.Seek(live.at)
		for pos := p.Position(); pos.Moving || !pos.At.Equal(live.at); pos = p.Position() {
			if pos.Err != nil {
				t.Fatal(pos.Err)
			}
			<-p.Wake()
		}
		if text := different(live.state, p.State()); text != "" {
			t.Errorf("at %v %s", live.at.Format("15:04:05.000000"), text)
		}
		if stale(live.state) {
			dark++
		}
		p.Believe(false)
		if different(live.state, p.State()) != "" {
			later++
		}
		p.Believe(true)
	}
	t.Logf("%d states, in %d of them a source was stale; %d look otherwise to somebody who knows what came later", len(seen), dark, later)
	if dark == 0 {
		t.Error("the run has no outage")
	}
}

// stale reports whether a source does not answer.
func stale(s *sources.State) bool {
	return slices.ContainsFunc(s.Sources, func(s sources.SourceStatus) bool { return s.Health == sources.HealthStale })
}

// lookLive runs a Hub with the backends and records it, and returns what it showed.
func lookLive(t *testing.T, path string, all []backend, r *rand.Rand, most int) (seen []seenAt) {
	t.Helper()
	recorder := &recordtest.Recorder{Path: path}
	o, err := recorder.Begin()
	if err != nil {
		t.Fatal(err)
	}
	hub := sources.NewHub(t.Context(), o)
	stop := recorder.Record(hub)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	var specs []sources.Spec
	for i := range all {
		all[i].Name, all[i].Retry = all[i].Type, backoff.Policy{Min: 20 * time.Millisecond, Max: 100 * time.Millisecond}
		specs = append(specs, all[i].Spec)
	}
	go func() { done <- sources.Run(ctx, hub, specs) }() // received below
	live := hub.Subscribe(0)
	for synced := map[string]bool{}; len(synced) < len(all); {
		<-live.Wake()
		events, _ := live.Events(0)
		for _, e := range events {
			synced[e.Ref.Source] = synced[e.Ref.Source] || e.Kind == sources.EventSynced
		}
		delete(synced, "")
	}
	live.Close()
	redis, faulty := &all[0], false
	for len(seen) < most {
		b := &all[r.IntN(len(all))]
		if err := b.change(ctx, r); err != nil {
			t.Errorf("%s: %v", b.Name, err)
		}
		if on := len(seen) > most/4 && len(seen) < most/2 || faulty && !stale(hub.State()); on != faulty {
			faulty = on
			redis.fault(on)
		}
		must(t, backoff.Sleep(ctx, time.Duration(r.IntN(40))*time.Millisecond))
		before := hub.State()
		at := hub.Now().Wall
		after := hub.State()
		for n := 0; after == before && n < 100; n++ { // what was begun before is published
			must(t, backoff.Sleep(ctx, 2*time.Millisecond))
			after = hub.State()
		}
		if before == after || after.At.After(at) && after.Rev == before.Rev+1 {
			seen = append(seen, seenAt{at, before})
		}
	}
	cancel()
	if err := errors.Join(<-done, stop()); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	hub.Close()
	return seen
}

// different says in what two States differ; "": they are the same, but for what is never recorded.
func different(live, again *sources.State) string {
	if a, b := fmt.Sprintf("%+v %+v %v", live.Scopes, live.Sources, live.At), fmt.Sprintf("%+v %+v %v", again.Scopes, again.Sources, again.At); a != b {
		return "it was\n" + a + "\nand is\n" + b
	}
	if len(live.Rows) != len(again.Rows) {
		return fmt.Sprintf("there were %d rows, and are %d", len(live.Rows), len(again.Rows))
	}
	for i, was := range live.Rows {
		is := again.Rows[i]
		if was == nil || is == nil {
			if was != is {
				return fmt.Sprintf("row %d was %v and is %v", i, was, is)
			}
			continue
		}
		row, p := *was, *was.Primitive
		row.Primitive, p.Owners, p.Queue.Waiters, p.Candidates = &p, slices.Clone(p.Owners), slices.Clone(p.Queue.Waiters), slices.Clone(p.Candidates)
		for i := range p.Owners {
			p.Owners[i].Guard = ""
		}
		for _, list := range [][]sources.Waiter{p.Queue.Waiters, p.Candidates} {
			for i := range list {
				list[i].Guard = ""
			}
		}
		if !reflect.DeepEqual(&row, is) || was.Status(live) != is.Status(again) {
			return fmt.Sprintf("row %d was\n%+v %+v\nand is\n%+v %+v", i, p, row, *is.Primitive, *is)
		}
	}
	return ""
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func redisOf(t *testing.T) backend {
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), DisableIdentity: true})
	t.Cleanup(func() { _ = client.Close() })
	proxy := localserver.ProxyForTest(t, server.Addr())
	return backend{
		Spec: sources.Spec{Type: "redis", Silence: 300 * time.Millisecond, Source: redissource.New(redissource.Options{Name: "redis", Client: rediscoord.ClientOptions{Addrs: []string{proxy.Addr()}},
			Selections: []redissource.Selection{{Pattern: "app:*", Kind: sources.KindElection}}})},
		change: func(ctx context.Context, r *rand.Rand) error {
			key := fmt.Sprint("app:leader:", r.IntN(3))
			switch r.IntN(4) {
			case 0:
				return client.Del(ctx, key).Err()
			case 1:
				return client.PExpire(ctx, key, time.Second).Err()
			}
			return client.Set(ctx, key, fmt.Sprintf("host-%d:11", r.IntN(3)), time.Duration(100+r.IntN(900))*time.Millisecond).Err()
		},
		fault: func(on bool) {
			if on {
				proxy.BlackHole()
			} else {
				proxy.Resume()
			}
		},
	}
}

func postgresOf(t *testing.T) backend {
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	var conns []*pgx.Conn
	for range 2 {
		conn, err := pgx.Connect(t.Context(), server.URL())
		must(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		conns = append(conns, conn)
	}
	source, err := pgsource.New(pgsource.Options{Name: "postgres", URL: server.URL(), Selections: []pgsource.Selection{{Pattern: "*"}}, PollMin: 20 * time.Millisecond})
	must(t, err)
	return backend{Spec: sources.Spec{Type: "postgres", Source: source}, change: func(ctx context.Context, r *rand.Rand) error {
		do := "select pg_try_advisory_lock($1)"
		if r.IntN(2) == 0 {
			do = "select pg_advisory_unlock_all() where $1 > 0"
		}
		_, err := conns[r.IntN(len(conns))].Exec(ctx, do, 4240+r.IntN(3))
		return err
	}}
}

func ydbOf(t *testing.T) backend {
	const node = "/local/app"
	server, err := ydbtest.Start(ydbtest.Options{})
	must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	must(t, errors.Join(server.CreateNode(node), server.CreateSemaphore(node, "quota", 10, nil)))
	o, err := ydbcoord.ParseURL(server.URL(1))
	must(t, err)
	client, err := ydbcoord.NewClient(o)
	must(t, err)
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	driver, err := client.Driver(node, ydbcoord.Options{TTL: time.Minute})
	must(t, err)
	session, err := coord.Open(t.Context(), driver, coord.SessionOptions{TTL: time.Minute})
	must(t, err)
	t.Cleanup(session.Abandon)
	o, err = ydbcoord.ParseURL(server.URL(0))
	must(t, err)
	source, err := ydbsource.New(ydbsource.Options{Name: "ydb", Client: o, Nodes: []string{node}, Selections: []ydbsource.Selection{{Pattern: "quota", Kind: sources.KindSemaphore}}})
	must(t, err)
	var owned *coord.Lease
	return backend{Spec: sources.Spec{Type: "ydb", Source: source}, change: func(ctx context.Context, r *rand.Rand) (err error) {
		if owned != nil {
			err, owned = owned.Release(ctx), nil
			return err
		}
		owned, err = session.Semaphore("quota", coord.SemaphoreOptions{}).Acquire(ctx, uint64(1+r.IntN(9)))
		return err
	}}
}

func dflockdOf(t *testing.T) backend {
	server, err := dflocktest.Start(dflocktest.Options{})
	must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	source, err := dflocksource.New(dflocksource.Options{Name: "dflockd", Client: dflockcoord.ClientOptions{Servers: []string{server.Addr()}}, PollMin: 20 * time.Millisecond})
	must(t, err)
	return backend{Spec: sources.Spec{Type: "dflockd", Source: source}, change: func(_ context.Context, r *rand.Rand) error {
		key := fmt.Sprint("job-", r.IntN(3))
		if r.IntN(2) == 0 {
			_ = server.Take(key) // nobody may own it
			return nil
		}
		_, _ = server.Own(key, 1, time.Second) // somebody may own it
		return nil
	}}
}
