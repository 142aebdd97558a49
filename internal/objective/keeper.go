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

// Keeper evaluates objectives while it runs, as long as its results are asked for.
type Keeper struct {
	objectives []Objective
	reader     history.Reader
	state      func() *sources.State
	asked      chan struct{} // has room for one
	results    atomic.Pointer[[]Result]
}

// NewKeeper returns a Keeper; Run must be called. r is nil if nothing is recorded.
func NewKeeper(list []Objective, r history.Reader, state func() *sources.State) *Keeper {
	return &Keeper{objectives: list, reader: r, state: state, asked: make(chan struct{}, 1)}
}

// Results returns the last results; none if there are no objectives, before the first evaluation since it is asked
// for them, and while the recording cannot be read. The caller must not change them. It is safe for concurrent use.
func (k *Keeper) Results() []Result {
	select {
	case k.asked <- struct{}{}:
	default:
	}
	if last := k.results.Load(); last != nil {
		return *last
	}
	return nil
}

// Run evaluates until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	for len(k.objectives) > 0 {
		select {
		case <-k.asked:
		default: // nobody has asked since the last evaluation
			k.results.Store(nil)
			select {
			case <-ctx.Done():
				return nil
			case <-k.asked:
			}
		}
		bounded, cancel := context.WithTimeout(ctx, patience)
		results, pace, err := Judge(bounded, k.reader, Input{Objectives: k.objectives, Now: time.Now(), State: k.state()})
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
