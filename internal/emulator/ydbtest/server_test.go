package ydbtest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"

	"coordtop/internal/emulator/ydbtest"
)

func TestStreamEndsAsTheServiceEndsIt(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		first := b.open(0)
		first.send(&pb.SessionRequest{Request: &pb.SessionRequest_Ping{Ping: &pb.SessionRequest_PingPong{Opaque: 1}}})
		first.wantEnd(codes.InvalidArgument)

		missing := b.open(0)
		missing.send(&pb.SessionRequest{Request: &pb.SessionRequest_SessionStart_{
			SessionStart: &pb.SessionRequest_SessionStart{Path: "/local/none"},
		}})
		missing.wantFailure("NOT_FOUND")

		halfClosed := b.session(0, time.Minute)
		if err := halfClosed.call.CloseSend(); err != nil {
			t.Fatal(err)
		}
		halfClosed.mute = true // grpc-go kills a stream that sends after CloseSend
		halfClosed.wantEnd(codes.Canceled)
		if s := b.Sessions(node); len(s) != 1 || s[0].Attached {
			t.Errorf("sessions are %+v, want one that is detached", s)
		}

		stopped := b.session(0, time.Minute)
		stopped.send(&pb.SessionRequest{Request: &pb.SessionRequest_SessionStop_{SessionStop: &pb.SessionRequest_SessionStop{}}})
		stopped.want("session_stopped:{session_id:2}")
		stopped.wantEnd(codes.OK)
	})
}

func TestStartedHasNoTimeoutAndIsFollowedByAPing(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		r := b.open(0)
		r.send(&pb.SessionRequest{Request: &pb.SessionRequest_SessionStart_{
			SessionStart: &pb.SessionRequest_SessionStart{Path: node, TimeoutMillis: 5000},
		}})
		msg, err := r.call.Recv()
		if err != nil || msg.GetSessionStarted().GetSessionId() != 1 || msg.GetSessionStarted().GetTimeoutMillis() != 0 {
			t.Fatalf("got %v, %v", msg, err)
		}
		msg, err = r.call.Recv()
		if err != nil || msg.GetPing().GetOpaque() == 0 {
			t.Fatalf("got %v, %v", msg, err)
		}
	})
}

func TestTooManyStreamsAreRefusedByGRPC(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{Limits: ydbtest.Limits{Streams: 1}}, func(t *testing.T, b *bench) {
		b.session(0, time.Minute)
		if got := b.Streams(); got != 1 {
			t.Errorf("%d streams are open", got)
		}
		b.open(1).wantEnd(codes.ResourceExhausted)
	})
}

func TestSlowReaderHoldsUpNobody(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		if err := b.CreateSemaphore(node, "big", 1, make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		slow := b.session(0, time.Minute)
		for range 30 {
			slow.describe("big")
		}
		quick := b.session(0, time.Minute)
		quick.create("s", 1)
		quick.acquire("s", 0)
		quick.want(created)
		quick.want(acquired)
		for range 30 {
			msg, err := slow.recv()
			if err != nil || len(msg.GetDescribeSemaphoreResult().GetSemaphoreDescription().GetData()) != 1<<20 {
				t.Fatalf("got %d bytes, %v", len(msg.String()), err)
			}
		}
	})
}

func TestAnswersMayBeLargerThanFourMebibytes(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		data := make([]byte, 1<<20)
		if err := b.CreateSemaphore(node, "s", 9, data); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			r := b.session(0, time.Minute)
			r.send(&pb.SessionRequest{Request: &pb.SessionRequest_AcquireSemaphore_{
				AcquireSemaphore: &pb.SessionRequest_AcquireSemaphore{ReqId: 7, Name: "s", Count: 1, Data: data},
			}})
			r.want(acquired)
		}
		r := b.session(1, time.Minute)
		r.send(&pb.SessionRequest{Request: &pb.SessionRequest_DescribeSemaphore_{
			DescribeSemaphore: &pb.SessionRequest_DescribeSemaphore{Name: "s", IncludeOwners: true},
		}})
		msg, err := r.recv()
		if err != nil || len(msg.GetDescribeSemaphoreResult().GetSemaphoreDescription().GetOwners()) != 5 {
			t.Fatalf("got an error or too few owners: %v", err)
		}
	})
}

