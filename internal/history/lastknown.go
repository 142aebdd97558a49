package history

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"coordtop/sources"
)

// LastKnown returns, for HubOptions.Resume, the last recorded state of each source in wanted: its rows that selected
// accepts, at the end of the newest run that read the source. If wanted is nil, it returns the whole state at the end
// of the newest run. An error wraps ErrNothing if no run read any of the sources. With another error it returns the
// state that was found before the error.
func LastKnown(ctx context.Context, log Log, wanted []sources.SourceStatus, selected func(*sources.Primitive) bool) (*sources.Keyframe, error) {
	runs, err := log.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var known *sources.Keyframe
	missing := slices.Clone(wanted)
	for _, run := range slices.Backward(runs) {
		k, err := lastKnownOf(ctx, log, run)
		if err != nil {
			return known, err
		}
		if wanted == nil {
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
