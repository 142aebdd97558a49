package history

import (
	"context"
	"time"
)

// cross goes to the other end of a hole.
func (r *seeker) cross(ctx context.Context) error {
	p, from := r.behind, r.last.Wall
	r.behind, r.queue, r.thin = nil, p.Inputs, p.Thin
	err := r.join(r.begin(ctx, p.Keyframe))
	r.hole = Span{From: from, To: r.at.Wall}
	return err
}

// holeBetween is the hole between two runs that t lies in, and the run before it; nil: t lies in none.
func holeBetween(runs []Run, t time.Time) (before *Run, hole Span) {
	for i := range runs {
		run := &runs[i]
		switch {
		case !t.Before(run.From) && (run.Live || !t.After(run.To)):
			return nil, Span{}
		case run.To.Before(t) && (before == nil || run.To.After(before.To)):
			before, hole.From = run, run.To
		case run.From.After(t) && (hole.To.IsZero() || run.From.Before(hole.To)):
			hole.To = run.From
		}
	}
	if hole.To.IsZero() { // t lies behind the end
		return nil, Span{}
	}
	return before, hole
}
