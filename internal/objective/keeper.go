package objective

import (
	"context"
	"sync/atomic"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// patience bounds an evaluation.
const patience = 5 * time.Minute

// Keeper evaluates objectives while it runs.
type Keeper struct {
	Objectives []Objective
	Reader     history.Reader // nil: nothing is recorded
	State      func() *sources.State

	results atomic.Pointer[[]Result]
}

// Results returns the last results; none if there are no objectives, before the first evaluation, and while the
// recording cannot be read. The caller must not change them. It is safe for concurrent use.
func (k *Keeper) Results() []Result {
	if last := k.results.Load(); last != nil {
		return *last
	}
	return nil
}

// Run evaluates until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	for len(k.Objectives) > 0 {
		bounded, cancel := context.WithTimeout(ctx, patience)
		results, pace, err := Judge(bounded, k.Reader, Input{Objectives: k.Objectives, Now: time.Now(), State: k.State()})
		cancel()
		if err != nil {
			results = nil
		}
		k.results.Store(&results)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pace):
		}
	}
	return nil
}