func TestBackDoorShowsAndChangesState(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		if err := b.CreateSemaphore(node, "s", 1, []byte("old")); err != nil {
			t.Fatal(err)
		}
		a := b.attach(0, &pb.SessionRequest_SessionStart{
			TimeoutMillis: 5000, Description: "first", ProtectionKey: []byte("k"), SeqNo: 3,
		})
		a.acquire("s", 0)
		a.want(acquired)
		c := b.session(1, time.Minute)
		c.acquire("s", math.MaxUint64)
		c.want(pending)
		c.send(&pb.SessionRequest{Request: &pb.SessionRequest_DescribeSemaphore_{
			DescribeSemaphore: &pb.SessionRequest_DescribeSemaphore{ReqId: 5, Name: "s", WatchData: true},
		}})
		if _, err := c.recv(); err != nil {
			t.Fatal(err)
		}
		sessions := b.Sessions(node)
		first := ydbtest.Session{ID: 1, Timeout: 5 * time.Second, Description: "first", Protected: true, Attached: true, SeqNo: 3, Owns: 1}
		if len(sessions) != 2 || sessions[0] != first || sessions[1].Waits != 1 {
			t.Errorf("sessions are %+v", sessions)
		}
		want := "{s [111 108 100] 1 1 false [{1 1 1 [] 0s}] [{2 2 1 [] -1ns}] 1}"
		if got, err := b.Semaphore(node, "s"); err != nil || fmt.Sprint(got) != want {
			t.Errorf("the semaphore is %v, want %v; %v", got, want, err)
		}
		if len(b.Owners(node, "s")) != 1 || len(b.Waiters(node, "s")) != 1 || b.Owners(node, "none") != nil || b.Waiters("/none", "s") != nil {
			t.Error("Owners and Waiters differ from Semaphore")
		}
		if err := b.UpdateSemaphore(node, "s", []byte("new")); err != nil {
			t.Fatal(err)
		}
		c.want("describe_semaphore_changed:{req_id:5 data_changed:true}")
		if err := b.DeleteSemaphore(node, "s"); err != nil {
			t.Fatal(err)
		}
		c.want("acquire_semaphore_result:{req_id:7 status:ABORTED}")
	})
}

func TestAwaitWaitsForAnEvent(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		done := make(chan error, 1)
		go func() {
			done <- b.Await(b.ctx, func() bool { return len(b.Owners(node, "s")) == 1 })
		}()
		a := b.session(0, time.Minute)
		a.create("s", 1)
		a.acquire("s", 0)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(b.ctx, time.Second)
		defer cancel()
		if err := b.Await(ctx, func() bool { return false }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Await: %v", err)
		}
	})
}

func TestStartRefusesWhatItCannotServe(t *testing.T) {
	t.Parallel()
	if _, err := ydbtest.Start(ydbtest.Options{Database: "//"}); err == nil {
		t.Error("a database without a name was accepted")
	}
	if _, err := ydbtest.Start(ydbtest.Options{Listen: []string{"127.0.0.1:0", "256.0.0.1:0"}}); err == nil {
		t.Error("an address that is none was accepted")
	}
}

func TestIdleConnectionMayPingEveryTenSeconds(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		var dials atomic.Int64
		conn := b.dial(0, grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			dials.Add(1)
			return b.Dial(ctx, address)
		}), grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, PermitWithoutStream: true}))
		for range 10 {
			_, err := Ydb_Coordination_V1.NewCoordinationServiceClient(conn).DescribeNode(b.ctx, &pb.DescribeNodeRequest{Path: node})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Minute)
		}
		if n := dials.Load(); n != 1 {
			t.Errorf("the client had to connect %d times", n)
		}
	})
}
