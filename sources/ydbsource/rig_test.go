package ydbsource

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/backoff"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
)

const (
	app       = "/local/app"     // the coordination node of most tests
	testLimit = 30 * time.Second // the patience of the tests with a machine that others use too
)

// rig is an emulator of its own and a source on it run by a Hub.
type rig struct {
	*ydbtest.Server
	t      testing.TB
	hub    *sources.Hub
	events *sources.Subscription
	queued []sources.Event
	stop   func()
}

// serve starts an emulator with a coordination node and semaphores of limit 1.
func serve(t testing.TB, o ydbtest.Options, names ...string) *rig {
	t.Helper()
	server, err := ydbtest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Server: server, t: t, stop: func() {}}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	r.node(app)
	for _, name := range names {
		r.semaphore(name, 1)
	}
	return r
}

func (r *rig) node(path string) {
	r.t.Helper()
	if err := r.CreateNode(path); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) semaphore(name string, limit uint64) {
	r.t.Helper()
	if err := r.CreateSemaphore(app, name, limit, nil); err != nil {
		r.t.Fatal(err)
	}
}

// client says where the emulator is: over sockets through its first front end, and over
// memory where it has none.
func (r *rig) client() ydbcoord.ClientOptions {
	r.t.Helper()
	if strings.HasPrefix(r.Endpoint(0), "127.") {
		o, err := ydbcoord.ParseURL(r.URL(0))
		if err != nil {
			r.t.Fatal(err)
		}
		return o
	}
	return ydbcoord.ClientOptions{Conn: r.dial(0), Address: r.Endpoint(0), Database: r.Database()}
}

// dial connects to a front end without the SDK.
func (r *rig) dial(frontEnd int) *grpc.ClientConn {
	r.t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+r.Endpoint(frontEnd),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(r.Dial))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() }) // whoever used it has ended
	return conn
}

func elections(names ...string) []Selection {
	var list []Selection
	for _, name := range names {
		list = append(list, Selection{Name: name, Kind: sources.KindElection})
	}
	return list
}

func (r *rig) source(o Options) *Source {
	r.t.Helper()
	o.Name = "src"
	if o.Client.Database == "" {
		o.Client = r.client()
	}
	s, err := New(o)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// watch runs a source of the node app.
func (r *rig) watch(o Options) *rig {
	r.t.Helper()
	if len(o.Nodes) == 0 {
		o.Nodes = []string{app}
	}
	return r.run(r.source(o))
}

func (r *rig) run(source sources.Source) *rig {
	r.t.Helper()
	hub := sources.NewHub(sources.HubOptions{})
	events := hub.Subscribe(0)
	r.hub, r.events, r.queued = hub, events, nil
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	spec := sources.Spec{Name: "src", Type: "ydb", Source: source, Retry: backoff.Policy{Min: 50 * time.Millisecond, Max: 200 * time.Millisecond}}
	go func() { done <- sources.Run(ctx, hub, []sources.Spec{spec}) }() // joined by stop
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("Run: %v", err)
		}
		events.Close()
		hub.Close()
	}
	r.t.Cleanup(r.stop)
	return r
}

