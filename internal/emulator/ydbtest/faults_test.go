package ydbtest_test

import (
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"coordtop/internal/emulator/ydbtest"
)

func TestDeadPeerLosesItsSessionAfterPingAndTimeout(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		a := b.session(0, 9*time.Second)
		a.create("s", 1)
		a.acquire("s", 0)
		a.want(created)
		a.want(acquired)
		c := b.session(1, 9*time.Second)
		c.acquire("s", math.MaxUint64)
		c.want(pending)
		others := c.serve()
		begin := time.Now()
		a.mute = true
		a.wantFailure("TIMEOUT")
		if silent := time.Since(begin); silent > 6*time.Second || silent < 3*time.Second {
			t.Errorf("noticed after %v, want one to two periods of 3s", silent)
		}
		noticed := time.Now()
		if msg := <-others; oneLine(msg) != acquired {
			t.Errorf("the waiter got %v", msg)
		}
		if held := time.Since(noticed); held != 9*time.Second {
			t.Errorf("the lock passed on %v after the detach, want 9s", held)
		}
	})
}

func (r *raw) wantFailure(status string) {
	r.b.t.Helper()
	r.want("failure " + status)
	r.wantEnd(codes.OK)
}

func TestBlackHoleHoldsBytesBackWhileTheServiceGoesOn(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		a := b.session(0, 3*time.Second)
		a.create("s", 1)
		a.acquire("s", 0)
		a.want(created)
		a.want(acquired)
		c := b.session(1, 3*time.Second)
		c.acquire("s", math.MaxUint64)
		c.want(pending)
		messages := a.serve()
		b.BlackHole(0, true)
		a.create("q", 1)
		c.want(acquired)
		synctest.Wait()
		if _, err := b.Semaphore(node, "q"); !errors.Is(err, ydbtest.ErrNotFound) {
			t.Errorf("a request came out of the black hole: %v", err)
		}
		if len(messages) != 0 {
			t.Errorf("%v came out of the black hole", <-messages)
		}
		b.BlackHole(0, false)
		if msg := <-messages; oneLine(msg) != "failure TIMEOUT" {
			t.Errorf("got %v after the black hole", msg)
		}
	})
}

func TestCloseDoesNotWaitForABlackHole(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		a := b.session(0, time.Minute)
		messages := a.serve()
		b.BlackHole(0, true)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if _, ok := <-messages; ok {
			t.Error("a message came after Close")
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestDelayKeepsOrderAndThroughput(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		a := b.session(0, time.Minute)
		b.Delay(0, 2*time.Second)
		begin := time.Now()
		a.create("s", 1)
		a.acquire("s", 0)
		a.want(created)
		a.want(acquired)
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("two pipelined answers took %v, want 2s", took)
		}
		begin = time.Now()
		if _, err := b.nodes(0).DescribeNode(b.ctx, &pb.DescribeNodeRequest{Path: node}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("a unary call took %v, want 2s", took)
		}
	})
}

func (b *bench) nodes(frontEnd int) Ydb_Coordination_V1.CoordinationServiceClient {
	return Ydb_Coordination_V1.NewCoordinationServiceClient(b.conns[frontEnd])
}

func TestDroppedReplyWasExecuted(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		a := b.session(0, time.Minute)
		b.DropReplies("create_semaphore_result", 1)
		a.create("s", 1)
		a.create("q", 1)
		a.want(created)
		if got := len(b.Semaphores(node)); got != 2 {
			t.Errorf("%d semaphores exist, want 2", got)
		}
		b.DropReplies("CreateNode", 1)
		if _, err := b.nodes(0).CreateNode(b.ctx, &pb.CreateNodeRequest{Path: "/local/m"}); status.Code(err) != codes.Unavailable {
			t.Errorf("CreateNode: %v", err)
		}
		if got := describeNode(t, b, "/local/m"); got != Ydb.StatusIds_SUCCESS {
			t.Errorf("the node that was to be created is %v", got)
		}
	})
}

func describeNode(t *testing.T, b *bench, path string) Ydb.StatusIds_StatusCode {
	t.Helper()
	resp, err := b.nodes(0).DescribeNode(b.ctx, &pb.DescribeNodeRequest{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetOperation().GetStatus()
}

func TestFailedCallIsNotExecuted(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		b.FailCalls("CreateNode", codes.DeadlineExceeded, 1)
		if _, err := b.nodes(0).CreateNode(b.ctx, &pb.CreateNodeRequest{Path: "/local/m"}); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("CreateNode: %v", err)
		}
		if got := describeNode(t, b, "/local/m"); got != Ydb.StatusIds_SCHEME_ERROR {
			t.Errorf("the node is %v", got)
		}
		b.FailCalls("Session", codes.Unavailable, 1)
		b.open(0).wantEnd(codes.Unavailable)
		b.session(0, time.Second)
	})
}

