package ydbcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/spawn"
)

// Status is the state of a session's connection.
type Status struct {
	Attached bool      // there is a stream, and the session is attached to it
	Number   int       // counts the attaches; changes between two of them may have been missed
	Since    time.Time // of the present attach, or of the loss of the last one
	Heard    time.Time // of the last answer of the service
	Err      error     // of the last stream, or of the last try to open one; nil while attached
}

// Status returns the present state of the connection.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// StatusChanged returns a channel that is closed the next time the session is attached or loses its stream. A caller
// that receives the channel first and reads Status then misses nothing.
func (s *Session) StatusChanged() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statusChanged
}

func (s *Session) changeStatusLocked() {
	close(s.statusChanged)
	s.statusChanged = make(chan struct{})
}

// connection connects a session with the service: it opens streams, reads from them, and decides whether the end of a
// stream ends the session. Its goroutine executes run.
type connection struct {
	s       *Session
	service Ydb_Coordination_V1.CoordinationServiceClient
	route   route  // used by OpenSession, then by live
	seq     uint64 // sequence number of the last try to attach
}

// errSilent ends a stream on which nothing was received for too long.
var errSilent = errors.New("nothing was heard")

// errStopped ends a stream whose session the service has stopped.
var errStopped = errors.New("the session was stopped")

// longestStart bounds one try to attach.
const longestStart = 5 * time.Second

// startTimeout bounds one try to attach.
func (c *connection) startTimeout() time.Duration { return min(c.s.ttl/4, longestStart) }

// silence returns after how long without a message a stream is given up. At least every third of the timeout the
// service sends a ping, and answers one that renews the session. The rest of the timeout leaves time for two tries to
// attach on another node.
func (c *connection) silence() time.Duration { return c.s.ttl / 2 }

// attach opens a stream and attaches the session to it, or creates the session if it has no number yet. The end of ctx
// ends the try, but not an attached stream, which the session's goroutine ends.
func (c *connection) attach(ctx context.Context) (*stream, error) {
	life, cancel := context.WithCancel(c.s.life)
	stop := spawn.OnDone(ctx, cancel)
	defer stop()
	rpc, err := c.service.Session(c.route.through(life))
	if err != nil {
		cancel()
		return nil, failure.With(callError(err), ctx.Err())
	}
	c.s.mu.Lock()
	c.seq++
	request := &pb.SessionRequest_SessionStart{
		Path: c.s.path, SessionId: c.s.id, TimeoutMillis: uint64(c.s.ttl / time.Millisecond),
		Description: c.s.description, SeqNo: c.seq, ProtectionKey: c.s.key[:],
	}
	c.s.mu.Unlock()
	asked := time.Now()
	id, err := start(rpc, request)
	if err == nil && !stop() {
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		return nil, failure.With(err, ctx.Err())
	}
	st := newStream(rpc, cancel)
	c.attached(st, id, asked)
	return st, nil
}

// start sends the first request of a stream and returns the session number in the answer.
func start(rpc Ydb_Coordination_V1.CoordinationService_SessionClient, request *pb.SessionRequest_SessionStart) (uint64, error) {
	err := rpc.Send(&pb.SessionRequest{Request: &pb.SessionRequest_SessionStart_{SessionStart: request}})
	if err != nil && !errors.Is(err, io.EOF) { // after io.EOF Recv returns the reason
		return 0, err
	}
	msg, err := rpc.Recv()
	switch {
	case errors.Is(err, io.EOF):
		return 0, errors.New("the service ended the call without a word")
	case err != nil:
		return 0, callError(err)
	}
	switch r := msg.GetResponse().(type) {
	case *pb.SessionResponse_SessionStarted_:
		return r.SessionStarted.GetSessionId(), nil
	case *pb.SessionResponse_Failure_:
		return 0, failureError(r.Failure.GetStatus(), r.Failure.GetIssues())
	}
	return 0, errors.New("the service did not answer the start of the session")
}

// attached begins to use a new stream: it sends all open requests again.
func (c *connection) attached(st *stream, id uint64, asked time.Time) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.id = id
	c.s.stream = st
	c.s.status = Status{Attached: true, Number: c.s.status.Number + 1, Since: time.Now()}
	c.s.changeStatusLocked()
	c.s.proveLocked(asked)
	if c.s.end.err != nil {
		st.put(c.s.end.lastRequests...)
		return
	}
	if c.s.overdue == nil {
		c.s.overdue = spawn.After(c.s.life, c.s.answerTime(), c.s.checkOverdue)
	}
	c.s.table.resend()
	c.s.watches.attachedLocked()
	c.s.flushLocked()
}

// detached stops using a stream.
func (c *connection) detached(st *stream, why error) {
	c.s.mu.Lock()
	c.s.stream = nil
	c.s.status.Attached, c.s.status.Since, c.s.status.Err = false, time.Now(), why
	c.s.changeStatusLocked()
	c.s.mu.Unlock()
	st.cancel()
	st.sender.Wait()
}

