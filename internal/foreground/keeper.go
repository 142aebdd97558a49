package foreground

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/headless"
	"coordtop/sources"
)

// Ends that a caller tells apart.
var (
	// ErrRefused reports that the service refuses our login, or that a right is missing.
	ErrRefused = errors.New("refused")
	// ErrMissed reports that it was not ours within the time that the request allows.
	ErrMissed = errors.New("not acquired")
	// ErrLost reports that it ended without our wish.
	ErrLost = errors.New("lost")
	// ErrChanged reports that the owner changed just before, and that nothing was released.
	ErrChanged = errors.New("changed")
	// ErrNotPossible reports that nothing was done, and would not be until a right, a setting or the
	// owner is another.
	ErrNotPossible = errors.New("not possible")
)

// Operator is what acts for us: an operate.Operator. Nobody else may receive from Wake.
type Operator interface {
	Describe(ctx context.Context, r action.Request) (action.Effect, error)
	Start(r action.Request) (id uint64, err error)
	CallOff(id uint64)
	Status() *action.Status
	Wake() <-chan struct{}
	Close() error
}

// View is what is seen of the primitive: a Hub.
type View interface {
	State() *sources.State
	Row(s *sources.State, ref sources.Ref) *sources.Row
}

// Options are what Keep works with. All of them are needed.
type Options struct {
	Operator Operator
	View     View
	Row      *sources.Row // the primitive, as it was found
	Identity string       // how others see us
	Lines    <-chan string
	Out, Err io.Writer
}

// keeper is one Keep.
type keeper struct {
	Options
	reason string               // for the audit of what lines ask for
	last   action.Holding       // as it was seen last
	told   string               // on Err, of the wait
	said   map[string]time.Time // what was told of troubles, and when
}

// Keep takes what Options.Row shows as r says (its Target is filled in here), and serves lines
// while it is ours. It returns nil when it was resigned, by a line or because ctx or the lines
// ended, and when a line ended the wait. Else the error wraps ErrRefused, ErrMissed, ErrLost or what the
// Operator refused with. That ctx or the lines end the wait is an error too, and so is an Out
// that takes nothing more. Keep may leave something held or waited for when it returns: the
// caller closes the Operator, always.
func Keep(ctx context.Context, o Options, r action.Request) error {
	k := &keeper{Options: o, reason: cmp.Or(r.Reason, "standard input"), said: map[string]time.Time{}} // where lines come from
	k.last.Mode, k.last.Permits = r.Mode, r.Permits                                                    // until there is something to be seen
	id, err := k.start(ctx, r)
	if err != nil {
		return err
	}
	if err := k.won(ctx, id); errors.Is(err, errCalledOff) {
		return nil
	} else if err != nil {
		return err
	}
	if err := k.say("acquired", ""); err != nil {
		return err
	}
	return k.serve(ctx)
}

// start asks for an action on the row as it is now. Naming it on the command line was
// typing its name.
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

// now is the row as our watch shows it; as it was found, where it does not any more.
func (k *keeper) now() *sources.Row {
	if row := k.View.Row(k.View.State(), k.Row.Ref); row != nil {
		return row
	}
	return k.Row
}

// runOf is one run of ours, and the status that has it; the zero Run, where that has it not.
func runOf(op Operator, id uint64) (action.Run, *action.Status) {
	s := op.Status()
	for _, run := range s.Runs {
		if run.ID == id {
			return run, s
		}
	}
	return action.Run{}, s
}

// await waits until a run has come to a phase, or ctx ends.
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

// problem is the error of a run that is over, or of a wait that is; nil: it was seen to be done.
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

// say writes a line about what we hold, as it was seen last.
func (k *keeper) say(event, detail string) error {
	h, us := k.last, sources.OwnerRef{}
	if h.Owner != "" { // else it is not ours yet
		us = sources.OwnerRef{ID: h.Owner, Label: k.Identity, Fence: h.Fence}
	}
	return headless.WriteHeld(k.Out, headless.Held{
		Event: event, Ref: k.Row.Ref, Kind: k.Row.Kind, Alias: sources.AliasName(k.Row.Alias, k.Row.AliasHow), Owner: us,
		Mode: h.Mode, Permits: h.Permits, Data: h.Data, Until: h.Until, Detail: detail,
	})
}