func TestCutStreamsLeavesSessionsAndConnections(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		a := b.session(0, 10*time.Second)
		b.CutStreams()
		a.wantEnd(codes.Unavailable)
		if s := b.Sessions(node); len(s) != 1 || s[0].Attached || !s[0].Expires.Equal(time.Now().Add(10*time.Second)) {
			t.Errorf("sessions are %+v", s)
		}
		b.attach(0, &pb.SessionRequest_SessionStart{SessionId: a.id})
	})
}

func TestRefusedFrontEndComesBack(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		a := b.session(0, time.Minute)
		other := b.session(1, time.Minute)
		b.Refuse(0, true)
		a.wantEnd(codes.Unavailable)
		if _, err := b.nodes(0).DescribeNode(b.ctx, &pb.DescribeNodeRequest{Path: node}); status.Code(err) != codes.Unavailable {
			t.Errorf("DescribeNode: %v", err)
		}
		other.create("s", 1)
		other.want(created)
		b.Refuse(0, false)
		time.Sleep(10 * time.Second) // the client's own back-off
		b.attach(0, &pb.SessionRequest_SessionStart{SessionId: a.id})
	})
}

func TestCutConnectionsDetachesTheSessionsOfOneFrontEnd(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		a, other := b.session(0, time.Minute), b.session(1, time.Minute)
		b.CutConnections(0)
		a.wantEnd(codes.Unavailable)
		synctest.Wait()
		if s := b.Sessions(node); len(s) != 2 || s[0].Attached || !s[1].Attached {
			t.Errorf("sessions are %+v", s)
		}
		other.create("s", 1)
		other.want(created)
	})
}

func TestFaultsOfTheServiceReachTheStreams(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault func(b *bench, id uint64) error
		want  string
		lives bool
	}{
		{"tablet restart", func(b *bench, _ uint64) error { return b.RestartTablet(node) }, "UNAVAILABLE", true},
		{"lost registration", func(b *bench, _ uint64) error { return b.LoseRegistration(0, node) }, "BAD_SESSION", true},
		{"failed streams", func(b *bench, _ uint64) error {
			return b.FailStreams(node, Ydb.StatusIds_OVERLOADED)
		}, "OVERLOADED", true},
		{"local theft", func(b *bench, id uint64) error { return b.Steal(0, node, id, 9) }, "BAD_SESSION", true},
		{"remote theft", func(b *bench, id uint64) error { return b.Steal(1, node, id, 9) }, "BAD_SESSION", true},
		{"expiry", func(b *bench, id uint64) error { return b.ExpireSession(node, id) }, "SESSION_EXPIRED", false},
	} {
		bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
			a := b.attach(0, &pb.SessionRequest_SessionStart{TimeoutMillis: 60_000, SeqNo: 9, ProtectionKey: []byte("k")})
			if err := c.fault(b, a.id); err != nil {
				t.Fatal(c.name, err)
			}
			a.wantFailure(c.want)
			if s := b.Sessions(node); (len(s) == 1 && !s[0].Attached) != c.lives {
				t.Errorf("%s: sessions are %+v", c.name, s)
			}
			if c.lives {
				b.attach(0, &pb.SessionRequest_SessionStart{SessionId: a.id, SeqNo: 9, ProtectionKey: []byte("k")})
			}
		})
	}
}

func TestFaultsSayWhatIsNotThere(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		a := b.attach(0, &pb.SessionRequest_SessionStart{TimeoutMillis: 60_000, SeqNo: 9})
		for name, err := range map[string]error{
			"restart": b.RestartTablet("/local/none"), "registration": b.LoseRegistration(0, "/"),
			"fail": b.FailStreams("/local", Ydb.StatusIds_ABORTED), "steal": b.Steal(1, node, 99, 0),
			"expire": b.ExpireSession(node, 99), "delete": b.DeleteSemaphore(node, "none"),
			"update": b.UpdateSemaphore(node, "none", nil), "create": b.CreateSemaphore("/local/none", "s", 1, nil),
		} {
			if !errors.Is(err, ydbtest.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, err := range map[string]error{
			"steal": b.Steal(1, node, a.id, 8), "create": b.CreateSemaphore(node, "s", 0, nil),
			"node": b.CreateNode("/elsewhere/n"),
		} {
			if !errors.Is(err, ydbtest.ErrRefused) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
