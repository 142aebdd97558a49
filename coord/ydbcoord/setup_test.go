package ydbcoord_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
)

const (
	node     = "/local/n"
	ttl      = 3 * time.Second // of sessions in bubbles
	patience = 2 * time.Minute // bounds every wait outside of bubbles
)

// bench is an emulator with a coordination node.
type bench struct {
	*ydbtest.Server
	t testing.TB
}

func start(t testing.TB, o ydbtest.Options) *bench {
	t.Helper()
	server, err := ydbtest.Start(o)
	noError(t, err)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	noError(t, server.CreateNode(node))
	return &bench{server, t}
}

// bubble runs a test in virtual time against an emulator without sockets.
func bubble(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, start(t, ydbtest.Options{InMemory: true})) })
}

// hangAttaches lets the next n attaches succeed at the service and go unanswered.
func (b *bench) hangAttaches(n int) {
	b.DropReplies("session_started", n)
	b.DropReplies("ping", n)
}

// dial connects to a front end without the SDK.
func (b *bench) dial(t testing.TB, frontEnd int, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	options = append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(b.Dial),
	}, options...)
	conn, err := grpc.NewClient("passthrough:///"+b.Endpoint(frontEnd), options...)
	noError(t, err)
	t.Cleanup(func() { _ = conn.Close() }) // whoever used it has ended
	return conn
}

// driver makes a driver on a connection of its own to the first front end.
func (b *bench) driver(t testing.TB, o ydbcoord.Options, options ...grpc.DialOption) *ydbcoord.Driver {
	t.Helper()
	return b.on(t, b.dial(t, 0, options...), o)
}

// on makes a driver on a connection.
func (b *bench) on(t testing.TB, conn grpc.ClientConnInterface, o ydbcoord.Options) *ydbcoord.Driver {
	t.Helper()
	c, err := ydbcoord.NewClient(ydbcoord.ClientOptions{Conn: conn, Database: b.Database()})
	noError(t, err)
	d, err := c.Driver(node, o)
	noError(t, err)
	return d
}

// session opens a session, which nobody renews, and closes it at the end.
func (b *bench) session(t testing.TB, o ydbcoord.Options, options ...grpc.DialOption) *ydbcoord.Session {
	t.Helper()
	s, err := b.driver(t, o, options...).OpenSession(t.Context(), coord.SessionOptions{TTL: ttl})
	noError(t, err)
	t.Cleanup(s.Abandon)
	return s
}

// kept opens a session of the core, which renews it.
func (b *bench) kept(t testing.TB, o ydbcoord.Options, options ...grpc.DialOption) *coord.Session {
	t.Helper()
	s, err := coord.Open(t.Context(), b.driver(t, o, options...), coord.SessionOptions{TTL: ttl})
	noError(t, err)
	t.Cleanup(s.Abandon)
	return s
}

// keep renews a session until the test ends.
func keep(t testing.TB, s *ydbcoord.Session) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for {
			w, err := s.Renew(ctx)
			if err != nil {
				return
			}
			select {
			case <-time.After(time.Until(w.Asked.Add(w.RenewIn))):
			case <-ctx.Done():
				return
			}
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
}

func must(t testing.TB, s coord.DriverSession, c coord.Claim) coord.Grant {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	g, ok, err := s.Acquire(ctx, c)
	if err != nil || !ok {
		t.Fatalf("acquiring %q: ok %v, %v", c.Name, ok, err)
	}
	return g
}

func mutex(name string) coord.Claim { return coord.Claim{Kind: coord.KindMutex, Name: name} }

// record sees every message of the Session streams of a connection.
type record struct {
	mu       sync.Mutex
	streams  int
	sent     []*pb.SessionRequest
	received []*pb.SessionResponse
}

func (r *record) option() grpc.DialOption {
	return grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
		streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		r.mu.Lock()
		r.streams++
		r.mu.Unlock()
		inner, err := streamer(ctx, desc, cc, method, opts...)
		return &recordedStream{inner, r}, err
	})
}

// requests lists what was sent, without pings and pongs.
func (r *record) requests() []*pb.SessionRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []*pb.SessionRequest
	for _, m := range r.sent {
		if m.GetPing() == nil && m.GetPong() == nil {
			list = append(list, m)
		}
	}
	return list
}

// count counts what was sent and is wanted.
func (r *record) count(want func(*pb.SessionRequest) bool) int {
	n := 0
	for _, m := range r.requests() {
		if want(m) {
			n++
		}
	}
	return n
}

func (r *record) calls() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.streams
}

type recordedStream struct {
	grpc.ClientStream
	r *record
}

func (s *recordedStream) SendMsg(m any) error {
	if req, ok := m.(*pb.SessionRequest); ok {
		s.r.mu.Lock()
		s.r.sent = append(s.r.sent, req)
		s.r.mu.Unlock()
	}
	return s.ClientStream.SendMsg(m)
}

func (s *recordedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if reply, ok := m.(*pb.SessionResponse); ok && err == nil {
		s.r.mu.Lock()
		s.r.received = append(s.r.received, reply)
		s.r.mu.Unlock()
	}
	return err
}

// noError ends the test if there is an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
