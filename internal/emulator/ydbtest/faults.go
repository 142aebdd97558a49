package ydbtest

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ErrNotFound reports that a path, a session or a semaphore that a test named does not exist.
var ErrNotFound = errors.New("not found")

// ErrRefused reports that the service would have refused what a test requested.
var ErrRefused = errors.New("refused")

// CutStreams breaks every Session stream of every front end with the gRPC status UNAVAILABLE and no failure message.
// Sessions are detached and can be attached again; connections stay open.
func (s *Server) CutStreams() {
	s.step(func(c *cluster) {
		for _, id := range sortedKeys(c.streams) {
			st := c.streams[id]
			c.end(st, codes.Unavailable, "cut by a test")
			c.abandon(st)
		}
	})
}

// FailStreams ends every Session stream of the coordination node at path with a failure of this status. It returns
// ErrNotFound if the node does not exist.
func (s *Server) FailStreams(path string, code Ydb.StatusIds_StatusCode) error {
	return s.onTablet(path, func(t *tablet) error {
		for _, id := range sortedKeys(t.cluster.streams) {
			if st := t.cluster.streams[id]; st.attachment != nil && st.attachment.proxy.tablet == t {
				t.cluster.fail(st, code, "failed by a test")
			}
		}
		return nil
	})
}

// CutConnections closes every connection of a front end. New ones are accepted.
func (s *Server) CutConnections(frontEnd int) { s.fronts[frontEnd].wire.CloseAll() }

// Refuse closes every connection of a front end and, until it is called with false,
// every new one as soon as it is made.
func (s *Server) Refuse(frontEnd int, on bool) {
	s.fronts[frontEnd].wire.Refuse(on)
	if on {
		s.fronts[frontEnd].wire.CloseAll()
	}
}

// BlackHole lets no byte pass through a front end in either direction, without closing anything, until it is called
// with false; then the bytes that were held back arrive in order. The service keeps running: it misses pongs, fails
// streams, lets sessions expire.
func (s *Server) BlackHole(frontEnd int, on bool) { s.fronts[frontEnd].wire.Hold(on) }

// Delay delays every message and every reply of a front end by d, in order. A d of 0 ends that.
func (s *Server) Delay(frontEnd int, d time.Duration) { s.fronts[frontEnd].delay.Store(int64(d)) }

// DropReplies loses the next n answers of one kind, at all front ends: the request is executed and the answer is not
// sent. The kind is the name of a field of SessionResponse, such as acquire_semaphore_result or ping, or the name of a
// unary method, such as CreateNode, whose call then ends with UNAVAILABLE. An n of 0 ends that.
func (s *Server) DropReplies(kind string, n int) {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.drops[kind] = n
}

// FailCalls answers the next n calls of a method (such as CreateNode, Session, ListEndpoints) with a gRPC status and
// does not execute them. An n of 0 ends that.
func (s *Server) FailCalls(method string, code codes.Code, n int) {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.failures[method] = failure{code: code, left: n}
}

// RestartTablet kills and restarts the tablet of a coordination node: streams fail with UNAVAILABLE, sessions get their
// timeout and the grace period. It returns ErrNotFound if the node does not exist.
func (s *Server) RestartTablet(path string) error {
	return s.onTablet(path, func(t *tablet) error {
		t.restart()
		return nil
	})
}

// LoseRegistration makes the tablet forget the proxy of a front end: its streams fail with BAD_SESSION, its sessions
// are detached and can be attached again. It returns ErrNotFound if the node does not exist.
func (s *Server) LoseRegistration(frontEnd int, path string) error {
	return s.onTablet(path, func(t *tablet) error {
		t.loseRegistration(frontEnd)
		return nil
	})
}

// Steal attaches a session through a front end with its own protection key and with seqNo, and detaches it at once, so
// that its timeout runs. The stream that had the session fails with BAD_SESSION. Its client can attach again before the
// session expires if its next sequence number is not smaller than seqNo. It returns ErrNotFound if the node or the
// session does not exist, and ErrRefused if seqNo is too small.
func (s *Server) Steal(frontEnd int, path string, sessionID, seqNo uint64) error {
	return s.onTablet(path, func(t *tablet) error {
		victim := t.sessions[sessionID]
		if victim == nil {
			return fmt.Errorf("stealing session %d: %w", sessionID, ErrNotFound)
		}
		thief := &stream{frontEnd: frontEnd, rights: Read | Write | Erase}
		err := t.proxy(frontEnd).attach(thief, &pb.SessionRequest_SessionStart{
			SessionId: sessionID, SeqNo: seqNo, ProtectionKey: victim.key,
			TimeoutMillis: victim.timeoutMillis, Description: victim.description,
		})
		if err != nil {
			return fmt.Errorf("stealing session %d: %w: %s", sessionID, ErrRefused, err.text)
		}
		t.cluster.abandon(thief)
		return nil
	})
}

// failure is the order of FailCalls for a method.
type failure struct {
	code codes.Code
	left int
}

// droppedLocked reports whether an answer of this kind must be lost, and counts it.
func (s *Server) droppedLocked(kind string) bool {
	if s.drops[kind] == 0 {
		return false
	}
	s.drops[kind]--
	return true
}

func (s *Server) failedCall(method string) error {
	s.turns.Lock()
	defer s.turns.Unlock()
	f := s.failures[method]
	if f.left == 0 {
		return nil
	}
	f.left--
	s.failures[method] = f
	return status.Error(f.code, "failed by a test")
}

func (s *Server) unaryFaults(front *frontEnd) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		method := path.Base(info.FullMethod)
		if err := s.failedCall(method); err != nil {
			return nil, err
		}
		reply, err := handler(ctx, req)
		s.turns.Lock()
		lost := s.droppedLocked(method)
		s.turns.Unlock()
		if lost {
			return nil, status.Error(codes.Unavailable, "the reply was lost")
		}
		if waitErr := front.hold(ctx, time.Now()); waitErr != nil {
			return nil, waitErr
		}
		return reply, err
	}
}

func (s *Server) streamFaults(srv any, call grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := s.failedCall(path.Base(info.FullMethod)); err != nil {
		return err
	}
	return handler(srv, call)
}

// hold waits until an answer that was made at a time may be sent, see Delay.
func (f *frontEnd) hold(ctx context.Context, made time.Time) error {
	left := time.Until(made.Add(time.Duration(f.delay.Load())))
	if left <= 0 {
		return nil
	}
	select {
	case <-time.After(left):
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// kindOf returns the name of the field that is set in a message.
func kindOf(msg *pb.SessionResponse) string {
	m := msg.ProtoReflect()
	field := m.WhichOneof(m.Descriptor().Oneofs().ByName("response"))
	if field == nil {
		return ""
	}
	return string(field.Name())
}
