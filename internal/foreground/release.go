package foreground

import (
	"context"
	"errors"
	"fmt"
	"io"

	"coordtop/internal/action"
	"coordtop/internal/headless"
	"coordtop/sources"
)

// ErrChanged reports that the owner changed just before, and that nothing was released.
var ErrChanged = errors.New("changed")

// ErrUnseen reports that the service was told, and that our watch did not see the end.
var ErrUnseen = errors.New("not seen")

// ErrNotPossible reports that nothing was done, and would not be until a right, a setting or the
// owner is another.
var ErrNotPossible = errors.New("not possible")

// Release has the operator carry out r, which ends what another owns, and prints the result as
// one line of JSON to out, as soon as our watch has seen it. The error wraps what
// Start returns, ErrChanged where it changed just before, and ErrNotPossible, ErrRefused, ErrUnseen
// or ErrUnknown; nil: it was seen to end. The end of ctx ends the watching: what was sent stays sent.
func Release(ctx context.Context, op Operator, view View, r action.Request, out io.Writer) error {
	id, err := op.Start(r)
	if err != nil {
		return err
	}
	run, _ := runOf(op, id)
	for ; !run.Phase.Over(); run, _ = runOf(op, id) {
		select {
		case <-op.Wake():
		case <-ctx.Done():
			_ = op.Close(context.Background()) // the caller's own Close returns the same; every run is over then
		}
	}
	h := headless.Released{
		Result: run.Phase.String(), Ref: r.Target.Ref, Kind: r.Target.Kind, Detail: run.Text,
		Previous: sources.OwnerRef{ID: r.Target.Owner, Label: r.Target.Label, Fence: r.Target.Fence},
	}
	if row := view.Row(view.State(), r.Target.Ref); row != nil {
		h.Owners = row.Owners
	}
	return errors.Join(released(run), headless.WriteReleased(out, h))
}

// released is the error of a run that is over.
func released(run action.Run) error {
	switch {
	case run.Phase == action.Seen:
		return nil
	case run.Phase == action.Changed:
		return fmt.Errorf("%w: %s", ErrChanged, run.Text)
	case run.Phase == action.Unseen:
		return fmt.Errorf("%w: %s", ErrUnseen, run.Text)
	case run.Phase == action.Unknown:
		return unknownError{run.Text}
	case run.NotPossible:
		return fmt.Errorf("%w: %s", ErrNotPossible, run.Text)
	case run.Refused:
		return fmt.Errorf("%w: %s", ErrRefused, run.Text)
	}
	return fmt.Errorf("%v: %s", run.Request.Verb, run.Text)
}
