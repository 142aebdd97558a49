package underlease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/job"
)

// Errors of Lock and Lead for callers to branch on. Errors that will not pass come from package coord.
var (
	// ErrMissed reports that others had the primitive until the wait ended.
	ErrMissed = errors.New("not acquired")
	// ErrNoAnswer reports that the service did not answer until the wait ended.
	ErrNoAnswer = errors.New("the service did not answer")
)

// Options describe a claim and the work under its lease. Wait and StartWithin may be zero.
type Options struct {
	Driver  coord.Driver
	Session coord.SessionOptions // Lock and Lead set OnState
	// Claim claims the primitive in a session. It returns when it is ours, when ctx ends, with coord.ErrNotAcquired when
	// wait is over (0: no bound), or, if Wait is 0, with neither a lease nor an error if others have it. A server from
	// which a client cannot withdraw a claim must know the end from the start, so ctx alone is not enough.
	Claim       func(ctx context.Context, s *coord.Session, wait time.Duration) (*coord.Lease, error)
	Wait        time.Duration // bounds each claim; 0: one try; coord.Forever: no bound
	StartWithin time.Duration // bounds the opening of the first session; 0: no bound
	// Work runs until it has ended or the lease has. It returns when nothing of it is left, or sets Left.
	Work func(ctx context.Context, l *coord.Lease) (job.Result, error)
	// Explain returns the sentence about an error for people.
	Explain func(error) string
	// Say writes one line for people. It must not block for long.
	Say func(text string)
}

// sayAgain is the least time between two reports of the same trouble.
const sayAgain = time.Minute

// claimer claims again and again, with as many sessions as that takes.
type claimer struct {
	Options
	began  time.Time
	until  time.Time               // the end of the wait; zero: it has no bound
	cancel context.CancelCauseFunc // ends the claim under way

	mu      sync.Mutex
	opened  bool
	owned   bool  // there is a lease now
	trouble error // why the claim makes no progress; nil: it waits as it should
	said    map[string]time.Time
}

// serve opens sessions and claims in each. term serves each lease, gives it back or abandons its session, and reports
// whether to claim again. serve returns nil after a term that was the last.
func serve(ctx context.Context, o Options, term func(s *coord.Session, l *coord.Lease) (again bool)) error {
	c := &claimer{Options: o, began: time.Now(), said: map[string]time.Time{}}
	life, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.cancel = cancel
	wait := c.startWait(ctx)
	defer func() { wait.Stop() }()
	o.Session.OnState, o.Session.OnTrouble = c.onState, c.onTrouble
	for s, err := range coord.Sessions(life, o.Driver, o.Session) {
		if err != nil {
			return err
		}
		l, err := c.claim(life, s)
		if l == nil {
			if err = errors.Join(err, c.leave(life, s)); coord.Passing(err) && o.Wait != 0 && life.Err() == nil && !errors.Is(err, coord.ErrNotAcquired) {
				c.troubled(err)
				continue
			}
			return c.missed(life, err)
		}
		if !wait.Stop() && o.Wait > 0 { // the wait ended at the same instant
			return errors.Join(c.missed(life, nil), l.Release(ctx))
		}
		c.setOwned(true)
		if !term(s, l) {
			return nil
		}
		c.setOwned(false)
		wait = c.startWait(ctx)
	}
	return c.missed(life, nil)
}

// startWait starts the timer that ends the next claim.
func (c *claimer) startWait(ctx context.Context) *time.Timer {
	if c.Wait <= 0 {
		return time.NewTimer(0) // nobody receives from it
	}
	c.until = time.Now().Add(c.Wait)
	return spawn.After(ctx, c.Wait, func() { c.cancel(ErrMissed) })
}

// claim claims in one session.
func (c *claimer) claim(ctx context.Context, s *coord.Session) (*coord.Lease, error) {
	var left time.Duration
	if !c.until.IsZero() {
		left = max(time.Until(c.until), 1)
	}
	l, err := c.Claim(ctx, s, left)
	if l == nil && err == nil {
		err = ErrMissed
	}
	return l, err
}

// leave closes the session of a claim without a lease. It returns an error only if the primitive may be ours at the
// service nevertheless.
func (c *claimer) leave(ctx context.Context, s *coord.Session) error {
	if err := s.Close(ctx); errors.Is(err, coord.ErrUncertain) {
		return err
	}
	return nil
}

// missed returns the error about a claim that ended without a lease. err is that of the claim, if it had one.
func (c *claimer) missed(life context.Context, err error) error {
	c.mu.Lock()
	trouble := c.trouble
	c.mu.Unlock()
	cause := context.Cause(life)
	if cause == nil && errors.Is(err, coord.ErrNotAcquired) {
		cause = ErrMissed
	}
	switch {
	case errors.Is(err, coord.ErrUncertain):
		return err
	case errors.Is(cause, ErrNoAnswer):
		return cause
	case errors.Is(cause, ErrMissed) && trouble != nil:
		return c.noAnswer(trouble)
	case errors.Is(cause, ErrMissed):
		return failure.Sentence(fmt.Sprintf("%v within %v", ErrMissed, c.Wait), ErrMissed)
	case cause != nil:
		return cause
	case errors.Is(err, ErrMissed):
		return failure.Sentence("it is taken", ErrMissed)
	case coord.Passing(err):
		return c.noAnswer(err)
	}
	return err
}

// noAnswer returns an ErrNoAnswer with the reason.
func (c *claimer) noAnswer(err error) error {
	return failure.Sentence(c.Explain(err), ErrNoAnswer, err)
}

// onState is the OnState of the sessions.
func (c *claimer) onState(s coord.StateChange) {
	switch {
	case s.State == coord.StateOpen:
		c.mu.Lock()
		c.opened, c.trouble = true, nil
		c.mu.Unlock()
	case s.Err == nil || s.State == coord.StateEnded: // the claim or the lease reports the end
	default:
		c.troubled(s.Err)
		c.mu.Lock()
		late := !c.opened && c.StartWithin > 0 && time.Since(c.began) >= c.StartWithin
		c.mu.Unlock()
		if late || c.Wait == 0 {
			c.cancel(c.noAnswer(s.Err))
		}
	}
}

// onTrouble is the OnTrouble of the sessions. It calls that of the options, too.
func (c *claimer) onTrouble(t coord.Trouble) {
	if c.Session.OnTrouble != nil {
		c.Session.OnTrouble(t)
	}
	if t.Err != nil {
		c.troubled(t.Err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trouble = nil
}

// troubled reports an error that may pass, but the same one not more than once a minute.
func (c *claimer) troubled(err error) {
	c.mu.Lock()
	text := "still waiting: "
	if c.owned {
		text = "the lease was not confirmed: "
	} else {
		c.trouble = err
	}
	text += c.Explain(err)
	again := time.Since(c.said[text]) < sayAgain
	if !again {
		c.said[text] = time.Now()
	}
	quiet := again || c.Wait == 0 && !c.owned // the error of a try is reported once, at its end
	c.mu.Unlock()
	if !quiet {
		c.Say(text)
	}
}

func (c *claimer) setOwned(owned bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owned = owned
}
