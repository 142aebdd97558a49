package underlease

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/job"
)

// Lock claims the primitive, does the work under the lease, and gives the lease back. The error is that of the claim,
// or of the work.
func Lock(ctx context.Context, o Options) (r job.Result, err error) {
	claimed := serve(ctx, o, func(s *coord.Session, l *coord.Lease) bool {
		r, err = o.Work(ctx, l)
		o.giveBack(ctx, s, l, r)
		return false
	})
	return r, errors.Join(claimed, err)
}

// giveBack releases a lease after its work, unless something of the work is left.
func (o *Options) giveBack(ctx context.Context, s *coord.Session, l *coord.Lease, r job.Result) {
	if r.Left {
		s.Abandon()
		o.Say("a process of the command cannot be ended: the lease is not given back, it runs out by itself")
	} else if err := l.Release(ctx); err != nil {
		o.Say("it could not be given back, it runs out by itself: " + o.Explain(err))
	}
}

// LeadOptions describe what Lead does at the beginning and the end of a term.
type LeadOptions struct {
	Once    bool // return after a lost term
	Restart bool // campaign again after the work has ended by itself
	OnWon   func(ctx context.Context, l *coord.Lease)
	OnLost  func(ctx context.Context, l *coord.Lease, cause error) // cause wraps one of the four causes of package coord
}

// longTerm is the length of a term after which the pauses of a restart begin anew.
const longTerm = time.Minute

// Lead campaigns, does the work in each term, and resigns. The Result is that of the last term. The error is that of a
// campaign, or of the work.
func Lead(ctx context.Context, o Options, lead LeadOptions) (r job.Result, err error) {
	pauses := backoff.Policy{Min: 2 * time.Second, Max: time.Minute}.Start() // the first is 1 s to 2 s
	campaigned := serve(ctx, o, func(s *coord.Session, l *coord.Lease) bool {
		began := time.Now()
		lead.OnWon(ctx, l)
		r, err = o.Work(ctx, l)
		lost := r.Lost
		if lost == nil {
			lead.OnLost(ctx, l, coord.ErrReleased)
		} else {
			lead.OnLost(ctx, l, lost)
		}
		o.giveBack(ctx, s, l, r)
		if err != nil || r.Left || r.Stopped != 0 || ctx.Err() != nil || lost != nil && lead.Once || lost == nil && !lead.Restart {
			return false
		}
		if lost != nil {
			o.Say("the lead was lost, campaigning again: " + o.Explain(lost))
			return true
		}
		if time.Since(began) >= longTerm {
			pauses.Reset()
		}
		pause := pauses.Next()
		o.Say(fmt.Sprintf("the command ended with exit code %d, campaigning again in %v", r.Code, pause.Round(100*time.Millisecond)))
		if backoff.Sleep(ctx, pause) != nil {
			r, err = job.Result{}, context.Cause(ctx)
		}
		return err == nil
	})
	return r, errors.Join(campaigned, err)
}

// Idle is the work of a leader without a command: it waits for the end of the term, or of ctx.
func Idle(ctx context.Context, l *coord.Lease) (r job.Result, err error) {
	select {
	case <-l.Context().Done():
		r.Lost = context.Cause(l.Context())
	case <-ctx.Done():
		r.Stopped = syscall.SIGTERM // or another signal: all end the term
	}
	return r, nil
}
