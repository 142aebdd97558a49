package sources

import (
	"context"
	"errors"
	"time"

	"coordtop/internal/backoff"
)

var (
	// refusedPause is made after ErrRefused: somebody has to change something first, and it
	// is not known when.
	refusedPause = backoff.Policy{Min: 5 * time.Second, Max: 5 * time.Second}
	// spacing is the least time between the beginnings of two connections that read
	// everything: a server that ends each of them at once is not read without a pause.
	spacing = backoff.Policy{Min: time.Second, Max: time.Second}
)

// longestRest bounds the pause that the cost of a listing asks for.
const longestRest = 5 * time.Second

// run connects and reads until ctx ends.
func (r *runner) run(ctx context.Context) {
	pauses := NewPauses(r.spec.Retry)
	for {
		l := Life{Began: r.hub.clock.Now().steady()}
		err := r.connection(ctx, &l)
		if ctx.Err() != nil {
			return
		}
		now := r.hub.clock.Now()
		l.Ended = now.steady()
		pause := pauses.After(l, err)
		r.log.Warn("not connected", "error", err, "retry", pause)
		r.hub.disconnected(r.source, err, now.Wall.Add(pause))
		if !r.rest(ctx, pause) {
			return
		}
	}
}

// rest waits until the pause is over, somebody asks for a refresh, or ctx ends.
func (r *runner) rest(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-r.source.hurry: // an old request: it was answered by the attempt that failed
	default:
	}
	select {
	case <-timer.C:
	case <-r.source.hurry:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// Life is one connection of a source, or of a part of it, from the call that makes it to
// its failure. Its times are of one clock, which nobody sets.
type Life struct {
	Began, Ended time.Time
	Listed       time.Time // when all that it is for had been read; zero: it never was
}

// Pauses are those between the connections of a source, or of a part of it. They are not
// safe for concurrent use.
type Pauses struct{ retry, refused, spacing *backoff.Backoff }

// NewPauses returns pauses that grow like those of retry.
func NewPauses(retry backoff.Policy) *Pauses {
	return &Pauses{retry: retry.Start(), refused: refusedPause.Start(), spacing: spacing.Start()}
}

// After returns the pause between a connection that ended with err and the next one. The
// pauses grow until a connection has read everything. After such a one they begin anew, and
// only two bounds remain: the spacing, and that connecting and reading everything takes at
// most half of the time.
func (p *Pauses) After(l Life, err error) time.Duration {
	if !l.Listed.IsZero() {
		p.retry.Reset()
	}
	switch {
	case errors.Is(err, ErrRefused):
		return p.refused.Next()
	case l.Listed.IsZero():
		return p.retry.Next()
	}
	cost, stood := l.Listed.Sub(l.Began), l.Ended.Sub(l.Listed)
	return max(p.retry.Next(), p.spacing.Next()-cost-stood, min(cost-stood, longestRest))
}
