package pgsource

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

const testLimit = sourcetest.Patience

// rig is a server of its own and the Witness of a source on it.
type rig struct {
	*sourcetest.Witness
	t      testing.TB
	server *localserver.Postgres
	root   *person // superuser in the database postgres
}

// serve starts a server for one test.
func serve(t testing.TB, o localserver.PostgresOptions) *rig {
	t.Helper()
	r := &rig{t: t, server: localserver.PostgresForTest(t, o)}
	r.root = r.session("root")
	return r
}

// idleServers are running servers that no test uses. TestMain stops them.
var idleServers struct {
	sync.Mutex
	list []*localserver.Postgres
}

// borrow gives a test a server alone that others have before and after it: to start one takes
// longer than most tests. The test may stop, freeze and restart it, and must leave neither a role
// nor a database nor a setting behind.
func borrow(t testing.TB) *rig {
	t.Helper()
	localserver.NeedsServer(t)
	r := &rig{t: t}
	idleServers.Lock()
	if last := len(idleServers.list) - 1; last >= 0 {
		r.server, idleServers.list = idleServers.list[last], idleServers.list[:last]
	}
	idleServers.Unlock()
	if r.server == nil {
		var err error
		if r.server, err = localserver.StartPostgres(context.Background(), localserver.PostgresOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(r.giveBack)
	r.root = r.session("root")
	return r
}

// giveBack keeps a server for the next test, when all sessions of this one have ended. A server
// that the test has killed, or after a failure, is stopped.
func (r *rig) giveBack() {
	if r.t.Failed() || r.server.Pid() == 0 {
		if err := r.server.Stop(context.Background()); err != nil {
			r.t.Error(err)
		}
		return
	}
	last := r.session("last")
	r.until("the sessions of the test have ended", func() bool {
		return one[bool](last, "select count(*) = 1 from pg_stat_activity where backend_type = 'client backend'")
	})
	last.leave()
	idleServers.Lock()
	defer idleServers.Unlock()
	idleServers.list = append(idleServers.list, r.server)
}

// watch runs a source on the rig's server, or where o.URL says.
func (r *rig) watch(o Options) *rig {
	r.t.Helper()
	return r.run(r.source(o))
}

// source makes a source of the rig's server, or where o.URL says.
func (r *rig) source(o Options) *Source {
	r.t.Helper()
	if o.URL == "" {
		o.URL = r.server.URL()
	}
	o.Name = "src"
	source, err := New(o)
	noError(r.t, err)
	return source
}

// run watches a source.
func (r *rig) run(source *Source) *rig {
	r.t.Helper()
	r.Witness = sourcetest.Watch(r.t, "postgres", source)
	return r
}

// person is a session as somebody at psql has it.
type person struct {
	t    testing.TB
	conn *pgx.Conn
	pid  uint32
	name string

	life  context.Context // ends with leave, and with it what waits
	end   context.CancelFunc
	waits sync.WaitGroup
}

// session logs the superuser in, in the database postgres.
func (r *rig) session(name string) *person {
	r.t.Helper()
	return r.sessionAt(r.server.URL(), name)
}

func (r *rig) sessionAt(url, name string) *person {
	r.t.Helper()
	c, err := pgx.ParseConfig(url)
	noError(r.t, err)
	c.RuntimeParams["application_name"] = name
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, c)
	noError(r.t, err)
	p := &person{t: r.t, conn: conn, pid: conn.PgConn().PID(), name: name}
	p.life, p.end = context.WithCancel(context.Background())
	r.t.Cleanup(p.leave)
	return p
}

// leave ends the session, politely if nothing waits in it.
func (p *person) leave() {
	p.end()
	p.waits.Wait()
	if p.conn.IsClosed() {
		<-p.conn.PgConn().CleanupDone()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = p.conn.Close(ctx) // a test may have broken it
}

// do runs statements.
func (p *person) do(sql string) *person {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	if _, err := p.conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		p.t.Fatalf("%s: %s: %v", p.name, sql, err)
	}
	return p
}

// one reads a single value.
func one[T any](p *person, sql string, args ...any) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	var v T
	if err := p.conn.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
		p.t.Fatalf("%s: %s: %v", p.name, sql, err)
	}
	return v
}

// wait runs a statement that has to wait for a lock, and returns when it waits. The
// channel brings the end of it.
func (r *rig) wait(p *person, sql string) <-chan error {
	r.t.Helper()
	done := p.begin(sql)
	r.until("it waits", func() bool {
		return one[bool](r.root, "select exists (select from pg_locks where pid = $1 and not granted and waitstart is not null)", p.pid)
	})
	return done
}

// begin runs a statement in the background, until leave.
func (p *person) begin(sql string) <-chan error {
	done := make(chan error, 1)
	p.waits.Go(func() {
		_, err := p.conn.PgConn().Exec(p.life, sql).ReadAll()
		done <- err
	})
	return done
}

// until asks again and again until ok.
func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	limit := time.NewTimer(testLimit)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit.C:
			r.t.Fatalf("waited in vain: %s", what)
		}
	}
}

func (r *rig) synced() *rig {
	r.t.Helper()
	r.Synced()
	return r
}

// row waits until the row of name, in the database space ("": postgres), satisfies ok.
func (r *rig) row(space, name, what string, ok func(*sources.Row, *sources.State) bool) *sources.Row {
	r.t.Helper()
	return r.Row(cmp.Or(space, "postgres"), name, what, ok)
}

func is(want sources.Status) func(*sources.Row, *sources.State) bool {
	return func(row *sources.Row, s *sources.State) bool { return row.Status(s) == want }
}

// owners returns the processes that own, in order, with an s behind those that share.
func owners(p *sources.Primitive) string {
	var list []string
	for _, o := range p.Owners {
		text := attr(o.Attrs, "pid")
		if o.Mode == sources.Shared {
			text += "s"
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

func queue(list []sources.Waiter) string {
	var names []string
	for _, w := range list {
		text := attr(w.Attrs, "pid")
		if w.Mode == sources.Shared {
			text += "s"
		}
		names = append(names, text)
	}
	return strings.Join(names, " ")
}

func attr(list []sources.Attr, key string) string {
	for _, a := range list {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}

func pids(list ...any) string { return strings.TrimSuffix(fmt.Sprintln(list...), "\n") }

// noError ends the test if there is an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
