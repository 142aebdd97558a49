package coord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"coordtop/internal/ground/spawn"
	"coordtop/internal/ground/suspend"
)

// Session is a client's presence on a backend. Its leases end with it. Its methods are safe for concurrent use. The
// caller must call Close or Abandon, even after the session ended by itself, to end its goroutines.
type Session struct {
	d        Driver
	ds       DriverSession
	o        SessionOptions
	clock    clock
	caps     Caps
	id       string
	renews   bool // the session is the Renewer; if false, each grant is one
	opened   instant
	diedAt   instant // set by the keeper's goroutine; read after ended
	notifier *notifier
	health   *health
	keeper   *keeper

	cleanup     context.Context // bounds every cleanup request
	stopCleanup context.CancelFunc
	running     sync.WaitGroup // the keeper, claims on their way and leases
	ended       chan struct{}  // closed when the first Close or Abandon is done
	closeErr    error          // error of the first Close; read after ended

	mu      sync.Mutex
	closed  bool
	claims  map[claimKey]*claim
	changed chan struct{} // closed and replaced when a lease begins or ends
}

// Open makes a session. ctx bounds only the opening. If the session is the Renewer, Open renews it once, because only
// the answer contains the window.
//
// The error wraps ErrInvalid when the options contradict each other or the window, ErrRefused when the service would
// refuse us again, and anything else when a new try may succeed; Sessions repeats it.
func Open(ctx context.Context, d Driver, o SessionOptions) (*Session, error) {
	t := newNotifier(ctx, o)
	defer t.flush()
	t.notify(StateChange{State: StateOpening})
	s, err := open(ctx, d, o, clock{suspend.Slept}, t)
	if err != nil {
		t.notify(StateChange{State: StateEnded, Err: err})
	}
	return s, err
}

func open(ctx context.Context, d Driver, o SessionOptions, c clock, t *notifier) (*Session, error) {
	failed := func(err error) (*Session, error) { return nil, wrap(d, "open", Claim{}, err) }
	if err := o.Check(); err != nil {
		return failed(err)
	}
	o.Description = cmp.Or(o.Description, "coordtop")
	opened := c.now()
	ds, err := d.Open(ctx, o)
	if err != nil {
		return failed(withContext(ctx, err))
	}
	s := newSession(context.WithoutCancel(ctx), d, ds, o, c, t, opened)
	if err = ctx.Err(); err == nil {
		err = s.renewFirst(ctx)
	}
	if err != nil {
		late, cancel := cleanupContext(ctx)
		defer cancel()
		return failed(errors.Join(withContext(ctx, err), ds.Close(late)))
	}
	s.health.set(StateOpen, nil)
	spawn.Go(s.cleanup, &s.running, func() {
		s.keeper.run()
		s.diedAt = s.clock.now()
		s.health.set(StateEnded, s.over())
	})
	return s, nil
}

func newSession(life context.Context, d Driver, ds DriverSession, o SessionOptions, c clock, t *notifier, opened instant) *Session {
	info := ds.Info()
	s := &Session{
		d: d, ds: ds, o: o, clock: c, caps: info.Caps, id: info.ID, opened: opened,
		notifier: t, health: newHealth(t),
		ended: make(chan struct{}), claims: map[claimKey]*claim{}, changed: make(chan struct{}),
	}
	s.cleanup, s.stopCleanup = context.WithCancel(life)
	s.keeper = &keeper{
		clock: c, o: o, done: ds.Done(), why: ds.Err, wrap: s.wrap, health: s.health,
		trust: trust{asked: opened}, renewNow: make(chan struct{}, 1),
	}
	s.keeper.ctx, s.keeper.cancel = context.WithCancelCause(life)
	return s
}

// renewFirst checks whether the session is the Renewer. If so, it renews the session to learn its window.
func (s *Session) renewFirst(ctx context.Context) error {
	r, renews := s.ds.(Renewer)
	if renews != s.caps.OneFate {
		return fmt.Errorf("the driver contradicts itself, its session renews: %v, one fate: %v: %w",
			renews, s.caps.OneFate, ErrRefused)
	}
	if !renews {
		return nil
	}
	s.renews, s.keeper.renewer = true, r
	before := s.clock.now()
	w, err := r.Renew(ctx)
	if err != nil {
		return fmt.Errorf("renewing for the first time: %w", err)
	}
	t, err := trustIn(w, before, s.keeper.trust, s.o)
	if err != nil {
		return err
	}
	if err := s.o.checkRoom(t.valid); err != nil {
		return err
	}
	s.keeper.trust = t
	return s.keeper.check()
}

// Context returns a context that ends with the session. Its cause wraps ErrLost, ErrExpired or ErrClosed.
func (s *Session) Context() context.Context { return s.keeper.ctx }

// ID returns the service's name for the session; it is "" if the service knows no sessions.
func (s *Session) ID() string { return s.id }

// Caps returns the abilities of the server.
func (s *Session) Caps() Caps { return s.caps }

// State returns the present state of the session.
func (s *Session) State() State {
	if s.over() != nil {
		return StateEnded // OnState may be called a moment after this
	}
	return s.health.now()
}

