package ydbcoord

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/spawn"
)

// Session is a session of the coordination service. It attaches again by itself when its stream breaks. It ends when
// the service ends it, when the service has answered nothing for the whole timeout, or when it is closed. Its methods
// are safe for concurrent use.
//
// The caller must renew it, or it ends, because a program that is stopped for longer than the window must not own
// anything afterwards.
type Session struct {
	options     Options
	path        string
	ttl         time.Duration
	description string
	retry       coord.Backoff
	key         [16]byte // without the key nobody can take the session over
	incarnation string   // of the node, if ids contain it; see Options.Incarnations

	life context.Context // for the goroutines and streams; ends with the session, or after its last requests
	quit context.CancelFunc
	gone sync.WaitGroup // waits for the goroutine that reads and attaches
	done chan struct{}  // closed when the session is over

	mu             sync.Mutex
	id             uint64
	stream         *stream       // nil while not attached
	status         Status        // of the connection
	statusChanged  chan struct{} // closed and replaced when status changes; see StatusChanged
	proof          time.Time     // when the newest answered message was sent
	expiry         *time.Timer
	overdue        *time.Timer // of checkOverdue; nil before the first attach
	newestAnswered time.Time   // when the latest answered request about a semaphore was sent
	end            ending
	table          table
	held           holdings
	watches        *watches
}

// ending is the progress of a Session's end.
type ending struct {
	err          error // the cause of the end
	shut         bool  // Close or Abandon was called
	closing      bool  // the goroutine must send the last requests
	lastRequests []*pb.SessionRequest
	confirmed    bool // the service knows that the session is over
}

// holdings are the claims and grants of a Session.
type holdings struct {
	claims    map[string]struct{} // names of our claims and grants
	unsettled map[*place]struct{} // claims that the service may have received and may grant without our knowing
	left      map[string]struct{} // names of abandoned grants, which the service still counts as ours
	grants    []*grant            // oldest first
}

var (
	_ coord.Renewer     = (*Session)(nil)
	_ coord.Describer   = (*Session)(nil)
	_ coord.Watcher     = (*Session)(nil)
	_ coord.Queuer      = (*Session)(nil)
	_ coord.Provisioner = (*Session)(nil)
)

// newSession returns a session that is not attached yet.
func newSession(ctx context.Context, path string, o Options, so coord.SessionOptions) *Session {
	s := &Session{
		options: o, path: path, ttl: cmp.Or(so.TTL, o.TTL), description: cmp.Or(cutDescription(so.Description), "coordtop"), retry: so.Retry,
		done: make(chan struct{}), statusChanged: make(chan struct{}),
		table: table{open: map[uint64]*request{}, lanes: map[string][]*request{}, newest: map[string]*request{}},
		held:  holdings{claims: map[string]struct{}{}, unsettled: map[*place]struct{}{}, left: map[string]struct{}{}},
	}
	_, _ = rand.Read(s.key[:]) // never fails
	s.watches = &watches{s: s, byName: map[string]*watched{}, armed: map[uint64]*watched{}}
	s.life, s.quit = context.WithCancel(context.WithoutCancel(ctx))
	return s
}

// Info implements coord.DriverSession.
func (s *Session) Info() coord.SessionInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return coord.SessionInfo{ID: OwnerID(s.id, ""), Caps: Options{}.Caps()}
}

// Caps returns the abilities of a driver with these options.
func (Options) Caps() coord.Caps {
	return coord.Caps{
		Mutex: true, Semaphore: true, Election: true, Ephemeral: true,
		OneFate: true, Fence: true, FIFO: true, MaxData: maxData,
	}
}

// Done implements coord.DriverSession.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err implements coord.DriverSession.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end.err
}

// ask sends a request and waits for its end. If ctx ends first, it drops the request and ignores its answer.
func (s *Session) ask(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	s.addLocked(r)
	s.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		s.table.end(r, ctx.Err())
		return r.err
	}
}

// addLocked sends a request as soon as it can be sent; if the session is over, it ends the request at once.
func (s *Session) addLocked(r *request) {
	s.table.add(r)
	if s.end.err != nil {
		s.table.end(r, s.end.err)
		return
	}
	s.flushLocked()
}

// flushLocked sends the requests that are ready. It takes the time before it sends, so that trust never begins too
// late.
func (s *Session) flushLocked() {
	if s.stream == nil {
		return
	}
	if messages := s.table.readyAt(time.Now()); len(messages) > 0 {
		s.stream.put(messages...)
	}
}

