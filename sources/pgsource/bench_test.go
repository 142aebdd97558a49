package pgsource

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/ground/pgwire"
	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/kit"
)

// BenchmarkPoll measures what one look costs: ours, and the one wide join of pg_locks with
// pg_stat_activity that other tools use, both read to the last field. Beside the time it
// reports the CPU of the server's process and of ours, and what went over the wire.
func BenchmarkPoll(b *testing.B) {
	r := serve(b, localserver.PostgresOptions{})
	var owners []*person
	for i := range 50 {
		owners = append(owners, r.session(fmt.Sprintf("worker-%02d:4411", i)))
	}
	total := 0
	for _, locks := range []int{10, 1000, 10_000} {
		for ; total < locks; total++ {
			owners[total%min(locks, len(owners))].do(fmt.Sprintf("select pg_advisory_lock(%d)", 1_000_000+total))
		}
		b.Run(fmt.Sprintf("locks=%d/waiters=0", locks), r.comparePolls)
	}
	r.benchWaiters(b, owners)
}

// benchWaiters does the same with a hundred sessions in the queue of one lock.
func (r *rig) benchWaiters(b *testing.B, owners []*person) {
	for _, p := range owners {
		p.do("select pg_advisory_unlock_all()")
	}
	owners[0].do("select pg_advisory_lock(7)")
	for i := range 100 {
		r.session(fmt.Sprintf("waiter-%02d", i)).begin("select pg_advisory_lock(7)")
	}
	r.until("a hundred wait", func() bool { return one[int](r.root, "select count(*) from pg_locks where not granted") == 100 })
	total := 1
	for _, locks := range []int{10, 1000, 10_000} {
		for ; total < locks; total++ {
			owners[total%min(locks, len(owners))].do(fmt.Sprintf("select pg_advisory_lock(%d)", 1_000_000+total))
		}
		b.Run(fmt.Sprintf("locks=%d/waiters=100", locks), r.comparePolls)
	}
}

func (r *rig) comparePolls(b *testing.B) {
	b.Run("ours", func(b *testing.B) { r.benchOurs(b) })
	b.Run("join", func(b *testing.B) { r.benchJoin(b) })
}

func (r *rig) benchOurs(b *testing.B) {
	wire := &counter{}
	s, err := New(Options{Name: "src", URL: r.server.URL(), Dial: wire.dial})
	noError(b, err)
	l, err := dial(b.Context(), &s.o, s.config, s.selected)
	noError(b, err)
	defer l.Close()
	table := s.last.table.connected(&l.server, l.keys)
	var last, spare *snapshot
	look := func() {
		n, err := l.look(b.Context(), table.pids, spare)
		noError(b, err)
		table, _ = table.compare(n, kit.OnScreen{})
		spare, last = last, n
	}
	look() // the first tells everything
	measure(b, l.PID(), wire, look)
}

const wideJoin = `select l.database, l.classid, l.objid, l.objsubid, l.mode, l.granted, l.waitstart, a.* from pg_locks l
 join pg_stat_activity a on a.pid = l.pid where l.locktype = 'advisory'`

func (r *rig) benchJoin(b *testing.B) {
	wire := &counter{}
	c, err := pgconn.ParseConfig(r.server.URL())
	noError(b, err)
	conn, err := pgwire.Open(b.Context(), pgwire.Options{Config: c, Dial: wire.dial})
	noError(b, err)
	defer conn.Close()
	s := pgwire.Statement{Name: "join", SQL: wideJoin, Columns: -1}
	noError(b, conn.Prepare(b.Context(), &s))
	measure(b, conn.PID(), wire, func() {
		rows := 0
		err := conn.Each(b.Context(), &s, nil, func(r pgwire.Row) error {
			rows += len(r.Text(4))
			return nil
		})
		if err != nil || rows == 0 {
			b.Fatal(rows, err)
		}
	})
}

// BenchmarkChangeToEvent measures how late an event comes that nobody announces: at most the
// interval of a lock with waiters, and what looking and telling take.
func BenchmarkChangeToEvent(b *testing.B) {
	r := serve(b, localserver.PostgresOptions{})
	r.watch(Options{Selections: election()}).synced()
	p := r.session("a")
	late := make([]time.Duration, 0, b.N)
	for i := 0; b.Loop(); i++ {
		p.do(fmt.Sprintf("select pg_sleep(%f)", float64(i%10)/40)) // anywhere in the interval
		p.do("select pg_advisory_lock(4242)")
		began := time.Now()
		r.Event(sources.EventAcquired, "4242")
		late = append(late, time.Since(began))
		p.do("select pg_advisory_unlock_all()")
		r.Event(sources.EventReleased, "4242")
	}
	slices.Sort(late)
	b.ReportMetric(float64(late[len(late)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(late[len(late)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(late[len(late)-1].Microseconds())/1000, "max-ms")
}

// measure runs f b.N times.
func measure(b *testing.B, server uint32, wire *counter, f func()) {
	bytes, theirs, ours := wire.bytes.Load(), processTime(b, server), ownTime(b)
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	n := float64(b.N)
	b.ReportMetric(float64((processTime(b, server)-theirs).Microseconds())/n, "server-µs/op")
	b.ReportMetric(float64((ownTime(b)-ours).Microseconds())/n, "client-µs/op")
	b.ReportMetric(float64(wire.bytes.Load()-bytes)/n, "wire-B/op")
}

// processTime is how long a process has run on a CPU.
func processTime(b *testing.B, pid uint32) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	noError(b, err)
	ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
	noError(b, err)
	return time.Duration(ns)
}

func ownTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	noError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// counter counts the bytes of the connections that it makes.
type counter struct{ bytes atomic.Int64 }

func (c *counter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	return counted{conn, c}, err
}

type counted struct {
	net.Conn
	c *counter
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.c.bytes.Add(int64(n))
	return n, err
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.c.bytes.Add(int64(n))
	return n, err
}
