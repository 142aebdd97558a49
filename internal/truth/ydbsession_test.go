package truth

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc"
)

// ydbSession is a session of a coordination node, over the stubs that YDB generates. It
// answers pings, and hands over the first answer to each request.
type ydbSession struct {
	t      testing.TB
	conn   *grpc.ClientConn
	id     uint64
	seq    uint64
	label  string
	ttl    time.Duration
	leave  context.CancelFunc // of the stream
	stream Ydb_Coordination_V1.CoordinationService_SessionClient
	reads  sync.WaitGroup

	mu      sync.Mutex
	last    uint64
	answers map[uint64]chan *pb.SessionResponse
	gone    chan struct{} // closed when the stream has ended
}

const (
	forEver = math.MaxUint64 // to wait
	allOf   = math.MaxUint64 // the permits of a mutex
)

// attach opens a stream, and a session on it where there is none yet; false: the session
// is over.
func (s *ydbSession) attach() bool {
	s.t.Helper()
	s.drop()
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := Ydb_Coordination_V1.NewCoordinationServiceClient(s.conn).Session(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	s.seq++
	start := &pb.SessionRequest_SessionStart{Path: ydbNode, SessionId: s.id, SeqNo: s.seq, TimeoutMillis: uint64(s.ttl.Milliseconds())}
	s.leave, s.stream, s.answers, s.gone = cancel, stream, map[uint64]chan *pb.SessionResponse{}, make(chan struct{})
	s.send(&pb.SessionRequest{Request: &pb.SessionRequest_SessionStart_{SessionStart: start}})
	msg, err := stream.Recv()
	if err != nil {
		s.t.Fatalf("attaching session %d: %v", s.id, err)
	}
	if f := msg.GetFailure(); f != nil {
		close(s.gone)
		s.drop()
		if f.GetStatus() != Ydb.StatusIds_SESSION_EXPIRED {
			s.t.Fatalf("attaching session %d: %v", s.id, f)
		}
		return false
	}
	s.id = msg.GetSessionStarted().GetSessionId()
	s.reads.Go(func() { s.read(stream, s.gone) }) // ends with the stream
	return true
}

func (s *ydbSession) read(stream Ydb_Coordination_V1.CoordinationService_SessionClient, gone chan struct{}) {
	defer close(gone)
	for {
		msg, err := stream.Recv()
		if err != nil {
			return
		}
		switch r := msg.GetResponse().(type) {
		case *pb.SessionResponse_Ping:
			s.send(&pb.SessionRequest{Request: &pb.SessionRequest_Pong{Pong: &pb.SessionRequest_PingPong{Opaque: r.Ping.GetOpaque()}}})
		case *pb.SessionResponse_AcquireSemaphorePending_:
			s.answered(r.AcquireSemaphorePending.GetReqId(), msg)
		case *pb.SessionResponse_AcquireSemaphoreResult_:
			s.answered(r.AcquireSemaphoreResult.GetReqId(), msg)
		case *pb.SessionResponse_ReleaseSemaphoreResult_:
			s.answered(r.ReleaseSemaphoreResult.GetReqId(), msg)
		}
	}
}

func (s *ydbSession) answered(id uint64, msg *pb.SessionResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.answers[id]; c != nil {
		c <- msg
		delete(s.answers, id)
	}
}

// send does not fail: where the stream has ended, reading says so.
func (s *ydbSession) send(msg *pb.SessionRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.stream.Send(msg)
}

// drop ends the stream and leaves the session to its timeout.
func (s *ydbSession) drop() {
	if s.leave != nil {
		s.leave()
		s.reads.Wait()
		s.leave = nil
	}
}

// over reports whether the stream has ended.
func (s *ydbSession) over() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

// ask sends a request, and returns when the first answer has come or the stream is over.
func (s *ydbSession) ask(request func(id uint64) *pb.SessionRequest) {
	s.t.Helper()
	s.mu.Lock()
	s.last++
	id, c := s.last, make(chan *pb.SessionResponse, 1)
	s.answers[id] = c
	s.mu.Unlock()
	s.send(request(id))
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c:
	case <-s.gone:
	case <-timer.C:
		s.t.Fatalf("session %d was not answered", s.id)
	}
}

func (s *ydbSession) acquire(row *ydbRow, count, waitMillis uint64, data string) {
	s.t.Helper()
	s.ask(func(id uint64) *pb.SessionRequest {
		return &pb.SessionRequest{Request: &pb.SessionRequest_AcquireSemaphore_{AcquireSemaphore: &pb.SessionRequest_AcquireSemaphore{
			ReqId: id, Name: row.name, Count: count, TimeoutMillis: waitMillis, Data: []byte(data), Ephemeral: row.limit == allOf,
		}}}
	})
}

func (s *ydbSession) release(row *ydbRow) {
	s.t.Helper()
	s.ask(func(id uint64) *pb.SessionRequest {
		return &pb.SessionRequest{Request: &pb.SessionRequest_ReleaseSemaphore_{ReleaseSemaphore: &pb.SessionRequest_ReleaseSemaphore{ReqId: id, Name: row.name}}}
	})
}

// stop ends the session.
func (s *ydbSession) stop() {
	s.send(&pb.SessionRequest{Request: &pb.SessionRequest_SessionStop_{SessionStop: &pb.SessionRequest_SessionStop{}}})
	<-s.gone
}

func (s *ydbSession) data(round int) string { return fmt.Sprintf("%s round %d", s.label, round) }
