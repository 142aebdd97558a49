package pgcoord_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	polling := pgcoord.Options{}
	polling.Poll, polling.Scheme = 40*time.Millisecond, pgcoord.SHA256LE
	for name, c := range map[string]struct {
		options pgcoord.Options
		key     func(kind coord.Kind, n int64) string
	}{
		"queueing on numbers": {pgcoord.Options{}, func(kind coord.Kind, n int64) string {
			if kind == coord.KindElection {
				return fmt.Sprint(-n)
			}
			return fmt.Sprintf("%d:%d", -int32(n%1e9), int32(n/1e9%1e9))
		}},
		"polling on names": {polling, func(_ coord.Kind, n int64) string { return fmt.Sprintf("coordtest/%d", n) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := shared(t)
			coordtest.Run(t, func(t testing.TB) coordtest.Harness { return harness(dsn, c.options, c.key) })
		})
	}
}

func harness(url string, o pgcoord.Options, key func(coord.Kind, int64) string) coordtest.Harness {
	// locked lists the pids of who owns or waits for a name.
	locked := func(t testing.TB, name string, granted bool) []int64 {
		k := keyOf(t, o, name)
		return one[[]int64](t, sql(t, url), `select coalesce(array_agg(pid::bigint), '{}') from pg_locks where locktype = 'advisory'
			and classid = $1 and objid = $2 and objsubid = $3 and granted = $4`, k.Class, k.Object, int16(k.Sub), granted)
	}
	var made sync.Map // name by key
	return coordtest.Harness{
		NewDriver: func(t testing.TB) coord.Driver { return driver(t, url, o) },
		TTL:       time.Second,
		Name: func(t testing.TB, kind coord.Kind) string {
			name := key(kind, time.Now().UnixNano()/1000*1000+lastKey.Add(1)%1000)
			made.Store(keyOf(t, o, name), name)
			return name
		},
		Expire: func(t testing.TB, _ coord.Kind, name string) {
			for _, pid := range locked(t, name, true) {
				one[bool](t, sql(t, url), "select pg_terminate_backend($1)", pid)
			}
			eventually(t, "the owners are gone", func() bool { return len(locked(t, name, true)) == 0 })
		},
		Owners: func(t testing.TB, _ coord.Kind, name string) []string {
			var ids []string
			for _, pid := range locked(t, name, true) {
				start := one[time.Time](t, sql(t, url), "select backend_start from pg_stat_activity where pid = $1", pid)
				ids = append(ids, pgcoord.OwnerID(uint32(pid), start))
			}
			return ids
		},
		Endings:       func(t testing.TB) func() []string { return endings(t, url, &made) },
		Troubles:      func(t testing.TB) (func(testing.TB) coord.Driver, []coordtest.Trouble) { return troubles(t, o) },
		FreezesQueues: true,
		Freezer: func(t testing.TB) (coord.Driver, func()) {
			p := server(t, localserver.PostgresOptions{})
			return driver(t, p.URL(), o), func() {
				noError(t, p.Freeze())
			}
		},
	}
}

// keyOf is the key of a name, where no server is needed for it.
func keyOf(t testing.TB, o pgcoord.Options, name string) pgcoord.Key {
	t.Helper()
	k, named, err := pgcoord.ParseKey(name)
	noError(t, err)
	if named {
		k, _ = o.Scheme.Key(name)
	}
	return k
}

// endings records the names in the order in which their owners announced their release,
// which they do after the server has confirmed it.
func endings(t testing.TB, url string, names *sync.Map) func() []string {
	t.Helper()
	c := sql(t, url)
	if _, err := c.Exec(context.Background(), "listen "+pgcoord.Channel); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var ended []string
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			n, err := c.WaitForNotification(ctx)
			if err != nil {
				return
			}
			a, ok := pgcoord.ReadAnnouncement(n)
			if !ok || a.Event != pgcoord.Released {
				continue
			}
			if k, _, err := pgcoord.ParseKey(a.Key); err == nil {
				name, _ := names.Load(k)
				mu.Lock()
				ended = append(ended, fmt.Sprint(name))
				mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(ended)
	}
}
