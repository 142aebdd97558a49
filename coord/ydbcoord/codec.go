package ydbcoord

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Issue"

	"coordtop/coord"
)

// AllPermits is the count that a mutex claims. It is the limit of an ephemeral semaphore, so that no permit is left for
// another.
const AllPermits = math.MaxUint64

func acquireMessage(id uint64, w claimParams, timeoutMillis uint64) *pb.SessionRequest {
	return &pb.SessionRequest{Request: &pb.SessionRequest_AcquireSemaphore_{
		AcquireSemaphore: &pb.SessionRequest_AcquireSemaphore{
			ReqId: id, Name: w.name, TimeoutMillis: timeoutMillis, Count: w.count, Data: w.data, Ephemeral: w.ephemeral,
		},
	}}
}

func pongMessage(opaque uint64) *pb.SessionRequest {
	return &pb.SessionRequest{Request: &pb.SessionRequest_Pong{Pong: &pb.SessionRequest_PingPong{Opaque: opaque}}}
}

func stopMessage() *pb.SessionRequest {
	return &pb.SessionRequest{Request: &pb.SessionRequest_SessionStop_{SessionStop: &pb.SessionRequest_SessionStop{}}}
}

// result is the common part of the answers to requests about semaphores.
type result interface {
	GetReqId() uint64
	GetStatus() Ydb.StatusIds_StatusCode
	GetIssues() []*Ydb_Issue.IssueMessage
}

// answerOf returns the id of the request that a message answers, and the error in it. ok is false if it answers no
// request.
func answerOf(msg *pb.SessionResponse) (id uint64, err error, ok bool) {
	if pong := msg.GetPong(); pong != nil {
		return pong.GetOpaque(), nil, true
	}
	m := msg.ProtoReflect()
	field := m.WhichOneof(m.Descriptor().Oneofs().ByName("response"))
	if field == nil {
		return 0, nil, false
	}
	a, ok := m.Get(field).Message().Interface().(result)
	if !ok {
		return 0, nil, false
	}
	return a.GetReqId(), answerError(a.GetStatus(), a.GetIssues()), true
}

// timeoutMillis returns a wait in the service's unit, rounded up, so that nobody waits less than asked. A wait that is
// longer than the service can count becomes unlimited.
func timeoutMillis(wait time.Duration) uint64 {
	if wait < 0 || wait > longestWait {
		return math.MaxUint64
	}
	return uint64((wait + time.Millisecond - 1) / time.Millisecond)
}

// durationOf returns a timeout as a duration. If it is longer than a time.Duration can be, it counts as unlimited.
func durationOf(timeoutMillis uint64) time.Duration {
	if timeoutMillis > math.MaxInt64/uint64(time.Millisecond) {
		return coord.Forever
	}
	return time.Duration(timeoutMillis) * time.Millisecond
}

// cutText cuts a text of the service to at most limit bytes of valid UTF-8.
func cutText(text string, limit int) string {
	if len(text) > limit {
		for limit > 0 && !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = text[:limit]
	}
	return strings.ToValidUTF8(text, "?")
}
