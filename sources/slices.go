package sources

import (
	"context"
	"math"
	"slices"
	"time"

	"coordtop/internal/backoff"
)

const (
	// sliceRows is how many rows of a Change the Hub takes at a time: some 1 ms of its lock.
	sliceRows = 200
	// Behind a slice the readers of events catch up: for at least one step, until they have, and no
	// longer than this many steps, or this many in which they read nothing.
	catchUpStep = 8 * time.Millisecond
	mostSteps   = 12
	mostIdle    = 3
)

// apply hands a Change to the Hub, in slices: between them the Hub takes what other sources tell, whose
// events stand no further back for a reader than a slice. So no listing delays the lines of others.
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

// unlisted are the rows that are gone with the listing that c ends; of those that may be free the end of
// the listing decides.
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

// slices are Changes that say together, one after the other, what c says: at first that it lists anew,
// at last that it is whole. What is said of a row stays together.
func (c *Change) slices() []Change {
	rows := len(c.Set) + len(c.Gone)
	if rows <= sliceRows {
		return []Change{*c}
	}
	var parts []Change
	part := map[Ref]int{} // in which a row is
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
