package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"coordtop/internal/backoff"
	"coordtop/internal/spawn"
)

// Spec is one source to run and how to treat it.
type Spec struct {
	Name    string // unique in a Hub; the Ref.Source of its primitives
	Type    string // "redis", "postgres", "ydb", "dflockd"
	Address string // for people: without user, password and query
	Source  Source
	Owners  OwnerRules     // what its owners, waiters and candidates are called
	Connect time.Duration  // time-out of one Connect; 0: 5 s
	Retry   backoff.Policy // pauses between a failure and the next Connect
	Silence time.Duration  // the least silence limit of its scopes; 0: 3 s
	Agree   int            // see SourceStatus.Agree
	Logger  *slog.Logger   // for retries and panics; nil: nothing is logged
}

const (
	connectLimit = 5 * time.Second
	// nextLimit is how long a Next may take that should take a second, and how long a
	// source may go on without any proof of life, before it is connected anew.
	nextLimit = 15 * time.Second
	// stopLimit is how long Run waits for sources that ignore the end of their context.
	stopLimit = 5 * time.Second
)

// Run runs the sources until ctx ends: it connects each, hands what it tells to h, and
// connects it again after a failure. All of them stand in h.State at once, before any
// has answered. Run returns nil when every source is closed and every goroutine
// joined; an error names sources that cannot be run (nothing is started then), or wraps
// ErrStillRunning. A panic in a source, or in what a source has started, ends its
// connection and no more. One in the Hub itself is told as ctx says (see spawn.With) and
// ends Run, with an error: what was half taken in cannot be relied on.
func Run(ctx context.Context, h *Hub, specs []Spec) error {
	added, err := h.add(specs)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	for i, f := range added {
		r := newRunner(h, f, specs[i])
		r.beside = len(added) > 1
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
	beside bool // others run, too
}

func newRunner(h *Hub, f *hubSource, s Spec) *runner {
	s.Connect = cmp.Or(max(s.Connect, 0), connectLimit)
	log := cmp.Or(s.Logger, slog.New(slog.DiscardHandler))
	return &runner{hub: h, source: f, spec: s, log: log.With("source", s.Name)}
}

// connection makes one connection and reads it until it fails. It never returns nil.
func (r *runner) connection(ctx context.Context, l *Life) (err error) {
	ctx, cancel := r.contained(ctx)
	defer cancel()
	defer func() { // also after a failed Connect
		if closing := guard(ctx, "closing", r.spec.Source.Close); closing != nil {
			err = fmt.Errorf("%w; %w", err, closing)
		}
	}()
	if err := r.connect(ctx); err != nil {
		return err
	}
	r.source.stepped.Store(nil)
	r.hub.connected(r.source)
	proof := r.hub.clock.Now().steady()
	for {
		c, err := r.next(ctx)
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
		if l.Listed.IsZero() && r.hub.listed(r.source) {
			l.Listed = now
		}
		if limit := max(nextLimit, 2*r.hub.longestSilence(r.source)); now.Sub(proof) > limit {
			return fmt.Errorf("reading: %w for %v", ErrSilent, limit)
		}
	}
}

func (r *runner) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.spec.Connect,
		fmt.Errorf("%w within %v", ErrSilent, r.spec.Connect))
	defer cancel()
	return guard(ctx, "connecting", func() error { return WithContextCause(ctx, r.spec.Source.Connect(ctx)) })
}

func (r *runner) next(ctx context.Context) (c Change, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, nextLimit, fmt.Errorf("%w within %v", ErrSilent, nextLimit))
	defer cancel()
	err = guard(ctx, "reading", func() error {
		var err error
		c, err = r.spec.Source.Next(ctx)
		return WithContextCause(ctx, err)
	})
	return c, err
}

// withContextCause adds why the context ended to the error that came of it. A sentence of the
// source stays as it is.
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

// contained returns a context for one connection, which a panic in anything that is started
// under it ends: one bad source must not end the program or hide the others.
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
