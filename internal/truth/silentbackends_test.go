package truth

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
)

const (
	silentRows   = 6
	silentOwners = 3
	silentLease  = 10 * time.Minute // it ends in no test
)

func everyOwner() []int { return []int{0, 1, 2} }

func TestLengthsOfRedisAreTrueThroughSilence(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	r := newTrial(t, server.Addr())
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), DisableIdentity: true, MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	a := &redisActor{trial: r, client: client}
	for i := range silentRows {
		a.rows = append(a.rows, &redisRow{name: fmt.Sprintf("app:leader:%d", i)})
	}
	g := &rig{
		rows: silentRows, owners: silentOwners, settle: func() {},
		take: func(row, owner int) {
			a.take(a.rows[row], fmt.Sprintf("host-%d:4711", owner), silentLease, true)
		},
		giveUp: func(row int) { a.release(a.rows[row]) },
		renew:  func(row int) { a.renew(a.rows[row], silentLease) },
		restart: func() []int {
			from := time.Now()
			if err := server.Restart(context.Background()); err != nil {
				t.Fatal(err)
			}
			up := time.Now()
			for _, row := range a.rows {
				if row.owner != "" {
					r.history.add(change{row: row.name, who: row.owner, id: row.owner, what: ends, from: from, to: up, cause: "restart", leaseEnds: row.lo})
					row.owner = ""
				}
				for i, c := range r.history.rows[row.name] { // what was given up before may seem lost with the server
					if c.what == ends && c.sessionEnds == nil {
						r.history.rows[row.name][i].sessionEnds = &up
					}
				}
			}
			return everyOwner()
		},
	}
	r.runSilent(g, "redis://"+r.proxy.Addr()+"/0?election=app:leader:*", false, rules{proved: true})
}

func TestLengthsOfPostgresAreTrueThroughSilence(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	r := newTrial(t, server.Addr())
	a := &postgresActor{trial: r, url: server.URL()}
	a.admin = a.connect("admin")
	a.postgresRecorder = &postgresRecorder{test: t, history: r.history, conn: a.connect("recorder"), last: time.Now(),
		labels: map[uint32]string{}, started: map[uint32]*time.Time{}}
	var keys []string
	owners := make([]int, silentRows) // who was the last one
	for i := range silentRows {
		keys = append(keys, fmt.Sprint(2001+i))
	}
	for range silentOwners {
		a.all = append(a.all, a.open())
	}
	do := func(owner int, function, key string) {
		a.record()
		a.do(a.all[owner], "SELECT "+function+"("+key+")")
		a.record()
	}
	g := &rig{
		rows: silentRows, owners: silentOwners, settle: func() { a.record(); a.quit() },
		take: func(row, owner int) {
			owners[row] = owner
			do(owner, "pg_advisory_lock", keys[row])
		},
		giveUp: func(row int) { do(owners[row], "pg_advisory_unlock", keys[row]) },
		restart: func() []int {
			owner := r.random.IntN(silentOwners)
			a.end(a.all[owner])
			a.record()
			return []int{owner}
		},
	}
	a.start(10*time.Millisecond, a.record)
	t.Cleanup(a.quit)
	url := strings.Replace(server.URL(), server.Addr(), r.proxy.Addr(), 1) + "&election=" + strings.Join(keys, ",")
	r.runSilent(g, url, true, rules{})
}

func TestLengthsOfYDBAreTrueThroughSilence(t *testing.T) {
	t.Parallel()
	server, err := ydbtest.Start(ydbtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := server.CreateNode(ydbNode); err != nil {
		t.Fatal(err)
	}
	r := newTrial(t, server.Endpoint(0))
	conn, err := grpc.NewClient("passthrough:///"+server.Endpoint(1), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	a := &ydbActor{trial: r, ydbRecorder: newYDBRecorder(server, r.history), conn: conn}
	t.Cleanup(a.quit)
	url := "grpc://" + r.proxy.Addr() + "/local?node=" + ydbNode
	owners := make([]int, silentRows)
	for i := range silentRows {
		row := &ydbRow{name: fmt.Sprintf("leader-%d", i), kind: "election", limit: 1}
		a.create(row)
		a.rows = append(a.rows, row)
		url += "&election=" + row.name
	}
	for i := range silentOwners {
		s := &ydbSession{t: t, conn: conn, label: fmt.Sprintf("worker-%d", i), ttl: time.Minute}
		s.attach()
		t.Cleanup(s.drop)
		a.all = append(a.all, s)
	}
	g := &rig{
		rows: silentRows, owners: silentOwners, settle: func() { a.quiet(t); a.quit() },
		take: func(row, owner int) {
			owners[row] = owner
			a.do(func() { a.all[owner].acquire(a.rows[row], 1, 0, a.all[owner].label) })
		},
		giveUp: func(row int) { a.do(func() { a.all[owners[row]].release(a.rows[row]) }) },
		restart: func() []int { // it keeps what is owned
			if err := server.RestartTablet(ydbNode); err != nil {
				t.Fatal(err)
			}
			for _, s := range a.all {
				<-s.gone
				if !s.attach() {
					t.Fatal("a session did not outlive the restart")
				}
			}
			return nil
		},
	}
	a.start(5*time.Millisecond, a.record)
	r.runSilent(g, url, false, rules{proved: true, queue: 5 * time.Second})
}

func TestLengthsOfDflockdAreTrueThroughSilence(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it waits twenty seconds for silences; those of the emulator of YDB are short")
	}
	server, err := dflocktest.Start(dflocktest.Options{ReadTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	a := &dflockdActor{trial: newTrial(t, server.Addr()), server: server, last: time.Now(), end: "released", life: new(time.Time)}
	t.Cleanup(a.quit)
	for i := range silentRows {
		a.rows = append(a.rows, fmt.Sprintf("app:lock:%d", i))
	}
	open := func() {
		a.all = nil
		for range silentOwners {
			a.all = append(a.all, a.open())
		}
	}
	open()
	do := func(act func()) {
		a.record()
		act()
		a.record()
	}
	g := &rig{
		rows: silentRows, owners: silentOwners, settle: func() { a.record(); a.quit() },
		take:   func(row, owner int) { do(func() { a.all[owner].ask("l", a.rows[row], "0 600") }) },
		giveUp: func(row int) { do(func() { a.release(a.rows[row]) }) },
		renew: func(row int) {
			if o := a.ownerOf(a.rows[row]); o != nil {
				do(func() { a.clientOf(o).ask("n", a.rows[row], o.Nonce+" 600") })
			}
		},
		restart: func() []int {
			a.restart()
			open()
			return everyOwner()
		},
	}
	a.start(5*time.Millisecond, a.record)
	a.runSilent(g, "dflockd://"+a.proxy.Addr(), true, rules{})
}
