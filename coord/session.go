package coord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/ground/suspend"
)

// Session is a client's presence on a backend. Its leases end with it. Its methods
// are safe for concurrent use. The caller must call Close or Abandon, also after
// it ended by itself: only then is nothing of it left running.
type Session struct {
	d        Driver
	ds       DriverSession
	o        SessionOptions
	clock    clock
	caps     Caps
	id       string
	renews   bool // the session is the Renewer; else each grant is one
	opened   instant
	diedAt   instant // set by the keeper's goroutine; read after ended
	notifier *notifier
	health   *health
	keeper   *keeper

	cleanup     context.Context // bounds every cleanup request
	stopCleanup context.CancelFunc
	running     sync.WaitGroup // the keeper, claims on their way and leases
	ended       chan struct{}  // closed when the first Close or Abandon is done
	closeErr    error          // of the first Close; read after ended

	mu      sync.Mutex
	closed  bool
	claims  map[claimKey]*claim
	changed chan struct{} // closed and replaced when a lease begins or ends
}

// Open makes a session. ctx bounds only the opening. If the session is the Renewer, Open renews it
// once, because the answer contains the window.
//
// The error wraps ErrInvalid when the options contradict each other or the window,
// ErrRefused when the service would refuse us again, and anything else when another try
// may succeed; Sessions makes those tries.
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
	if err := o.check(); err != nil {
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

// renewFirst checks whether the session is the Renewer, and if so renews it, which returns its
// window.
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

// Context is the session's life: it ends when the session does, and its cause wraps
// ErrLost, ErrExpired or ErrClosed.
func (s *Session) Context() context.Context { return s.keeper.ctx }

// ID returns the service's name for the session; "" where it knows no sessions.
func (s *Session) ID() string { return s.id }

// Caps returns the abilities of the server.
func (s *Session) Caps() Caps { return s.caps }

// State returns the present stage in the session's life.
func (s *Session) State() State {
	if s.over() != nil {
		return StateEnded // OnState may be called a moment later
	}
	return s.health.now()
}

// Close ends the session: first its context and those of all its leases (the cause is
// ErrClosed), then it releases all grants, newest first, notifies the service, and
// returns when no goroutine of the session is left. The service is notified even if ctx
// has ended: the deadline of ctx bounds that, or 2 s where there is none and
// after ctx was cancelled. A grant that was not released expires by itself. A second call, also after
// Abandon, waits for the first and returns its error. OnState must not call Close, because Close
// waits for it.
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

// Abandon ends the session like Close, but sends the service nothing: grants expire by
// themselves. A call after Close or Abandon waits for that and does nothing.
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

// begin begins the end of the session. It reports whether this call is the first.
func (s *Session) begin() bool {
	_ = s.keeper.check() // if trust is over already, that is the cause
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

// lived returns the length of the session's life. It is called after Close or Abandon.
func (s *Session) lived() time.Duration { return s.diedAt.since(s.opened) }

// over returns the reason for the session's end; nil while it has not ended.
func (s *Session) over() error { return context.Cause(s.keeper.ctx) }

// leasesChanged returns a channel that is closed when a lease of this session begins or ends.
func (s *Session) leasesChanged() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *Session) wrap(op string, err error) error { return wrap(s.d, op, Claim{}, err) }

// under returns a context that ends with ctx and with the session, then with the session's cause.
func (s *Session) under(ctx context.Context) (context.Context, context.CancelFunc) {
	return until(ctx, s.keeper.ctx)
}

// cleanupContext returns that of the function of the same name. It also ends when the
// session's own Close gives up or the session is abandoned.
func (s *Session) cleanupContext(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := cleanupContext(ctx)
	stop := spawn.OnDone(s.cleanup, cancel)
	return late, func() { stop(); cancel() }
}

// SessionOptions configure a session. The zero value is usable with every
// driver.
type SessionOptions struct {
	// Description is shown to others where the service keeps one. At most 40 ASCII
	// characters are sure to survive. "": "coordtop".
	Description string
	// TTL is the time for which the service keeps our grants after our last request. A service that
	// decides this itself ignores it. 0: the driver's default.
	TTL time.Duration
	// RenewEvery is the pause between two renewals. 0: Window.RenewIn. It
	// must leave room for a second try before the window ends, else Open refuses.
	RenewEvery time.Duration
	// Margin is subtracted from every window before we trust it: room for a scheduler that
	// wakes us late and for clocks that do not run at quite the same rate. 0: a
	// twentieth of the window, at least 100 ms and at most a quarter of the window.
	Margin time.Duration
	// StartTimeout bounds each try of Sessions and Candidate to open a session. 0: 10 s.
	StartTimeout time.Duration
	// Retry paces the tries of Sessions and Candidate.
	Retry backoff.Policy
	// OnState receives each change of the session's state, in order, never two calls at a
	// time. It must not block, nor close the session, which waits for it. Nil: nothing
	// is called.
	OnState func(StateChange)
	// OnTrouble is called each time a claim that waits meets an error that may pass, when it
	// waits again as it should, and when its place is reported. It must not block. Nil: nothing is
	// called.
	OnTrouble func(Trouble)
}

// Trouble is the reason why a waiting claim makes no progress at the moment.
type Trouble struct {
	Kind  Kind
	Name  string
	Err   error         // see Passing; nil: the claim waits as it should
	Pause time.Duration // until it is claimed again
	Place int           // of the claim in the queue when it joined, at most; 0: not reported
}

// State is a stage in the life of a session.
type State uint8

// The states of a session.
const (
	StateOpening  State = iota // no session yet; Err is that of the last try, if any
	StateOpen                  // open, and the last renewal (if any) was confirmed
	StateDoubtful              // a renewal failed or is late; what we own is still trusted
	StateEnded                 // over; Err is the cause
)

// String returns "opening", "open", "doubtful" or "ended".
func (s State) String() string {
	return [...]string{"opening", "open", "doubtful", "ended"}[s]
}

// StateChange is one step of a session.
type StateChange struct {
	State State
	Err   error         // the reason, if there is one
	Retry time.Duration // StateOpening: the pause before the next try; 0: the try runs now
}
