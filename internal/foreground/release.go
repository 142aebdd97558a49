package foreground

import (
	"context"
	"errors"
	"io"

	"coordtop/internal/action"
	"coordtop/internal/headless"
	"coordtop/sources"
)

// Release has the operator carry out r, which ends what another owns, and prints the result as
// one line of JSON to out, as soon as our watch has seen it. The error wraps what
// Start returns, ErrChanged where it changed just before, and ErrNotPossible or ErrRefused; nil: it
// was seen to end. The end of ctx ends the watching: what was sent stays sent.
func Release(ctx context.Context, op Operator, view View, r action.Request, out io.Writer) error {
	id, err := op.Start(r)
	if err != nil {
		return err
	}
	run := await(ctx, op, id, action.Seen)
	if !run.Phase.Over() {
		_ = op.Close() // the caller's own Close returns the same; every run is over then
		run, _ = runOf(op, id)
	}
	h := headless.Released{
		Result: run.Phase.String(), Ref: r.Target.Ref, Kind: r.Target.Kind, Alias: r.Target.Alias, Detail: run.Text,
		Previous: sources.OwnerRef{ID: r.Target.Owner, Label: r.Target.Label, Fence: r.Target.Fence},
	}
	if row := view.Row(view.State(), r.Target.Ref); row != nil {
		h.Owners = row.Owners
	}
	return errors.Join(problem(run), headless.WriteReleased(out, h))
}
