package ydbtest_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"coordtop/internal/emulator/ydbtest"
)

const node = "/local/n"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bubble runs a test against an in-memory server with the node, in virtual time.
func bubble(t *testing.T, o ydbtest.Options, test func(*testing.T, *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.InMemory = true
		b := start(t, o)
		test(t, b)
	})
}

// bench is a server and connections to its front ends.
type bench struct {
	*ydbtest.Server
	t     *testing.T
	ctx   context.Context
	conns []*grpc.ClientConn
}

func start(t *testing.T, o ydbtest.Options, options ...grpc.DialOption) *bench {
	t.Helper()
	server, err := ydbtest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	if err := server.CreateNode(node); err != nil {
		t.Fatal(err)
	}
	b := &bench{Server: server, t: t, ctx: t.Context()}
	for i := range 2 {
		b.conns = append(b.conns, b.dial(i, options...))
	}
	return b
}

// dial connects to a front end.
func (b *bench) dial(frontEnd int, options ...grpc.DialOption) *grpc.ClientConn {
	b.t.Helper()
	options = append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(b.Dial),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64 << 20)),
	}, options...)
	conn, err := grpc.NewClient("passthrough:///"+b.Endpoint(frontEnd), options...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// raw is a Session stream as bytes would have it; it answers pings while it reads.
type raw struct {
	b      *bench
	call   Ydb_Coordination_V1.CoordinationService_SessionClient
	id     uint64
	cancel context.CancelFunc
	mute   bool // do not answer pings
}

func (b *bench) open(frontEnd int) *raw {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.ctx)
	b.t.Cleanup(cancel)
	call, err := Ydb_Coordination_V1.NewCoordinationServiceClient(b.conns[frontEnd]).Session(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	return &raw{b: b, call: call, cancel: cancel}
}

// session starts a session with this timeout.
func (b *bench) session(frontEnd int, timeout time.Duration) *raw {
	b.t.Helper()
	return b.attach(frontEnd, &pb.SessionRequest_SessionStart{TimeoutMillis: uint64(timeout.Milliseconds())})
}

func (b *bench) attach(frontEnd int, s *pb.SessionRequest_SessionStart) *raw {
	b.t.Helper()
	r := b.open(frontEnd)
	s.Path = node
	r.send(&pb.SessionRequest{Request: &pb.SessionRequest_SessionStart_{SessionStart: s}})
	msg, err := r.recv()
	if err != nil {
		b.t.Fatal(err)
	}
	r.id = msg.GetSessionStarted().GetSessionId()
	if r.id == 0 {
		b.t.Fatalf("the attach was answered with %v", msg)
	}
	return r
}

func (r *raw) send(req *pb.SessionRequest) {
	r.b.t.Helper()
	if err := r.call.Send(req); err != nil && !errors.Is(err, io.EOF) {
		r.b.t.Fatal(err)
	}
}

// recv gives the next message that is no ping.
func (r *raw) recv() (*pb.SessionResponse, error) {
	for {
		msg, err := r.call.Recv()
		ping, ok := msg.GetResponse().(*pb.SessionResponse_Ping)
		if err != nil || !ok {
			return msg, err
		}
		if r.mute {
			continue
		}
		pong := &pb.SessionRequest_PingPong{Opaque: ping.Ping.GetOpaque()}
		// If the stream has ended meanwhile, the next Recv says how.
		_ = r.call.Send(&pb.SessionRequest{Request: &pb.SessionRequest_Pong{Pong: pong}})
	}
}

// serve reads in the background until the stream ends, so that pings are answered; the
// channel has what is no ping, then is closed. The bubble waits for it.
func (r *raw) serve() <-chan *pb.SessionResponse {
	c := make(chan *pb.SessionResponse, 1000)
	go func() {
		defer close(c)
		for {
			msg, err := r.recv()
			if err != nil {
				return
			}
			c <- msg
		}
	}()
	return c
}

// want reads the next message and compares it.
func (r *raw) want(want string) {
	r.b.t.Helper()
	msg, err := r.recv()
	if err != nil {
		r.b.t.Fatalf("reading %q: %v", want, err)
	}
	if got := oneLine(msg); got != want {
		r.b.t.Fatalf("got %q, want %q", got, want)
	}
}

// wantEnd reads the end of the stream; OK is a clean one.
func (r *raw) wantEnd(code codes.Code) {
	r.b.t.Helper()
	msg, err := r.recv()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if msg != nil || status.Code(err) != code {
		r.b.t.Fatalf("got %v and %v, want the end with %v", msg, err, code)
	}
}

// oneLine is a message as protobuf prints it, without issues and with single blanks.
func oneLine(msg *pb.SessionResponse) string {
	if f := msg.GetFailure(); f != nil {
		return "failure " + f.GetStatus().String()
	}
	if a := msg.GetAcquireSemaphoreResult(); a != nil {
		a.Issues = nil
	}
	return strings.Join(strings.Fields(msg.String()), " ")
}

func (r *raw) create(name string, limit uint64) {
	r.b.t.Helper()
	r.send(&pb.SessionRequest{Request: &pb.SessionRequest_CreateSemaphore_{
		CreateSemaphore: &pb.SessionRequest_CreateSemaphore{ReqId: 1, Name: name, Limit: limit},
	}})
}

func (r *raw) acquire(name string, wait uint64) {
	r.b.t.Helper()
	r.send(&pb.SessionRequest{Request: &pb.SessionRequest_AcquireSemaphore_{
		AcquireSemaphore: &pb.SessionRequest_AcquireSemaphore{ReqId: 7, Name: name, Count: 1, TimeoutMillis: wait},
	}})
}

func (r *raw) describe(name string) {
	r.b.t.Helper()
	r.send(&pb.SessionRequest{Request: &pb.SessionRequest_DescribeSemaphore_{
		DescribeSemaphore: &pb.SessionRequest_DescribeSemaphore{ReqId: 5, Name: name},
	}})
}

const (
	acquired = "acquire_semaphore_result:{req_id:7 status:SUCCESS acquired:true}"
	pending  = "acquire_semaphore_pending:{req_id:7}"
	created  = "create_semaphore_result:{req_id:1 status:SUCCESS}"
)