// endLocked ends the session with its requests, grants and watches. The first cause counts.
func (s *Session) endLocked(cause error) {
	if s.end.err != nil {
		return
	}
	s.end.err = cause
	for _, r := range s.table.open {
		s.table.end(r, cause)
	}
	for _, g := range slices.Clone(s.held.grants) {
		g.endLocked(cause)
	}
	if s.watches.timer != nil {
		s.watches.timer.Stop()
	}
	close(s.done)
	if !s.end.closing {
		s.quit()
	}
}

// Close implements coord.DriverSession: it sends the releases, newest first, then the stop of the session, and waits
// for the service to confirm the stop. While there is no connection, it tries to connect until ctx or the window ends.
// If the session had ended already, it sends nothing, but the first call still returns ErrUncertain for claims that may
// be left.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	first := !s.end.shut
	s.end.shut = true
	if first && s.end.err == nil {
		s.end.closing = true
		s.end.lastRequests = s.lastRequestsLocked()
		s.endLocked(fmt.Errorf("session: %w", coord.ErrClosed))
		if s.stream != nil {
			s.stream.put(s.end.lastRequests...)
		}
	}
	telling := first && s.end.closing
	s.mu.Unlock()
	if telling {
		stop := spawn.OnDone(ctx, s.quit)
		s.gone.Wait()
		stop()
	}
	s.join()
	s.mu.Lock()
	defer s.mu.Unlock()
	why := s.end.err
	if telling {
		why = failure.With(s.status.Err, ctx.Err())
	}
	switch {
	case first && s.unsureLocked():
		return uncertain(s.ttl, why)
	case !telling, s.end.confirmed:
		return nil
	}
	untold := fmt.Errorf("the service was not told that the session is over, it keeps it for %v: %w", s.ttl, s.status.Err)
	return failure.With(untold, ctx.Err())
}

// lastRequestsLocked returns the last messages to the service: a release of each grant, and the stop. Waiting claims
// end with the session.
func (s *Session) lastRequestsLocked() []*pb.SessionRequest {
	var messages []*pb.SessionRequest
	for _, g := range slices.Backward(s.held.grants) {
		s.table.last++
		messages = append(messages, releaseRequest(g.params.name).message(s.table.last, time.Now()))
	}
	return append(messages, stopMessage())
}

// Abandon implements coord.DriverSession. The service keeps our grants for the session's timeout after it notices that
// the stream is gone.
func (s *Session) Abandon() {
	s.mu.Lock()
	s.end.shut = true
	s.endLocked(fmt.Errorf("session: %w", coord.ErrClosed))
	s.mu.Unlock()
	s.join()
}

// join ends the goroutines and waits for them.
func (s *Session) join() {
	s.quit()
	s.gone.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range []*time.Timer{s.expiry, s.overdue} {
		if t != nil {
			t.Stop()
		}
	}
}

// Renew implements coord.Renewer: it sends a ping and waits for its pong. If no stream is open, it waits for the next
// one.
func (s *Session) Renew(ctx context.Context) (coord.Window, error) {
	r := newRequest(verbPing, "", func(id uint64, _ time.Time) *pb.SessionRequest {
		return &pb.SessionRequest{Request: &pb.SessionRequest_Ping{Ping: &pb.SessionRequest_PingPong{Opaque: id}}}
	})
	if err := s.ask(ctx, r); err != nil {
		if over := s.Err(); over != nil {
			err = fmt.Errorf("%w: %w", coord.ErrLost, over)
		}
		return coord.Window{}, fmt.Errorf("renewing the session: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.windowLocked(), nil
}

func (s *Session) windowLocked() coord.Window {
	return coord.Window{Asked: s.proof, Valid: s.ttl, RenewIn: s.ttl / 3}
}

// proveLocked notes that the service has answered a message sent at the time asked.
func (s *Session) proveLocked(asked time.Time) {
	s.status.Heard = time.Now()
	if asked.After(s.proof) {
		s.proof = asked
	}
	if s.expiry == nil {
		s.expiry = spawn.After(s.life, time.Until(s.proof.Add(s.ttl)), s.checkWindow)
	}
}

// checkWindow ends the session if its window is over, else it runs again at the end of the window.
func (s *Session) checkWindow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := time.Until(s.proof.Add(s.ttl))
	if left > 0 {
		s.expiry.Reset(left)
		return
	}
	s.endLocked(fmt.Errorf("%w: nothing was answered for %v", coord.ErrExpired, s.ttl))
	s.quit() // also ends the last requests
}