// Close ends the session: first its context and those of all its leases (the cause is ErrClosed), then it releases all
// grants, newest first, notifies the service, and returns when no goroutine of the session is left. The service is
// notified even if ctx has ended. The deadline of ctx bounds that; without a deadline, and after a cancel, 2 s do. A
// grant that was not released expires by itself. A call after Close or Abandon waits for that call and returns its
// error. OnState must not call Close, because Close waits for it.
func (s *Session) Close(ctx context.Context) error {
	if !s.begin() {
		<-s.ended
		return s.closeErr
	}
	late, cancel := cleanupContext(ctx)
	defer cancel()
	stop := spawn.OnDone(late, s.stopCleanup)
	defer stop()
	s.running.Wait()
	s.closeErr = s.wrap("close", s.ds.Close(late))
	s.end()
	return s.closeErr
}

// Abandon ends the session like Close, but sends the service nothing: grants expire by themselves. A call after Close
// or Abandon only waits for that call.
func (s *Session) Abandon() {
	if !s.begin() {
		<-s.ended
		return
	}
	s.stopCleanup()
	s.running.Wait()
	s.ds.Abandon()
	s.end()
}

// begin begins the end of the session and reports whether this call is the first.
func (s *Session) begin() bool {
	_ = s.keeper.check() // if trust is over already, the cause must be that
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.closed = true
	s.keeper.cancel(ErrClosed)
	return true
}

func (s *Session) end() {
	s.stopCleanup()
	s.notifier.flush()
	close(s.ended)
}

// lived returns the length of the session's life. Call it after Close or Abandon.
func (s *Session) lived() time.Duration { return s.diedAt.since(s.opened) }

// over returns the reason for the session's end; nil while the session has not ended.
func (s *Session) over() error { return context.Cause(s.keeper.ctx) }

// leasesChanged returns a channel that is closed when a lease of this session begins or ends.
func (s *Session) leasesChanged() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *Session) wrap(op string, err error) error { return wrap(s.d, op, Claim{}, err) }

// under returns a context that ends with ctx or with the session; in the second case its cause is the session's.
func (s *Session) under(ctx context.Context) (context.Context, context.CancelFunc) {
	return until(ctx, s.keeper.ctx)
}

// cleanupContext calls the function of the same name. Its context also ends when the session's Close gives up or the
// session is abandoned.
func (s *Session) cleanupContext(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := cleanupContext(ctx)
	stop := spawn.OnDone(s.cleanup, cancel)
	return late, func() { stop(); cancel() }
}

// SessionOptions configure a session. The zero value is usable with every
// driver.
type SessionOptions struct {
	// Description is shown to others where the service has a place for it: it is the description of a YDB session, the
	// beginning of a Postgres application_name, and the name of a Redis connection that has no other. dflockd has none.
	// At most 40 ASCII characters surely survive. The default is "coordtop".
	Description string
	// TTL is the time for which the service keeps our grants after our last request. A service that
	// decides this itself ignores it. 0: the driver's default.
	TTL time.Duration
	// RenewEvery is the pause between two renewals. 0: Window.RenewIn. Open refuses a value that leaves no time for a
	// second try before the window ends.
	RenewEvery time.Duration
	// Margin is subtracted from every window before we trust it. It covers a scheduler that wakes us late and clocks
	// that do not run at exactly the same rate. 0: a twentieth of the window, at least 100 ms and at most a quarter of
	// the window.
	Margin time.Duration
	// StartTimeout bounds each try of Sessions and Candidate to open a session. 0: 10 s.
	StartTimeout time.Duration
	// Retry paces the tries of Sessions and Candidate to open a session, of claims that wait after an error that may
	// pass (see Passing), and of a YDB session to attach again. Where the service keeps no queue (Redis), its Max, if set,
	// is also the longest pause between two tries of a waiting claim.
	Retry Backoff
	// Log receives a line for each change of the session's state, for each trouble of a claim that waits, and for the
	// terms and errors of a Candidate. A name in it may be any text. A handler that blocks delays no renewal, but a
	// claim and Close wait for it. It may be nil.
	Log *slog.Logger
	// OnState receives each change of the session's state, in order, one at a time. It must not block, and must not
	// close the session, because Close waits for it. It may be nil.
	OnState func(StateChange)
	// OnTrouble is called each time a claim that waits meets an error that may pass, when it waits again as it should,
	// and when its place is reported. It must not block. It may be nil.
	OnTrouble func(Trouble)
}

// Backoff paces repeated tries. Each pause is random between half of a step and the whole; steps double from Min to Max.
type Backoff struct {
	Min time.Duration // first step; 0: 100 ms
	Max time.Duration // longest step; 0: 5 s, never less than Min
}

// Trouble reports why a waiting claim is delayed, or where it is in the queue.
type Trouble struct {
	Kind  Kind
	Name  string
	Err   error         // see Passing; nil if the claim waits as it should
	Pause time.Duration // until the claim is repeated
	Place int           // place in the queue when the claim joined, or a later one; 0: not reported
}

// State is the state of a session.
type State uint8

// The states of a session.
const (
	StateOpening  State = iota // no session yet; Err is from the last try, if any
	StateOpen                  // open, and the last renewal (if any) was confirmed
	StateDoubtful              // a renewal failed or is late, but trust is not over
	StateEnded                 // over; Err is the cause
)

// String returns "opening", "open", "doubtful" or "ended".
func (s State) String() string {
	return [...]string{"opening", "open", "doubtful", "ended"}[s]
}

// StateChange is one change of a session's state.
type StateChange struct {
	State State
	Err   error         // the reason, if there is one
	Retry time.Duration // in StateOpening, the pause before the next try; 0: the try runs now
}
