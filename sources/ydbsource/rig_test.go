package ydbsource

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

const (
	app       = "/local/app" // the coordination node of most tests
	testLimit = sourcetest.Patience
)

// rig is an emulator of its own and the Witness of a source on it.
type rig struct {
	*ydbtest.Server
	*sourcetest.Witness
	t testing.TB
}

// serve starts an emulator with a coordination node and semaphores of limit 1.
func serve(t testing.TB, o ydbtest.Options, names ...string) *rig {
	t.Helper()
	server, err := ydbtest.Start(o)
	noError(t, err)
	r := &rig{Server: server, t: t}
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
	noError(r.t, r.CreateNode(path))
}

func (r *rig) semaphore(name string, limit uint64) {
	r.t.Helper()
	noError(r.t, r.CreateSemaphore(app, name, limit, nil))
}

// client says where the emulator is: over sockets through its first front end, and over
// memory where it has none.
func (r *rig) client() ydbcoord.ClientOptions {
	r.t.Helper()
	if strings.HasPrefix(r.Endpoint(0), "127.") {
		o, err := ydbcoord.ParseURL(r.URL(0))
		noError(r.t, err)
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
		list = append(list, Selection{Pattern: name, Kind: sources.KindElection})
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
	noError(r.t, err)
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
	r.Witness = sourcetest.Watch(r.t, "ydb", source)
	return r
}

// session opens a session of another program, over the given front end. It is kept until
// the test ends.
func (r *rig) session(frontEnd int, ttl time.Duration) *coord.Session {
	r.t.Helper()
	c, err := ydbcoord.NewClient(ydbcoord.ClientOptions{Conn: r.dial(frontEnd), Database: r.Database()})
	noError(r.t, err)
	d, err := c.Driver(app, ydbcoord.Options{TTL: ttl})
	noError(r.t, err)
	s, err := coord.Open(r.t.Context(), d, coord.SessionOptions{TTL: ttl, Description: "a program"})
	noError(r.t, err)
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
// The channel is closed when the campaign is over.
func (r *rig) campaign(s *coord.Session, name, data string) <-chan *coord.Term {
	r.t.Helper()
	before := len(r.Waiters(app, name))
	won := make(chan *coord.Term, 1)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { // joined by the clean-up
		defer close(done)
		defer close(won)
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

func (r *rig) synced() *rig {
	r.t.Helper()
	r.Synced()
	return r
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
	noError(r.t, err)
	return c.Nodes()
}

// noError ends the test if there is an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
