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

// when says in which span a key came to differ from old. Where nothing was pushed that is
// between two looks; a lease that nothing was pushed about lasted until it was over.
func (w *watcher) when(k *key, old previous, p *sources.Primitive, r *reading, n notice) span {
	s := span{old.sent, r.got}
	switch {
	case old.stale:
		s.after = sources.Later(s.after, old.proved)
	case old.sent.IsZero() && w.starting():
	case !n.first.IsZero():
		tolerance := w.heartbeatOf(k).tolerance()
		s = old.leaseOver(told(s, r, n, tolerance), p, r, tolerance)
	case old.sent.IsZero():
		s.after = w.listed
	case w.tracks(k) && old.lastedUntilOver(p, r):
		s.after = sources.Later(s.after, sources.Earlier(old.ends.after, w.unpushedUntil(k)))
	}
	return s
}

// unpushedUntil is up to when it is proved that no change of k was pushed; zero: since the
// last look.
func (w *watcher) unpushedUntil(k *key) time.Time {
	confirmed := w.heartbeatOf(k).confirmedAt()
	if w.inbox.has(k.name) {
		return time.Time{}
	}
	return confirmed
}

// lastedUntilOver reports whether an owner is gone whose lease was over when r was asked for.
func (o previous) lastedUntilOver(p *sources.Primitive, r *reading) bool {
	return !o.ends.at.IsZero() && !r.sent.Before(o.ends.at) && !sameIDs(o.shown.Owners, p.Owners)
}

// leaseOver widens s, in which a push came, by the time since the lease may be over: what is
// pushed is the deletion, or that somebody else took it, and both come later than that.
func (o previous) leaseOver(s span, p *sources.Primitive, r *reading, tolerance time.Duration) span {
	switch {
	case o.ends.at.IsZero() || o.shown == nil || sameIDs(o.shown.Owners, p.Owners) || !s.at.After(o.ends.after):
	case !s.after.IsZero():
		s.after = sources.Earlier(s.after, sources.Later(o.ends.after, o.sent))
	case r.shape == missing || s.at.Sub(o.ends.after) > tolerance:
		s.after = o.ends.after
	}
	return s
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

// endedByRestart says that an owner is gone because the server lost its data, where its lease
// could not have been over.
func (o previous) endedByRestart(p *sources.Primitive, r *reading) *sources.Ending {
	if !o.stale || o.shown == nil || len(o.shown.Owners) != 1 || sameIDs(o.shown.Owners, p.Owners) ||
		!o.ends.at.IsZero() && !r.got.Before(o.ends.after) {
		return nil
	}
	return &sources.Ending{Ref: p.Ref, Owner: o.shown.Owners[0].ID, Cause: sources.CauseRestart, How: sources.Inferred}
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
