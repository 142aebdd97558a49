package coord

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"coordtop/internal/ground/spawn"
)

// LeadOptions configure a Candidate. With the zero value it campaigns, leads and calls
// nothing. The functions are called one after the other, never two at a time; none may
// call Stop, which waits for them.
type LeadOptions struct {
	// Data is shown to others while we lead; at most Caps.MaxData bytes.
	Data []byte
	// Election configures the election. Its Wait is not used.
	Election ElectionOptions
	// OnElected is called at the beginning of each term, under a context that ends with
	// the term, and before that when the candidate stops: 2 s later it resigns, or as soon as
	// OnElected has returned, so that no successor begins before. OnElected may return at once
	// or do the leader's work itself: no new campaign begins before it has returned. Its error
	// is reported to OnError and does not end the leadership.
	OnElected func(ctx context.Context, t *Term) error
	// EndOnError makes an error of OnElected resign and end Run with that error, unless
	// it only reports the end of its context.
	EndOnError bool
	// OnLost is called once for each term, when it is over and OnElected has returned.
	// The cause is that of the term's context; when the candidate stops it is
	// ErrReleased, and OnLost is called before the leadership is given up.
	OnLost func(cause error)
	// OnError receives errors after which the candidate goes on: of a campaign, of a
	// resignation that did not reach the service, of OnElected. Failures to
	// open a session go to SessionOptions.OnState.
	OnError func(error)
}

// Candidate campaigns for an election again and again, over as many sessions as that
// takes, and calls functions of the program when it leads. Its methods are safe for
// concurrent use.
type Candidate struct {
	d    Driver
	so   SessionOptions
	name string
	o    LeadOptions

	mu      sync.Mutex
	stop    context.CancelFunc // of the Run under way; nil: none
	stopped chan struct{}      // closed when that Run is about to return

	term atomic.Pointer[Term] // the present one, until we are about to resign
}

// NewCandidate makes a candidate that does nothing before Run.
func NewCandidate(d Driver, so SessionOptions, name string, o LeadOptions) *Candidate {
	o.Election.Wait = 0
	return &Candidate{d: d, so: so, name: name, o: o}
}

// Run campaigns and leads until ctx ends, which is the error, or Stop is called (nil),
// or after an error that will not pass (ErrRefused, ErrInvalid, ErrUnsupported,
// ErrDataTooLong, and with EndOnError that of OnElected). It resigns
// and returns when no goroutine of the candidate is left. While it runs, a
// second call returns ErrStarted; afterwards it may be called again.
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

// sessionOptions returns those of the caller, with an OnTrouble that also calls OnError.
func (c *Candidate) sessionOptions() SessionOptions {
	o := c.so
	o.OnTrouble = func(t Trouble) {
		if t.Err != nil { // reported by the campaign itself, so that no other function is called now
			c.report(t.Err)
		}
		if c.so.OnTrouble != nil {
			c.so.OnTrouble(t)
		}
	}
	return o
}

// Stop makes Run give up the leadership, if it has it, and return; it waits for that.
// Without a Run under way it does nothing.
func (c *Candidate) Stop() {
	c.mu.Lock()
	stop, stopped := c.stop, c.stopped
	c.mu.Unlock()
	if stop != nil {
		stop()
		<-stopped
	}
}

// Leading returns the present term; ok is false when we do not lead, may not trust it any
// more, or are about to resign.
func (c *Candidate) Leading() (t *Term, ok bool) {
	t = c.term.Load()
	if t == nil || t.l.Check() != nil {
		return nil, false
	}
	return t, true
}

// serve campaigns and leads in one session, until that or ctx ends, or an error ends
// the candidate.
func (c *Candidate) serve(ctx context.Context, s *Session) error {
	both, cancel := s.under(ctx)
	defer cancel()
	pause := c.so.Retry.Start()
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

// lead serves one term, from the election to the last callback. Its error ends the
// candidate.
func (c *Candidate) lead(ctx context.Context, t *Term) error {
	work, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	defer spawn.OnDone(ctx, func() { stop(ErrReleased) })()
	c.term.Store(t)
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

// windUp waits for OnElected, whose context has ended. If that takes too long it
// resigns meanwhile.
func (c *Candidate) windUp(t *Term, elected <-chan error) error {
	select {
	case err := <-elected:
		return err
	case <-time.After(cleanupTime):
	}
	_ = t.Resign(context.WithoutCancel(t.Context())) // lead asks again, for the error
	return <-elected
}

// classify returns an error of OnElected if it ends the candidate, and else reports it to OnError.
// The end of its context is not an error.
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
	if c.o.OnError != nil {
		c.o.OnError(err)
	}
}

func (c *Candidate) wrap(op string, err error) error {
	return wrap(c.d, op, Claim{Kind: KindElection, Name: c.name}, err)
}

// errDone ends the candidate of Lead when the work is done.
var errDone = errors.New("the leader's work is done")

// Lead campaigns for an election and calls f when it leads, under a context that ends
// with the term or with ctx. When f returns while it still leads, Lead resigns and
// returns what f returned. When the term ended before, f is called again in the next
// term, unless it returned an error of its own, which Lead then returns. When ctx ends,
// that is the error. Other errors are those of Candidate.Run. The OnElected and
// EndOnError of o are not used.
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