// session opens a session of another program, over the given front end. It is kept until
// the test ends.
func (r *rig) session(frontEnd int, ttl time.Duration) *coord.Session {
	r.t.Helper()
	c, err := ydbcoord.NewClient(ydbcoord.ClientOptions{Conn: r.dial(frontEnd), Database: r.Database()})
	if err != nil {
		r.t.Fatal(err)
	}
	d, err := c.Driver(app, ydbcoord.Options{TTL: ttl})
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := coord.Open(r.t.Context(), d, coord.SessionOptions{TTL: ttl, Description: "a program"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(s.Abandon)
	return s
}

// person is another program with a session that nobody has to renew.
func (r *rig) person() *coord.Session { return r.session(0, 20*time.Second) }

func (r *rig) lead(s *coord.Session, name, data string) *coord.Term {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	term, err := s.Election(name, coord.ElectionOptions{}).Campaign(ctx, []byte(data))
	if err != nil {
		r.t.Fatalf("campaigning for %q: %v", name, err)
	}
	return term
}

func (r *rig) resign(term *coord.Term) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	if err := term.Resign(ctx); err != nil {
		r.t.Fatalf("resigning: %v", err)
	}
}

// campaign waits for the leadership in the background, and returns when it is in the queue.
func (r *rig) campaign(s *coord.Session, name, data string) <-chan *coord.Term {
	r.t.Helper()
	before := len(r.Waiters(app, name))
	won := make(chan *coord.Term, 1)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { // joined by the clean-up
		defer close(done)
		if term, err := s.Election(name, coord.ElectionOptions{}).Campaign(ctx, []byte(data)); err == nil {
			won <- term
		}
	}()
	r.t.Cleanup(func() { cancel(); <-done })
	r.await("a waiter of "+name, func() bool { return len(r.Waiters(app, name)) > before })
	return won
}

// await waits for a state of the emulator.
func (r *rig) await(what string, ok func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	if err := r.Await(ctx, ok); err != nil {
		r.t.Fatalf("waited in vain for %s: %v", what, err)
	}
}

// next is the next event.
func (r *rig) next() sources.Event {
	r.t.Helper()
	limit := time.NewTimer(testLimit)
	defer limit.Stop()
	for len(r.queued) == 0 {
		select {
		case <-r.events.Wake():
		case <-limit.C:
			r.t.Fatalf("no event for %v; the source says %+v; %s", testLimit, r.status(), rowsText(r.hub.State()))
		}
		events, missed := r.events.Events(1000)
		if missed > 0 {
			r.t.Fatalf("missed %d events", missed)
		}
		r.queued = events
	}
	e := r.queued[0]
	r.queued = r.queued[1:]
	return e
}

// event is the next one of this kind, of a row ("": any).
func (r *rig) event(kind sources.EventKind, name string) sources.Event {
	r.t.Helper()
	for range 100_000 {
		if e := r.next(); e.Kind == kind && (name == "" || e.Ref.Name == name) {
			return e
		}
	}
	r.t.Fatalf("no %v of %q among many events", kind, name)
	return sources.Event{}
}

// expect is the next event about a row, which must be this one.
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
	events, _ := r.events.Events(100_000)
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

// row waits until the row of name satisfies ok.
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
	tick := time.NewTicker(2 * time.Millisecond) // a state wakes nobody by itself
	defer tick.Stop()
	for {
		s := r.hub.State()
		if ok(s) {
			return s
		}
		select {
		case <-tick.C:
		case <-limit.C:
			r.t.Fatalf("waited in vain for %s; the source says %+v, %+v; %s", what, r.status(), s.Scopes, rowsText(s))
		}
	}
}

func rowsText(s *sources.State) string {
	var b strings.Builder
	for i, row := range s.Rows {
		if row != nil && i < 20 {
			fmt.Fprintf(&b, "\n%s/%s %v %+v", row.Space, row.Name, row.Status(s), *row.Primitive)
		}
	}
	return b.String()
}

func (r *rig) status() sources.SourceStatus {
	for _, s := range r.hub.State().Sources {
		return s
	}
	return sources.SourceStatus{}
}

// about waits until what a scope tells of itself is ok.
func (r *rig) about(scope, what string, ok func(sources.About) bool) sources.About {
	r.t.Helper()
	var about sources.About
	r.state(what, func(s *sources.State) bool {
		for _, sc := range s.Scopes {
			if sc.Name == scope && sc.Synced {
				about = sc.About
				return ok(about)
			}
		}
		return false
	})
	return about
}

func is(want sources.Status) func(*sources.Row, *sources.State) bool {
	return func(row *sources.Row, s *sources.State) bool { return row.Status(s) == want }
}

func attr(list []sources.Attr, key string) string {
	for _, a := range list {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}

func (r *rig) nodes() *ydbcoord.Nodes {
	r.t.Helper()
	c, err := ydbcoord.NewClient(ydbcoord.ClientOptions{Conn: r.dial(1), Database: r.Database()})
	if err != nil {
		r.t.Fatal(err)
	}
	return c.Nodes()
}
