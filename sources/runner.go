package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
)

// Spec is one source to run and how to treat it.
type Spec struct {
	Name    string // unique in a Hub; the Ref.Source of its primitives
	Type    string // "redis", "postgres", "ydb", "dflockd"
	Address string // for people: without user, password and query
	Source  Source
	Owners  OwnerRules     // labels of its owners, waiters and candidates
	Connect time.Duration  // time-out of a Connect; 0: 5 s
	Retry   backoff.Policy // pauses between a failure and the next Connect
	Silence time.Duration  // the minimum silence limit of its scopes; 0: 3 s
	Agree   int            // see SourceStatus.Agree
	Logger  *slog.Logger   // for retries and panics; may be nil
}

const (
	connectLimit = 5 * time.Second
	// nextLimit bounds a Next, which should take at most a second. It is also the time without proof of life after
	// which a source is connected again.
	nextLimit = 15 * time.Second
	// stopLimit bounds the time that Run waits for sources that ignore the end of their context.
	stopLimit = 5 * time.Second
)

// Run runs the sources until ctx ends: it connects each, passes its Changes to h, and connects it again after a
// failure. All sources are in h.State at once, before any has answered. Run returns nil when every source is closed and
// every goroutine joined; It returns an error, without starting anything, if sources cannot be run, and one that wraps
// ErrStillRunning if some did not end. A panic in a source, or in a goroutine that it started, ends only its
// connection. A panic in the Hub goes to the handler in ctx (see spawn.With) and ends Run with an error: the model may
// be inconsistent.
func Run(ctx context.Context, h *Hub, specs []Spec) error {
	added, err := h.add(specs)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	for i, f := range added {
		s := specs[i]
		s.Connect = cmp.Or(max(s.Connect, 0), connectLimit)
		log := cmp.Or(s.Logger, slog.New(slog.DiscardHandler)).With("source", s.Name)
		r := &runner{hub: h, source: f, spec: s, log: log, beside: len(added) > 1}
		spawn.Go(ctx, &all, func() {
			stop(spawn.Call(ctx, func() error { r.run(ctx); return nil }))
		})
	}
	done := make(chan struct{})
	spawn.Go(ctx, nil, func() { // ends with the last source; joined below
		all.Wait()
		close(done)
	})
	select {
	case <-ctx.Done():
	case err := <-h.broken:
		stop(err)
	}
	limit := time.NewTimer(stopLimit)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
		return fmt.Errorf("stopping the sources: %w after %v", ErrStillRunning, stopLimit)
	}
	if err := context.Cause(ctx); errors.Is(err, spawn.ErrPanic) {
		return err
	}
	return nil
}

// runner owns one source: it alone calls Connect, Next and Close, never two at a time.
type runner struct {
	hub    *Hub
	source *hubSource
	spec   Spec
	log    *slog.Logger
	beside bool // other sources are running
}

