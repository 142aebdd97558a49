package coord

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
)

// LeadOptions configure a Candidate. With the zero value it campaigns, leads and calls nothing. The functions are
// called one at a time. None of them may call Stop, because Stop waits for them.
type LeadOptions struct {
	// Data is shown to others while we lead; at most Caps.MaxData bytes.
	Data []byte
	// Election configures the election. Its Wait is not used.
	Election ElectionOptions
	// OnElected is called at the beginning of each term. Its context ends with the term. When the candidate stops, that
	// context ends first, and the candidate resigns as soon as OnElected has returned, but at the latest 2 s later, so
	// that no successor begins before. OnElected may return at once or do the leader's work itself: no new campaign
	// begins before it has returned. Its error is reported to OnError and does not end the leadership.
	OnElected func(ctx context.Context, t *Term) error
	// EndOnError makes Run resign and return the error if OnElected returns one, except an error that only reports the
	// end of its context.
	EndOnError bool
	// OnLost is called once for each term, when it is over and OnElected has returned. It receives the cause of the
	// term's context. When the candidate stops, that is ErrReleased, and OnLost is called before the candidate resigns.
	OnLost func(cause error)
	// OnError receives errors after which the candidate continues: errors of a campaign, of a resignation that did not
	// reach the service, and of OnElected. Failures to open a session go to SessionOptions.OnState.
	OnError func(error)
}

// Candidate campaigns for an election again and again, opening new sessions as needed, and calls functions of the
// program when it leads. Its methods are safe for concurrent use.
type Candidate struct {
	d    Driver
	so   SessionOptions
	name string
	o    LeadOptions

	mu      sync.Mutex
	stop    context.CancelFunc // ends the Run under way; nil while none is
	stopped chan struct{}      // closed when that Run is about to return

	term atomic.Pointer[Term] // the present term, until we are about to resign
}

// NewCandidate returns a candidate, which does nothing until Run is called.
func NewCandidate(d Driver, so SessionOptions, name string, o LeadOptions) *Candidate {
	o.Election.Wait = 0
	return &Candidate{d: d, so: so, name: name, o: o}
}

