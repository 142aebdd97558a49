package foreground

import (
	"cmp"
	"context"
	"coordtop/internal/ground/backoff"
	"errors"
	"fmt"
	"io"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/headless"
	"coordtop/sources"
)

// Errors of Keep and Release for callers to branch on.
var (
	// ErrRefused reports that the service refuses our login, or that a right is missing.
	ErrRefused = errors.New("refused")
	// ErrMissed reports that the claim was not granted within the time of the request.
	ErrMissed = errors.New("not acquired")
	// ErrLost reports that our lease ended without our wish.
	ErrLost = errors.New("lost")
	// ErrChanged reports that the owner changed just before, and that nothing was released.
	ErrChanged = errors.New("changed")
	// ErrNotPossible reports that nothing was done, and that a retry will also fail until a right, a setting or the
	// owner changes.
	ErrNotPossible = errors.New("not possible")
)

// Operator is the part of an operate.Operator that this package uses. Nobody else may receive from its Wake.
type Operator interface {
	Describe(ctx context.Context, r action.Request) (action.Effect, error)
	Start(r action.Request) (id uint64, err error)
	CallOff(id uint64)
	Status() *action.Status
	Wake() <-chan struct{}
	Close() error
}

// View is the part of a Hub that this package uses.
type View interface {
	State() *sources.State
	Row(s *sources.State, ref sources.Ref) *sources.Row
}

// Options are the options of Keep. Those from Reopen on may be zero.
type Options struct {
	Operator Operator
	View     View
	Row      *sources.Row // row of the primitive at the start
	Lines    <-chan string
	Out, Err io.Writer
	Reopen   bool // claim again after a loss
	Enqueue  bool // take a place in the queue, and wait there only after the line `wait`
	// Notices are notifications that arrive while it is ours. Notify sends one.
	Notices <-chan headless.Notice
	Notify  func(ctx context.Context, channel, payload string) error
}

// keeper is the state of one call of Keep.
type keeper struct {
	Options
	claim  uint64 // the newest run that claims
	queued queued
	reason string               // reason in the audit, for actions that lines request
	last   action.Holding       // our holding in the latest Status that had it
	told   string               // the last line that was written to Err about the wait
	said   map[string]time.Time // printed troubles, with the time
}

