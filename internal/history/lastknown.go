package history

import (
	"context"
	"errors"
	"slices"

	"coordtop/sources"
)

// LastKnown returns what was known at the end of the newest run that had read one of the named
// sources, for HubOptions.Resume; of nil: of the newest run. An error wraps ErrNothing where no run did.
func LastKnown(ctx context.Context, log Log, of []string) (*sources.Keyframe, error) {
	runs, err := log.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, run := range slices.Backward(runs) {
		k, err := lastKnownOf(ctx, log, run)
		if err != nil {
			return nil, err
		}
		if of == nil || slices.ContainsFunc(of, k.Knows) {
			return k, nil
		}
	}
	return nil, ErrNothing
}

// lastKnownOf returns what was known at the end of a run.
func lastKnownOf(ctx context.Context, log Log, run Run) (*sources.Keyframe, error) {
	c, err := log.Cursor(ctx, run.ID, run.To)
	if errors.Is(err, ErrNothing) {
		return &sources.Keyframe{}, nil
	}
	if err != nil {
		return nil, err
	}
	var r *sources.Replayer
	for {
		p, err := c.Next(ctx)
		if err != nil {
			return nil, err
		}
		if p.Empty() {
			return r.Hub().Keyframe(), nil
		}
		if p.Keyframe != nil {
			r = sources.NewReplayerAt(p.Keyframe, sources.HubOptions{Events: 1})
		}
		for _, in := range p.Inputs {
			if err := r.Apply(in); err != nil {
				return nil, err
			}
		}
	}
}