// Run campaigns and leads. It returns the context's error when ctx ends, nil after Stop, and any error that will not
// pass (ErrRefused, ErrInvalid, ErrUnsupported, ErrDataTooLong, and with EndOnError an error of OnElected). It resigns
// and waits for all goroutines of the candidate before it returns. While it runs, a second call returns ErrStarted;
// afterwards it may be called again.
func (c *Candidate) Run(ctx context.Context) error {
	under, cancel := context.WithCancel(ctx)
	defer cancel()
	c.mu.Lock()
	if c.stop != nil {
		c.mu.Unlock()
		return c.wrap("run", ErrStarted)
	}
	stopped := make(chan struct{})
	c.stop, c.stopped = cancel, stopped
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stop = nil
		close(stopped)
	}()
	for s, err := range Sessions(under, c.d, c.sessionOptions()) {
		if err == nil {
			err = c.serve(under, s)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// sessionOptions returns the caller's options with an OnTrouble that also calls OnError.
func (c *Candidate) sessionOptions() SessionOptions {
	o := c.so
	o.OnTrouble = func(t Trouble) {
		if t.Err != nil && c.o.OnError != nil { // called by the campaign itself, so that no other function is called now
			c.o.OnError(t.Err)
		}
		if c.so.OnTrouble != nil {
			c.so.OnTrouble(t)
		}
	}
	return o
}

// Stop makes Run resign, if it leads, and return. It waits for that. Without a Run under way it does nothing.
func (c *Candidate) Stop() {
	c.mu.Lock()
	stop, stopped := c.stop, c.stopped
	c.mu.Unlock()
	if stop != nil {
		stop()
		<-stopped
	}
}

// Leading returns the present term; ok is false if we do not lead, may no longer trust that we do, or are about to
// resign.
func (c *Candidate) Leading() (t *Term, ok bool) {
	t = c.term.Load()
	if t == nil || t.l.Check() != nil {
		return nil, false
	}
	return t, true
}

// serve campaigns and leads in one session, until the session or ctx ends, or an error ends the candidate.
func (c *Candidate) serve(ctx context.Context, s *Session) error {
	both, cancel := s.under(ctx)
	defer cancel()
	pause := backoff.Policy(c.so.Retry).Start()
	for ctx.Err() == nil && s.over() == nil {
		t, err := s.Election(c.name, c.o.Election).Campaign(ctx, c.o.Data)
		switch {
		case err != nil && (ctx.Err() != nil || s.over() != nil):
			return nil
		case err != nil && hopeless(err):
			return err
		case err != nil:
			c.report(err)
		default:
			began := s.clock.now()
			if err := c.lead(ctx, t); err != nil {
				return err
			}
			if s.clock.now().since(began) >= s.ttl() {
				pause.Reset()
				continue
			}
		}
		_ = pause.Wait(both) // the loop checks whether ctx or the session has ended
	}
	return nil
}

// lead serves one term, from the election to the last callback. An error that it returns ends the candidate.
func (c *Candidate) lead(ctx context.Context, t *Term) error {
	work, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	defer spawn.OnDone(ctx, func() { stop(ErrReleased) })()
	c.term.Store(t)
	c.so.log(nil, "coordination term begins", "election", c.name, "owner", t.l.Owner(), "fence", t.l.Fence())
	elected := c.callElected(work, t)
	var fatal error
	select {
	case err := <-elected:
		elected = nil
		fatal = c.classify(work, err)
		if fatal == nil {
			<-work.Done()
		}
	case <-work.Done():
	}
	c.term.Store(nil)
	stop(ErrReleased)
	if elected != nil {
		fatal = c.classify(work, c.windUp(t, elected))
	}
	c.so.log(context.Cause(work), "coordination term ends", "election", c.name)
	if c.o.OnLost != nil {
		c.o.OnLost(context.Cause(work))
	}
	if err := t.Resign(ctx); err != nil {
		c.report(err)
	}
	return fatal
}

// callElected runs OnElected in a goroutine and sends its error, which lead receives.
func (c *Candidate) callElected(ctx context.Context, t *Term) <-chan error {
	elected := make(chan error, 1)
	if c.o.OnElected == nil {
		elected <- nil
		return elected
	}
	spawn.Go(ctx, nil, func() {
		elected <- spawn.Call(ctx, func() error { return c.o.OnElected(ctx, t) })
	})
	return elected
}

// windUp waits for OnElected, whose context has ended. If OnElected takes too long, windUp resigns before OnElected
// returns.
func (c *Candidate) windUp(t *Term, elected <-chan error) error {
	select {
	case err := <-elected:
		return err
	case <-time.After(cleanupTime):
	}
	_ = t.Resign(context.WithoutCancel(t.Context())) // lead resigns again and returns the error
	return <-elected
}

// classify returns an error of OnElected if it ends the candidate, else reports it to OnError. An error that only
// reports the end of the context does neither.
func (c *Candidate) classify(work context.Context, err error) error {
	ended := work.Err() != nil && (errors.Is(err, work.Err()) || errors.Is(err, context.Cause(work)))
	switch {
	case err == nil, ended:
		return nil
	case c.o.EndOnError, errors.Is(err, spawn.ErrPanic):
		return err
	}
	c.report(c.wrap("lead", err))
	return nil
}

func (c *Candidate) report(err error) {
	c.so.log(err, "coordination candidate", "election", c.name)
	if c.o.OnError != nil {
		c.o.OnError(err)
	}
}

func (c *Candidate) wrap(op string, err error) error {
	return wrap(c.d, op, Claim{Kind: KindElection, Name: c.name}, err)
}

// errDone ends the candidate of Lead when the work is done.
var errDone = errors.New("the leader's work is done")

// Lead campaigns for an election and calls f when it leads, with a context that ends with the term or with ctx. If f
// returns while Lead still leads, Lead resigns and returns f's error. If the term ended before, Lead returns an error
// of f that has another reason, else calls f again in the next term. When ctx ends, Lead returns its error. Other
// errors are those of Candidate.Run. Lead does not use OnElected and EndOnError of o.
func Lead(
	ctx context.Context, d Driver, so SessionOptions, name string, o LeadOptions,
	f func(context.Context, *Term) error,
) error {
	o.EndOnError = true
	o.OnElected = func(ctx context.Context, t *Term) error {
		err := f(ctx, t)
		if err == nil && ctx.Err() == nil {
			return errDone
		}
		return err
	}
	err := NewCandidate(d, so, name, o).Run(ctx)
	if errors.Is(err, errDone) {
		return nil
	}
	return err
}