// Keep claims the primitive of Options.Row with r (Keep fills in its Target), and serves lines while it is ours. It
// returns nil after it has resigned, by a line or because ctx or the lines ended, and after a line has ended the wait.
// Otherwise the error wraps ErrRefused, ErrMissed, ErrLost or an error of the Operator. The end of ctx or of the lines
// during the wait is also an error, and so is an Out that fails. Keep may return while a lease is still held or waited
// for, so the caller must always close the Operator.
func Keep(ctx context.Context, o Options, r action.Request) error {
	k := &keeper{Options: o, reason: cmp.Or(r.Reason, "standard input"), said: map[string]time.Time{}}
	k.last.Mode, k.last.Permits = r.Mode, r.Permits // until Status has the holding
	pauses := backoff.Policy{Min: r.Session.RetryDelay, Max: r.Session.RetryDelay}.Start()
	for {
		began := time.Now()
		err := k.once(ctx, r)
		if !o.Reopen || !errors.Is(err, ErrLost) || ctx.Err() != nil {
			return err
		}
		if time.Since(began) > lasting {
			pauses.Reset()
		}
		if err := k.rest(ctx, pauses); errors.Is(err, errCalledOff) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// lasting is the time after which a lost lease counts as no failure to keep one.
const lasting = 10 * time.Second

// once claims, and serves lines until the lease is not ours any more.
func (k *keeper) once(ctx context.Context, r action.Request) (err error) {
	k.queued = queued{}
	if k.Enqueue {
		k.queued.proceed = make(chan struct{})
		r.Proceed = k.queued.proceed
	}
	if k.claim, err = k.start(ctx, r); err != nil {
		return err
	}
	if err := k.won(ctx, k.claim); errors.Is(err, errCalledOff) {
		return nil
	} else if err != nil {
		return err
	}
	if err := k.say("acquired", ""); err != nil {
		return err
	}
	return k.serve(ctx)
}

// rest waits, after a loss, until the claim can be repeated: for a pause, and until our watch shows the present row. The
// error wraps errCalledOff if a line ended the wait.
func (k *keeper) rest(ctx context.Context, pauses *backoff.Backoff) error {
	k.last = action.Holding{Mode: k.last.Mode, Permits: k.last.Permits}
	for {
		pause := time.NewTimer(pauses.Next())
		select {
		case <-pause.C:
			if k.now().Fresh(k.View.State()) {
				return nil
			}
		case <-ctx.Done():
			return errors.New("ended before it was ours again")
		case line, more := <-k.Lines:
			end, err := k.ends(line, more)
			if err != nil {
				return err
			}
			if end {
				return cmp.Or(k.say("resigned", errCalledOff.Error()), errCalledOff)
			}
		}
	}
}

// start starts an action on the present row. It fills in the typed name, because the person gave the name on the
// command line.
func (k *keeper) start(ctx context.Context, r action.Request) (uint64, error) {
	row := k.now()
	var owner *sources.Owner
	if len(row.Owners) > 0 {
		owner = &row.Owners[0]
	}
	r.Target = action.TargetOf(row, owner)
	effect, err := k.Operator.Describe(context.WithoutCancel(ctx), r)
	if err != nil {
		return 0, err
	}
	r.Typed = effect.NeedsName
	return k.Operator.Start(r)
}

// now returns the row on our watch, or Options.Row if our watch does not show it any more.
func (k *keeper) now() *sources.Row {
	if row := k.View.Row(k.View.State(), k.Row.Ref); row != nil {
		return row
	}
	return k.Row
}

// runOf returns one of our runs and the current status. If the status does not have the run, it returns the zero Run.
func runOf(op Operator, id uint64) (action.Run, *action.Status) {
	s := op.Status()
	for _, run := range s.Runs {
		if run.ID == id {
			return run, s
		}
	}
	return action.Run{}, s
}

// await waits until a run has reached a phase, or ctx ends.
func await(ctx context.Context, op Operator, id uint64, phase action.Phase) action.Run {
	for {
		run, _ := runOf(op, id)
		if run.Phase >= phase {
			return run
		}
		select {
		case <-ctx.Done():
			return run
		case <-op.Wake():
		}
	}
}

// problem returns the error of a run that is over; nil if our watch showed its result.
func problem(run action.Run) error {
	kind := map[action.Phase]error{action.Missed: ErrMissed, action.Changed: ErrChanged}[run.Phase]
	switch {
	case run.Phase == action.Seen:
		return nil
	case run.Phase == action.Unknown:
		return errors.New(run.Text)
	case run.NotPossible:
		kind = ErrNotPossible
	case run.Refused:
		kind = ErrRefused
	}
	if kind == nil {
		return fmt.Errorf("%v: %s", run.Request.Verb, run.Text)
	}
	return fmt.Errorf("%w: %s", kind, run.Text)
}

// say writes a line with the last known state of our holding.
func (k *keeper) say(event, detail string) error {
	return k.write(headless.Held{Event: event, Detail: detail})
}

// write writes a line to which it adds the last known state of our holding.
func (k *keeper) write(line headless.Held) error {
	h := k.last
	if h.Owner != "" { // the lease is ours
		line.Owner = sources.OwnerRef{ID: h.Owner, Label: h.Label, Fence: h.Fence}
	}
	line.Ref, line.Kind, line.Alias = k.Row.Ref, k.Row.Kind, sources.AliasName(k.Row.Alias, k.Row.AliasHow)
	line.Mode, line.Permits, line.Data, line.Until = h.Mode, h.Permits, h.Data, h.Until
	return headless.WriteHeld(k.Out, line)
}
