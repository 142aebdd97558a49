package history

import (
	"context"
	"time"

	"coordtop/sources"
)

// cross goes to the other end of a hole.
func (r *seeker) cross(ctx context.Context) error {
	p, from := r.behind, r.last.Wall
	r.behind, r.queue, r.thin = nil, p.Inputs, p.Thin
	err := r.join(r.begin(ctx, p.Keyframe))
	r.hole = unrecorded(from, r.at.Wall)
	return err
}

// unrecorded is a Hole of which nobody recorded anything.
func unrecorded(from, to time.Time) Hole { return Hole{Dark: sources.Dark{From: from, To: to}} }

// holeBetween returns the hole between two runs that contains t, and the run before it; nil: t lies in no hole.
func holeBetween(runs []Run, t time.Time) (before *Run, hole Hole) {
	for i := range runs {
		run := &runs[i]
		switch {
		case !t.Before(run.From) && (run.Live || !t.After(run.To)):
			return nil, Hole{}
		case run.To.Before(t) && (before == nil || run.To.After(before.To)):
			before, hole.From = run, run.To
		case run.From.After(t) && (hole.To.IsZero() || run.From.Before(hole.To)):
			hole.To = run.From
		}
	}
	if hole.To.IsZero() { // t lies behind the end
		return nil, Hole{}
	}
	return before, hole
}
