package history

import (
	"context"

	"coordtop/sources"
)

// End returns what was known at the end of a recording, for HubOptions.Resume. An error wraps
// ErrNothing where nothing is recorded.
func End(ctx context.Context, log Log) (*sources.Keyframe, error) {
	runs, err := log.Runs(ctx)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, ErrNothing
	}
	c, err := log.Open(ctx, runs[len(runs)-1].To)
	if err != nil {
		return nil, err
	}
	r := sources.NewReplayerAt(c.Keyframe(), sources.HubOptions{Events: 1})
	for {
		inputs, err := c.Next(ctx)
		if err != nil {
			return nil, err
		}
		if len(inputs) == 0 {
			return r.Hub().Keyframe(), nil
		}
		if c.Restarted() {
			r = sources.NewReplayerAt(c.Keyframe(), sources.HubOptions{Events: 1})
		}
		for _, in := range inputs {
			if err := r.Apply(in); err != nil {
				return nil, err
			}
		}
	}
}
