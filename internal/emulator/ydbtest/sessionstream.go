package ydbtest

import (
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc/codes"
)

// The stream layer, after ydb/services/kesus/grpc_service.cpp.

const (
	shortestPing = 10 * time.Millisecond
	longestPing  = 5 * time.Second

	// patience is the least time that a client has to answer a ping. The service has no such minimum: there, a busy
	// client with a session timeout below a second loses its stream.
	patience = 250 * time.Millisecond
)

// stream is one Session call.
type stream struct {
	id         uint64
	frontEnd   int
	rights     Rights
	attachment *attachment // nil before the attach and after an eviction
	sessionID  uint64
	started    bool
	closed     bool
	period     time.Duration
	ping       uint64 // number that the pong must have; 0: no ping is unanswered
	pingTimer  *timer
	deliver    *outbox // messages to the client
}

// open begins a Session call. It returns nil if too many are open.
func (c *cluster) open(frontEnd int, rights Rights) *stream {
	if len(c.streams) >= c.limits.Streams {
		return nil
	}
	c.lastStream++
	st := &stream{id: c.lastStream, frontEnd: frontEnd, rights: rights}
	c.streams[st.id] = st
	return st
}

// receive handles one message of the client.
func (c *cluster) receive(st *stream, req *pb.SessionRequest) {
	switch {
	case st.closed:
	case !st.started:
		start := req.GetSessionStart()
		if start == nil {
			c.end(st, codes.InvalidArgument, "the first message must be session_start")
			return
		}
		st.started = true
		c.start(st, start)
	default:
		c.handle(st, req)
	}
}

func (c *cluster) start(st *stream, start *pb.SessionRequest_SessionStart) {
	st.period = pingPeriod(start.GetTimeoutMillis())
	path := splitPath(start.GetPath())
	if len(path) == 0 {
		c.fail(st, Ydb.StatusIds_BAD_REQUEST, "the path is empty")
		return
	}
	at := c.find(path)
	if at == nil || at.tablet == nil {
		c.fail(st, Ydb.StatusIds_NOT_FOUND, "there is no coordination node at this path")
		return
	}
	if st.rights&(Read|Write|Erase) == 0 {
		c.fail(st, Ydb.StatusIds_UNAUTHORIZED, "no right to this coordination node")
		return
	}
	if err := at.tablet.proxy(st.frontEnd).attach(st, start); err != nil {
		c.fail(st, err.status, err.text)
		return
	}
	c.reply(st, &pb.SessionResponse_SessionStarted{SessionId: st.sessionID})
	c.sendPing(st)
}

func pingPeriod(timeoutMillis uint64) time.Duration {
	if timeoutMillis > uint64(3*longestPing/time.Millisecond) {
		return longestPing
	}
	return max(shortestPing, time.Duration(timeoutMillis/3)*time.Millisecond)
}

func (c *cluster) sendPing(st *stream) {
	for st.ping == 0 {
		st.ping = c.opaque()
	}
	c.send(st, &pb.SessionResponse{Response: &pb.SessionResponse_Ping{
		Ping: &pb.SessionResponse_PingPong{Opaque: st.ping},
	}})
	c.awaitPong(st, st.period, max(st.period, patience))
}

// awaitPong checks after wait whether the last ping was answered. If so, it sends the next ping. Otherwise it checks
// again later, or fails the stream if none of the client's time is left.
func (c *cluster) awaitPong(st *stream, wait, left time.Duration) {
	st.pingTimer = c.timers.set(c.now.Add(wait), func() {
		left -= wait
		switch {
		case st.ping == 0:
			c.sendPing(st)
		case left > 0:
			c.awaitPong(st, min(st.period, left), left)
		default:
			c.fail(st, Ydb.StatusIds_TIMEOUT, "the last ping was not answered")
		}
	})
}

func (c *cluster) handle(st *stream, req *pb.SessionRequest) {
	switch r := req.GetRequest().(type) {
	case *pb.SessionRequest_Ping:
		c.send(st, &pb.SessionResponse{Response: &pb.SessionResponse_Pong{
			Pong: &pb.SessionResponse_PingPong{Opaque: r.Ping.GetOpaque()},
		}})
	case *pb.SessionRequest_Pong:
		if r.Pong.GetOpaque() != st.ping {
			c.fail(st, Ydb.StatusIds_BAD_REQUEST, "this pong answers no ping of this stream")
			return
		}
		st.ping = 0
	case *pb.SessionRequest_SessionStart_:
		c.fail(st, Ydb.StatusIds_BAD_REQUEST, "the session has been started already")
	case *pb.SessionRequest_SessionStop_:
		st.attachment.proxy.destroy(st)
	case *pb.SessionRequest_AcquireSemaphore_, *pb.SessionRequest_ReleaseSemaphore_,
		*pb.SessionRequest_DescribeSemaphore_, *pb.SessionRequest_CreateSemaphore_,
		*pb.SessionRequest_UpdateSemaphore_, *pb.SessionRequest_DeleteSemaphore_:
		st.attachment.proxy.tablet.handle(st, req)
	default:
		c.fail(st, Ydb.StatusIds_BAD_REQUEST, "the request is empty or not supported")
	}
}

// hangUp handles the end of a stream that the client has half-closed or broken; the service treats both alike.
func (c *cluster) hangUp(st *stream) {
	if st.closed {
		return
	}
	c.end(st, codes.Canceled, "the client has closed the stream")
	c.abandon(st)
}

// fail sends a failure as the last message and detaches the stream's session.
func (c *cluster) fail(st *stream, code Ydb.StatusIds_StatusCode, text string) {
	if st.closed {
		return
	}
	c.reply(st, &pb.SessionResponse_Failure{Status: code, Issues: issues(text)})
	c.end(st, codes.OK, "")
	c.abandon(st)
}

func (c *cluster) abandon(st *stream) {
	if a := st.attachment; a != nil {
		st.attachment = nil
		a.proxy.cancel(a)
	}
}
