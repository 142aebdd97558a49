package coord

import (
	"context"
	"errors"
)

// errDone ends the candidate of Lead when the work is done.
var errDone = errors.New("the leader's work is done")

// Lead campaigns for an election and calls f when it leads, under a context that ends
// with the term or with ctx. When f returns while it still leads, Lead resigns and
// returns what f returned. When the term ended before, f is called again in the next
// term, unless it returned an error of its own, which Lead then returns. When ctx ends,
// that is the error. Other errors are those of Candidate.Run. The OnElected and
// EndOnError of o are not used.
func Lead(
	ctx context.Context, d Driver, so SessionOptions, name string, o LeadOptions,
	f func(context.Context, *Term) error,
) error {
	o.EndOnError = true
	o.OnElected = func(ctx context.Context, t *Term) error {
		err := f(ctx, t)
		if err == nil && ctx.Err() == nil {
			return errDone
		}
		return err
	}
	err := NewCandidate(d, so, name, o).Run(ctx)
	if errors.Is(err, errDone) {
		return nil
	}
	return err
}
