package history

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"coordtop/sources"
)

// LastKnown returns, for HubOptions.Resume, the state at the end of the newest run of each source: of its rows
// that selected accepts. Nil sources: all of the newest run. An error wraps ErrNothing where no run read one of
// them; beside another error it returns what was found before it.
func LastKnown(ctx context.Context, log Log, of []sources.SourceStatus, selected func(*sources.Primitive) bool) (*sources.Keyframe, error) {
	runs, err := log.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var known *sources.Keyframe
	missing := slices.Clone(of)
	for _, run := range slices.Backward(runs) {
		k, err := lastKnownOf(ctx, log, run)
		if err != nil {
			return known, err
		}
		if of == nil {
			return k, nil
		}
		missing = slices.DeleteFunc(missing, func(s sources.SourceStatus) bool {
			if !k.Knows(&s) {
				return false
			}
			known = cmp.Or(known, &sources.Keyframe{}).With(&s, k, selected)
			return true
		})
		if len(missing) == 0 {
			break
		}
	}
	if known == nil {
		return nil, ErrNothing
	}
	return known, nil
}

// lastKnownOf returns the state at the end of a run.
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
