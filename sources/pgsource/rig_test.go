package pgsource

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/backoff"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

// testLimit is the patience of the tests with a machine that others use too.
const testLimit = 30 * time.Second

// rig is a server of its own and a source on it run by a Hub.
type rig struct {
	t      testing.TB
	server *localserver.Postgres
	root   *person // superuser in the database postgres
	hub    *sources.Hub
	events *sources.Subscription
	queued []sources.Event
	stop   func()
}

// setup starts a server and watches it.
func setup(t testing.TB, server localserver.PostgresOptions, o Options) *rig {
	t.Helper()
	return serve(t, server).watch(o)
}

// serve starts a server.
func serve(t testing.TB, o localserver.PostgresOptions) *rig {
	t.Helper()
	r := &rig{t: t, server: localserver.PostgresForTest(t, o), stop: func() {}}
	r.root = r.session("root")
	return r
}

// watch runs a source on the rig's server, or where o.URL says.
func (r *rig) watch(o Options) *rig {
	r.t.Helper()
	t := r.t
	if o.URL == "" {
		o.URL = r.server.URL()
	}
	o.Name = "src"
	source, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	hub := sources.NewHub(sources.HubOptions{})
	r.hub, r.events, r.queued = hub, hub.Subscribe(0), nil
	events := r.events
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	spec := sources.Spec{Name: "src", Type: "postgres", Source: source, Retry: backoff.Policy{Min: 50 * time.Millisecond, Max: 200 * time.Millisecond}}
	go func() { done <- sources.Run(ctx, hub, []sources.Spec{spec}) }()
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
		events.Close()
		hub.Close()
	}
	t.Cleanup(r.stop)
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
	if err != nil {
		r.t.Fatal(err)
	}
	c.RuntimeParams["application_name"] = name
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		r.t.Fatal(err)
	}
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

// next returns the next event.
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

// event skips events until one of this kind comes, about name or, with "", about any.
func (r *rig) event(kind sources.EventKind, name string) sources.Event {
	r.t.Helper()
	for range 1000 {
		if e := r.next(); e.Kind == kind && (name == "" || e.Ref.Name == name) {
			return e
		}
	}
	r.t.Fatalf("no %v of %q among 1000 events; the source says %v", kind, name, r.source())
	return sources.Event{}
}

// expect is the next event about a lock, which must be this one.
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

func (r *rig) synced() *rig {
	r.t.Helper()
	r.event(sources.EventSynced, "")
	return r
}

// drain returns every event that came so far.
func (r *rig) drain() []sources.Event {
	events, _ := r.events.Events(10000)
	events = append(r.queued, events...)
	r.queued = nil
	return events
}

// noOwnerEvents fails if anything was said to have happened to an owner.
func (r *rig) noOwnerEvents() {
	r.t.Helper()
	for _, e := range r.drain() {
		if e.Kind.EndsOwner() || e.Kind.BeginsOwner() && e.Kind != sources.EventPresent {
			r.t.Errorf("invented: %v of %q (%+v)", e.Kind, e.Ref.Name, e)
		}
	}
}

// row waits until the row of name, in the database space ("": postgres), satisfies ok.
func (r *rig) row(space, name, what string, ok func(*sources.Row, *sources.State) bool) *sources.Row {
	r.t.Helper()
	if space == "" {
		space = "postgres"
	}
	var row *sources.Row
	r.state("the row of "+name+" in "+space+" to be "+what, func(s *sources.State) bool {
		for _, row = range s.Rows {
			if row != nil && row.Name == name && row.Space == space {
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
	tick := time.NewTicker(5 * time.Millisecond) // a state wakes nobody by itself
	defer tick.Stop()
	for {
		s := r.hub.State()
		if ok(s) {
			return s
		}
		select {
		case <-tick.C:
		case <-limit.C:
			r.t.Fatalf("waited in vain for %s; the source says %v; %s", what, r.source(), rowsText(s))
		}
	}
}

func rowsText(s *sources.State) string {
	var b strings.Builder
	for _, row := range s.Rows {
		if row != nil {
			fmt.Fprintf(&b, "\n%s/%s %v %+v", row.Space, row.Name, row.Status(s), *row.Primitive)
		}
	}
	return b.String()
}

func (r *rig) source() sources.SourceStatus {
	for _, s := range r.hub.State().Sources {
		return s
	}
	return sources.SourceStatus{}
}

// about waits until what the source tells of itself is ok.
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
