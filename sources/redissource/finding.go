package redissource

import (
	"slices"
	"time"

	"coordtop/sources"
)

// finding is one key that differs, and when it came to.
type finding struct {
	unread *sources.Primitive // to be told first; nil: nothing
	prim   *sources.Primitive
	when   span
	ended  *sources.Ending
}

// changes groups findings by when they happened, the earliest first.
func changes(list []finding) []sources.Change {
	slices.SortStableFunc(list, func(a, b finding) int {
		if c := a.when.at.Compare(b.when.at); c != 0 {
			return c
		}
		return a.when.after.Compare(b.when.after)
	})
	var out []sources.Change
	for _, f := range list {
		if f.unread != nil {
			out = append(out, sources.Change{Set: []*sources.Primitive{f.unread}})
		}
	}
	for i, f := range list {
		if i == 0 || f.when != list[i-1].when {
			out = append(out, sources.Change{After: f.when.after, At: f.when.at})
		}
		c := &out[len(out)-1]
		c.Set = append(c.Set, f.prim)
		if f.ended != nil {
			c.Ended = append(c.Ended, *f.ended)
		}
	}
	return out
}

// told narrows s by what was pushed. What a push tells of happened after the sending of the
// last ping that was answered before it came: the server answers in order. Where that is
// within the tolerance, and so is the look, it is told at the instant of the push.
func told(s span, r *reading, n notice, tolerance time.Duration) span {
	if n.prompt(r.got, tolerance) {
		return span{at: n.last}
	}
	if n.floor.After(s.after) && n.floor.Before(n.first) {
		s.after = n.floor
	}
	return s
}

// ending says why the owner of before is gone, as far as the server told it or it
// follows from a flush. after may have another owner.
func ending(before, after *sources.Primitive, n notice) *sources.Ending {
	if before == nil || len(before.Owners) != 1 || sameIDs(before.Owners, after.Owners) || after.OwnersHow == sources.Unknown {
		return nil
	}
	e := &sources.Ending{Ref: before.Ref, Owner: before.Owners[0].ID, How: sources.Told}
	written := false
	for _, event := range n.events {
		switch cause := eventCause(event); cause {
		case sources.CauseUnknown:
		case sources.CauseReplaced:
			written = true
		default:
			// A value that was written before may have been its own proclamation, or the
			// one that replaced it.
			if e.Cause = cause; written {
				e.How = sources.Inferred
			}
			return e
		}
	}
	if written && len(after.Owners) > 0 {
		e.Cause = sources.CauseReplaced
		return e
	}
	o := &before.Owners[0]
	if n.flush && len(after.Owners) == 0 && (o.NoExpiry || n.last.Before(o.Expires.After())) {
		e.Cause, e.How = sources.CauseDeleted, sources.Inferred
		return e
	}
	return nil
}

// eventCause is what an event says about the end of an ownership, if it is one. A renewal
// or proclamation that rewrites the value is told as "set" too, but then the owner stays.
func eventCause(event string) sources.Cause {
	switch event {
	case "del":
		return sources.CauseReleased
	case "expired":
		return sources.CauseExpired
	case "evicted", "rename_from", "move_from":
		return sources.CauseDeleted
	case "set", "rename_to", "restore", "move_to", "copy_to":
		return sources.CauseReplaced
	}
	return sources.CauseUnknown
}
