package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coordtop/sources"
)

const (
	// soon bounds actions that take a healthy source milliseconds, or at most a second.
	soon = 10 * time.Second
	// nextLimit bounds one Next, which should take at most a second; it allows for a busy machine.
	nextLimit = 4 * time.Second
)

// reader reads a source and checks its Changes against the contract.
type reader struct {
	source sources.Source
	last   sources.Change
	scopes map[string]*listing
	prims  map[sources.Ref]*sources.Primitive
	alive  map[string]time.Time // when each scope was last reported alive
}

// listing is the progress of one scope's listing.
type listing struct{ gaps, syncs int }

func open(ctx context.Context, s sources.Source) (*reader, error) {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	if err := s.Connect(ctx); err != nil {
		return nil, fmt.Errorf("Connect: %w", err)
	}
	return &reader{
		source: s,
		scopes: map[string]*listing{},
		prims:  map[sources.Ref]*sources.Primitive{},
		alive:  map[string]time.Time{},
	}, nil
}

// errContract marks a broken promise, in contrast to an ended connection.
var errContract = errors.New("broken promise")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errContract, fmt.Sprintf(format, args...))
}

// next calls Next once and checks the Change. A broken promise wraps errContract; any other error is the source's own.
func (r *reader) next(ctx context.Context) error {
	began := time.Now()
	c, err := r.source.Next(ctx)
	if took := time.Since(began); took > nextLimit {
		return broken("Next took %v; it must return within a second", took.Round(time.Millisecond))
	}
	if err != nil {
		return err
	}
	r.last = c
	return r.take(&c)
}

func (r *reader) take(c *sources.Change) error {
	tells := c.Relists || c.Synced || len(c.Set) > 0 || len(c.Gone) > 0 || len(c.Ended) > 0
	if l := r.scopes[c.Scope]; tells && l == nil {
		if !c.Relists {
			return broken("the first Change of scope %q after Connect has no Gap: %+v", c.Scope, *c)
		}
		r.scopes[c.Scope] = &listing{}
	}
	if l := r.scopes[c.Scope]; tells {
		if c.Relists {
			l.gaps++
		}
		if c.Synced {
			l.syncs++
		}
		if l.syncs > l.gaps {
			return broken("scope %q is told Synced %d times after %d gaps", c.Scope, l.syncs, l.gaps)
		}
	}
	for _, p := range c.Set {
		if p == nil {
			return broken("a nil primitive is Set")
		}
		r.prims[p.Ref] = p
	}
	for _, name := range c.Alive {
		r.alive[name] = time.Now()
	}
	return nil
}

// until reads until done returns true, for at most soon.
func (r *reader) until(ctx context.Context, what string, done func() bool) error {
	limit := time.Now().Add(soon)
	for !done() {
		if time.Now().After(limit) {
			return broken("not within %v: %s", soon, what)
		}
		if err := r.next(ctx); err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
	}
	return nil
}

// synced reads until every scope seen so far is listed and alive.
func (r *reader) synced(ctx context.Context) error {
	return r.until(ctx, "Synced and Alive of every scope", func() bool {
		for name, l := range r.scopes {
			if l.syncs < l.gaps || r.alive[name].IsZero() {
				return false
			}
		}
		for name := range r.alive {
			if r.scopes[name] == nil {
				return false
			}
		}
		return len(r.scopes) > 0
	})
}

// listed opens a source and reads its whole listing.
func listed(ctx context.Context, s sources.Source) (*reader, error) {
	r, err := open(ctx, s)
	if err != nil {
		return nil, err
	}
	return r, r.synced(ctx)
}
