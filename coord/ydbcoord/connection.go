package ydbcoord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
	"coordtop/internal/backoff"
	"coordtop/internal/failure"
	"coordtop/internal/spawn"
)

// Status is what is known of a session's connection.
type Status struct {
	Attached bool      // there is a stream, and the session is attached to it
	Number   int       // how often it was attached; between two numbers anything may have happened unseen
	Since    time.Time // of the present attach, or of the loss of the last one
	Heard    time.Time // when the service last answered something
	Err      error     // why the last stream, or the last try to make one, ended; nil while attached
}

// Status reports how the connection is.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// StatusChanged returns a channel that is closed when the session is attached or loses its stream
// the next time. A caller that reads Status after it got the channel misses nothing.
func (s *Session) StatusChanged() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statusChanged
}

func (s *Session) changeStatusLocked() {
	close(s.statusChanged)
	s.statusChanged = make(chan struct{})
}

// errSilent ends a stream on which nothing was received for too long.
var errSilent = errors.New("nothing was heard")

// errStopped ends a stream whose session the service has stopped.
var errStopped = errors.New("the session was stopped")

// longestStart bounds one try to attach.
const longestStart = 5 * time.Second

// startTimeout is how long one try to attach may take.
func (s *Session) startTimeout() time.Duration { return min(s.ttl/4, longestStart) }

// silence is how long a stream may say nothing. The service pings, and answers the pings
// that renew the session, every third of the timeout at the latest: a stream that is silent
// for longer leads nowhere, and this leaves time for two tries to attach by another way.
func (s *Session) silence() time.Duration { return s.ttl / 2 }

// attach makes a stream and attaches the session to it, or opens the session if it has no
// number yet. When ctx ends the try is given up; the stream itself lives on until the
// session's goroutine ends it.
func (s *Session) attach(ctx context.Context) (*stream, error) {
	life, cancel := context.WithCancel(s.life)
	stop := spawn.OnDone(ctx, cancel)
	defer stop()
	rpc, err := s.service.Session(s.route.through(life))
	if err != nil {
		cancel()
		return nil, failure.With(callError(err), ctx.Err())
	}
	s.mu.Lock()
	s.seq++
	start := &pb.SessionRequest_SessionStart{
		Path: s.path, SessionId: s.id, TimeoutMillis: uint64(s.ttl / time.Millisecond),
		Description: s.description, SeqNo: s.seq, ProtectionKey: s.key[:],
	}
	s.mu.Unlock()
	asked := time.Now()
	err = rpc.Send(&pb.SessionRequest{Request: &pb.SessionRequest_SessionStart_{SessionStart: start}})
	var id uint64
	if err == nil || errors.Is(err, io.EOF) { // the reason is what Recv says
		id, err = started(rpc)
	}
	if err == nil && !stop() {
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		return nil, failure.With(err, ctx.Err())
	}
	st := newStream(rpc, cancel)
	s.attached(st, id, asked)
	return st, nil
}

// started reads the first answer of a stream.
func started(rpc interface {
	Recv() (*pb.SessionResponse, error)
}) (uint64, error) {
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

// attached begins the work on a new stream: everything that is not over is asked again.
func (s *Session) attached(st *stream, id uint64, asked time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id = id
	s.stream = st
	s.status = Status{Attached: true, Number: s.status.Number + 1, Since: time.Now()}
	s.changeStatusLocked()
	s.proveLocked(asked)
	if s.err != nil {
		st.put(s.lastRequests...)
		return
	}
	if s.overdueTimer == nil {
		s.overdueTimer = spawn.After(s.life, s.answerTime(), s.checkOverdue)
	}
	s.table.resend()
	s.watches.attachedLocked()
	s.flushLocked()
}

// detached ends the work on a stream.
func (s *Session) detached(st *stream, why error) {
	s.mu.Lock()
	s.stream = nil
	s.status.Attached, s.status.Since, s.status.Err = false, time.Now(), why
	s.changeStatusLocked()
	s.mu.Unlock()
	st.end()
}

// run is the session's goroutine. Its owner waits for gone. After a panic the session is
// over, and what it owned is given back on another stream, if that goes: nobody else can,
// and the service would keep it for as long as the timeout.
func (s *Session) run(st *stream) {
	defer s.quit()
	err := spawn.Call(s.life, func() error { s.live(st); return nil })
	if err == nil {
		return
	}
	if st := s.broken(err); st != nil {
		s.detached(st, err)
	}
	s.live(nil)
}

// broken ends the session after a panic, and prepares its last requests. It returns the stream
// that was in use.
func (s *Session) broken(why error) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.closing, s.lastRequests = true, s.lastRequestsLocked()
		s.endLocked(fmt.Errorf("%w: %w", coord.ErrLost, why))
	}
	return s.stream
}