// run keeps the session connected until it is over. It is a goroutine, for which s.gone waits. After a panic the
// session is over. If another stream can be opened, run releases what the session owned, because the service would
// otherwise keep it for the timeout.
func (c *connection) run(st *stream) {
	defer c.s.quit()
	err := spawn.Call(c.s.life, func() error { c.live(st); return nil })
	if err == nil {
		return
	}
	if st := c.broken(err); st != nil {
		c.detached(st, err)
	}
	c.live(nil)
}

// broken ends the session after a panic, and prepares its last requests. It returns the current stream.
func (c *connection) broken(why error) *stream {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.end.err == nil {
		c.s.end.closing, c.s.end.lastRequests = true, c.s.lastRequestsLocked()
		c.s.endLocked(fmt.Errorf("%w: %w", coord.ErrLost, why))
	}
	return c.s.stream
}

// live reads from the stream, and opens another when it ends, until the session is over.
func (c *connection) live(st *stream) {
	longest := c.startTimeout()
	pause := attachPauses(c.s.retry, longest).Start()
	broken := 0 // consecutive streams that broke soon after they were opened
	taken := 0  // consecutive answers that another has the session
	for c.s.life.Err() == nil {
		var why error
		atOnce := false
		if st != nil {
			began := time.Now()
			why = c.serve(st)
			c.detached(st, why)
			if time.Since(began) >= longest {
				broken = 0
				pause.Reset()
			}
			atOnce, taken = broken == 0, 0
			broken++
		} else if st, why = c.tryAttach(); why == nil {
			continue
		}
		st = nil
		c.route.failed(errors.Is(why, errSilent) || errors.Is(why, context.DeadlineExceeded))
		if c.classify(why, &taken) || !atOnce && pause.Wait(c.s.life) != nil {
			return
		}
	}
}

// attachPauses returns the pauses between tries to attach. None is longer than a try may last, so that the session does
// not expire meanwhile.
func attachPauses(wish coord.Backoff, longest time.Duration) backoff.Policy {
	return backoff.Policy{Min: min(cmp.Or(wish.Min, longest/10), longest), Max: min(cmp.Or(wish.Max, longest), longest)}
}

func (c *connection) tryAttach() (*stream, error) {
	ctx, cancel := context.WithTimeout(c.s.life, c.startTimeout())
	defer cancel()
	st, err := c.attach(ctx)
	if err != nil {
		c.s.mu.Lock()
		c.s.status.Err = err
		c.s.mu.Unlock()
	}
	return st, err
}

// classify ends the session if the error of a stream or of a try means that the session is gone or can never be
// attached again. Any other failure may pass. If another client has attached to the session, one more try may help;
// after a second refusal the session is lost.
func (c *connection) classify(why error, taken *int) (over bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	refused := errors.Is(why, coord.ErrRefused)
	if statusOf(why) == Ydb.StatusIds_BAD_SESSION {
		*taken++
		over = *taken >= 2
	} else {
		*taken = 0
		over = refused || errors.Is(why, errStopped) || statusOf(why) == Ydb.StatusIds_SESSION_EXPIRED
	}
	if over {
		c.s.end.confirmed = !refused || errors.Is(why, coord.ErrNotFound)
		c.s.endLocked(fmt.Errorf("%w: %w", coord.ErrLost, why))
		c.s.quit()
	}
	return over
}

// serve reads from a stream until it ends, and returns the reason.
func (c *connection) serve(st *stream) error {
	heard := time.Now()
	silent := spawn.After(c.s.life, c.silence(), st.cancel)
	defer silent.Stop()
	for {
		msg, err := st.rpc.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("the service ended the call without a word")
		case err != nil && time.Since(heard) >= c.silence():
			return fmt.Errorf("%w for %v", errSilent, c.silence())
		case err != nil:
			return callError(err)
		}
		heard = time.Now()
		silent.Reset(c.silence())
		switch r := msg.GetResponse().(type) {
		case *pb.SessionResponse_Ping:
			st.put(pongMessage(r.Ping.GetOpaque()))
		case *pb.SessionResponse_Failure_:
			return failureError(r.Failure.GetStatus(), r.Failure.GetIssues())
		case *pb.SessionResponse_SessionStopped_:
			return errStopped
		default:
			c.receive(msg)
		}
	}
}

// receive handles a message about a request or a watch.
func (c *connection) receive(msg *pb.SessionResponse) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.end.err != nil {
		return
	}
	switch r := msg.GetResponse().(type) {
	case *pb.SessionResponse_AcquireSemaphorePending_:
		if a := c.s.table.pending(r.AcquireSemaphorePending.GetReqId()); a != nil {
			c.s.proveLocked(a.sent)
		}
	case *pb.SessionResponse_DescribeSemaphoreChanged_:
		c.s.watches.changedLocked(r.DescribeSemaphoreChanged.GetReqId())
	default:
		if id, err, ok := answerOf(msg); ok {
			if a := c.s.table.answered(id, msg, err); a != nil {
				c.s.proveLocked(a.sent)
				if a.verb != verbPing && a.sent.After(c.s.newestAnswered) {
					c.s.newestAnswered = a.sent
				}
			}
		}
	}
	c.s.flushLocked()
}