// connection makes one connection and reads it until it fails. It never returns nil.
func (r *runner) connection(ctx context.Context, l *Life) (err error) {
	ctx, cancel := r.contained(ctx)
	defer cancel()
	defer func() { // even after a failed Connect
		if closing := guard(ctx, "closing", r.spec.Source.Close); closing != nil {
			err = fmt.Errorf("%w; %w", err, closing)
		}
	}()
	if err := within(ctx, r.spec.Connect, "connecting", r.spec.Source.Connect); err != nil {
		return err
	}
	r.source.stepped.Store(nil)
	r.hub.connected(r.source)
	proof := r.hub.clock.Now().steady()
	for {
		var c Change
		err := within(ctx, nextLimit, "reading", func(ctx context.Context) (err error) {
			c, err = r.spec.Source.Next(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if why := r.source.stepped.Load(); why != nil {
			return *why
		}
		r.apply(ctx, c)
		now := r.hub.clock.Now().steady()
		if len(c.Alive) > 0 {
			proof = now
		}
		listed, silence := r.hub.progress(r.source)
		if listed && l.Listed.IsZero() {
			l.Listed = now
		}
		if limit := max(nextLimit, 2*silence); now.Sub(proof) > limit {
			return fmt.Errorf("reading: %w for %v", ErrSilent, limit)
		}
	}
}

// within calls a method of the source with a time-out.
func within(ctx context.Context, limit time.Duration, doing string, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w within %v", ErrSilent, limit))
	defer cancel()
	return guard(ctx, doing, func() error { return WithContextCause(ctx, call(ctx)) })
}

// WithContextCause adds the cause of the context's end to the error that resulted from it. The sentence of a Problem
// does not change.
func WithContextCause(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, context.Cause(ctx)) {
		return err
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		told := *p
		told.Cause = errors.Join(p.Cause, context.Cause(ctx))
		return &told
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err)
}

// contained returns a context for one connection. A panic in a goroutine that is started under it ends the context,
// because one bad source must not end the program or hide the others.
func (r *runner) contained(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	return spawn.With(ctx, func(p *spawn.Panic) {
		r.log.Error("panic in a source", "panic", fmt.Sprint(p.Value), "stack", string(p.Stack))
		cancel(p)
	}), func() { cancel(nil) }
}

// guard calls one method of the source. A panic in it becomes its error.
func guard(ctx context.Context, doing string, call func() error) error {
	err := spawn.Call(ctx, call)
	if errors.Is(err, spawn.ErrPanic) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return err
}

const (
	// sliceRows bounds the rows that the Hub applies at a time: this holds its lock for some 1 ms.
	sliceRows = 200
	// After a slice the readers of events catch up, for at least one step. The Hub waits until they
	// have, but no longer than mostSteps, or mostIdle steps in which they read nothing.
	catchUpStep = 8 * time.Millisecond
	mostSteps   = 12
	mostIdle    = 3
)

// apply passes a Change to the Hub in slices. Between them the Hub applies Changes of other sources, so that a long
// listing delays the events of others by at most one slice.
func (r *runner) apply(ctx context.Context, c Change) {
	if c.Synced {
		c.Gone = slices.Concat(c.Gone, r.hub.unlisted(r.source, &c))
	}
	for i, part := range c.slices() {
		if i > 0 && r.beside {
			r.hub.catchUp(ctx)
		}
		r.hub.apply(r.source, part)
	}
}

// unlisted returns the rows that are gone because the listing that c ends does not have them, except those that may be
// free, which model.synced handles.
func (h *Hub) unlisted(f *hubSource, c *Change) (refs []Ref) {
	set := make(map[Ref]struct{}, len(c.Set))
	for _, p := range c.Set {
		set[p.Ref] = struct{}{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, row := range h.model.rows {
		if row == nil || h.model.scopes[row.Scope] != f.scopes[c.Scope] || row.Listing == f.scopes[c.Scope].Listing && !c.Relists {
			continue
		}
		if _, ok := set[row.Ref]; !ok && !row.mayBeFree() {
			refs = append(refs, row.Ref)
		}
	}
	return refs
}

// catchUp waits for the readers of events.
func (h *Hub) catchUp(ctx context.Context) {
	last := uint64(math.MaxUint64)
	for n, idle := 0, 0; n < mostSteps && idle < mostIdle && backoff.Sleep(ctx, catchUpStep) == nil; n, idle = n+1, idle+1 {
		unread := h.model.ring.unread()
		if unread == 0 {
			return
		}
		if unread < last {
			idle, last = 0, unread
		}
	}
}

// slices cuts c into Changes that together have the same effect. The first has Relists, the last Synced. All facts
// about a row are in one slice.
func (c *Change) slices() []Change {
	rows := len(c.Set) + len(c.Gone)
	if rows <= sliceRows {
		return []Change{*c}
	}
	var parts []Change
	part := map[Ref]int{} // index of a row's slice
	for from := 0; from < rows; from += sliceRows {
		to := min(from+sliceRows, rows)
		p := Change{Scope: c.Scope, After: c.After, At: c.At}
		p.Set = c.Set[min(from, len(c.Set)):min(to, len(c.Set))]
		p.Gone = c.Gone[max(from-len(c.Set), 0):max(to-len(c.Set), 0)]
		if len(c.Ended)+len(c.Unseen) > 0 {
			for _, set := range p.Set {
				part[set.Ref] = len(parts)
			}
			for _, ref := range p.Gone {
				part[ref] = len(parts)
			}
		}
		parts = append(parts, p)
	}
	of := func(ref Ref) *Change {
		n, ok := part[ref]
		if !ok {
			n = len(parts) - 1
		}
		return &parts[n]
	}
	for _, e := range c.Ended {
		p := of(e.Ref)
		p.Ended = append(p.Ended, e)
	}
	for _, u := range c.Unseen {
		p := of(u.Ref)
		p.Unseen = append(p.Unseen, u)
	}
	first, last := &parts[0], &parts[len(parts)-1]
	first.Relists, first.About, first.Alive = c.Relists, c.About, c.Alive
	last.Synced, last.Down = c.Synced, c.Down
	return parts
}

var (
	// refusedPause is the pause after ErrRefused, because a person has to change something first, at an unknown time.
	refusedPause = backoff.Policy{Min: 5 * time.Second, Max: 5 * time.Second}
	// spacing is the minimum time between the starts of two connections that list everything. It protects a server that
	// ends each connection at once.
	spacing = backoff.Policy{Min: time.Second, Max: time.Second}
)

// longestRest bounds the pause after a long listing.
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

// rest waits until the pause is over, a refresh is requested, or ctx ends.
func (r *runner) rest(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-r.source.hurry: // an old request, which the failed attempt has served
	default:
	}
	select {
	case <-timer.C:
	case <-r.source.hurry:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// Life is one connection of a source, or of a part of it, from the call that opens it to its failure. Its times are
// from a clock that is never set.
type Life struct {
	Began, Ended time.Time
	Listed       time.Time // when everything had been read; zero if never
}

// Pauses computes the pauses between the connections of a source, or of a part of it. It is not
// safe for concurrent use.
type Pauses struct{ retry, refused, spacing *backoff.Backoff }

// NewPauses returns Pauses that grow by retry.
func NewPauses(retry backoff.Policy) *Pauses {
	return &Pauses{retry: retry.Start(), refused: refusedPause.Start(), spacing: spacing.Start()}
}

// After returns the pause between a connection that ended with err and the next one. The pauses grow until a connection
// has read everything. After such a connection they start short again. They have two lower bounds: the spacing, and a
// pause such that connecting and reading everything take at most half of the time.
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