// live reads from the stream, and makes another when that ends, until the session is over.
func (s *Session) live(st *stream) {
	longest := min(s.ttl/4, 5*time.Second)
	pause := backoff.Policy{Min: longest / 10, Max: longest}.Start()
	broken := 0 // streams in a row that broke soon after they were made
	taken := 0  // how often in a row the service has said that another has the session
	for s.life.Err() == nil {
		var why error
		atOnce := false
		if st != nil {
			began := time.Now()
			why = s.serve(st)
			s.detached(st, why)
			if time.Since(began) >= longest {
				broken = 0
				pause.Reset()
			}
			atOnce, taken = broken == 0, 0
			broken++
		} else if st, why = s.tryAttach(); why == nil {
			continue
		}
		st = nil
		s.route.failed(errors.Is(why, errSilent) || errors.Is(why, context.DeadlineExceeded))
		if s.classify(why, &taken) || !atOnce && pause.Wait(s.life) != nil {
			return
		}
	}
}

func (s *Session) tryAttach() (*stream, error) {
	ctx, cancel := context.WithTimeout(s.life, s.startTimeout())
	defer cancel()
	st, err := s.attach(ctx)
	if err != nil {
		s.mu.Lock()
		s.status.Err = err
		s.mu.Unlock()
	}
	return st, err
}

// classify ends the session if what a stream or a try ended with is the end of it.
func (s *Session) classify(why error, taken *int) (over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := true // at the service, too
	switch {
	case errors.Is(why, errStopped):
		over = true
	case classifyEnd(why) == endTakenOver:
		*taken++
		over = *taken >= 2
	case classifyEnd(why) == endOver:
		over = true
		gone = !errors.Is(why, coord.ErrRefused) || errors.Is(why, coord.ErrNotFound)
	default:
		*taken = 0
	}
	if over {
		s.confirmed = gone
		s.endLocked(fmt.Errorf("%w: %w", coord.ErrLost, why))
		s.quit()
	}
	return over
}

// serve reads from a stream until it ends, and says why it did.
func (s *Session) serve(st *stream) error {
	heard := time.Now()
	deaf := spawn.After(s.life, s.silence(), st.cancel)
	defer deaf.Stop()
	for {
		msg, err := st.rpc.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("the service ended the call without a word")
		case err != nil && time.Since(heard) >= s.silence():
			return fmt.Errorf("%w for %v", errSilent, s.silence())
		case err != nil:
			return callError(err)
		}
		heard = time.Now()
		deaf.Reset(s.silence())
		switch r := msg.GetResponse().(type) {
		case *pb.SessionResponse_Ping:
			st.put(pongMessage(r.Ping.GetOpaque()))
		case *pb.SessionResponse_Failure_:
			return failureError(r.Failure.GetStatus(), r.Failure.GetIssues())
		case *pb.SessionResponse_SessionStopped_:
			return errStopped
		default:
			s.receive(msg)
		}
	}
}

// receive takes in what the service says about a request or a watch.
func (s *Session) receive(msg *pb.SessionResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	switch r := msg.GetResponse().(type) {
	case *pb.SessionResponse_AcquireSemaphorePending_:
		if a := s.table.pending(r.AcquireSemaphorePending.GetReqId()); a != nil {
			s.proveLocked(a.sent)
		}
	case *pb.SessionResponse_DescribeSemaphoreChanged_:
		s.watches.changedLocked(r.DescribeSemaphoreChanged.GetReqId())
	default:
		if id, err, ok := answerOf(msg); ok {
			if a := s.table.answered(id, msg, err); a != nil {
				s.proveLocked(a.sent)
				if a.verb != verbPing && a.sent.After(s.newest) {
					s.newest = a.sent
				}
			}
		}
	}
	s.flushLocked()
}
