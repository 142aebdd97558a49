package redissource

import (
	"cmp"
	"slices"
	"time"

	"coordtop/sources"
)

// sight is a look at one key, with the earlier state of the key.
type sight struct {
	link *link
	k    *key
	old  key                // state of k before the look
	now  facts              // of the look
	p    *sources.Primitive // the row of the look, without the lease; nil if the row is the same as before
	r    *reading
	n    notice // the pushes about the key; zero if none

	starting bool      // the first sweep is still running
	listed   time.Time // start of the last complete listing; zero if none
}

// pushed reports whether a push caused the look.
func (s *sight) pushed() bool { return !s.n.first.IsZero() }

func (s *sight) differs() bool { return s.k.differs(&s.now, s.r) }

// ownersDiffer reports whether an owner came or went.
func (s *sight) ownersDiffer() bool {
	return s.old.shown.all != 0 && s.old.shown.ids != s.now.ids
}

// lastedUntilOver reports whether an owner is gone and its lease had ended before the look was sent.
func (s *sight) lastedUntilOver() bool {
	return !s.old.ends.at.IsZero() && !s.r.sent.Before(s.old.ends.at) && s.ownersDiffer()
}

// patience bounds the delay of a push after a read that already shows its change.
const patience = 10 * time.Millisecond

// mayBePushed reports whether a key that differs should be read again in a moment, because a push is probably about to
// arrive: the first one, or the event that explains why an owner is gone. The end of a lease is not pushed.
func (s *sight) mayBePushed() bool {
	k := s.k
	if !k.pushed || k.doubted || k.stale || s.starting || !s.differs() {
		return false
	}
	if s.pushed() && (s.link.push.mode != modeEvents || !s.unexplained()) {
		return false
	}
	return s.r.shape != missing || k.ends.at.IsZero() || s.r.got.Before(k.ends.at)
}

// unexplained reports whether an owner is gone and no event explains it.
func (s *sight) unexplained() bool {
	return s.ownersDiffer() && s.old.shown.owners == 1 && ending(&s.old, &s.now, s.n) == nil
}

// longestDoubt bounds the delay of the report of a lease's end, which waits for the proof that nothing was pushed.
const longestDoubt = 300 * time.Millisecond

// mayBeHeldUp reports whether an owner is gone and its lease is over, but a push may arrive that shows an earlier
// release. The next answered ping decides.
func (s *sight) mayBeHeldUp() bool {
	return !s.pushed() && !s.old.stale && s.link.tracks(s.k) && s.lastedUntilOver() &&
		s.link.unpushedUntil(s.k).Before(s.old.ends.at) && s.r.got.Sub(s.old.ends.at) < longestDoubt
}

// maybeRenewed reports whether the owner of a polled key is gone and its lease may have ended, but the owner may also
// have renewed and then released the lock since the last look.
func (s *sight) maybeRenewed() bool {
	over := s.old.ends.after
	return !s.k.pushed && !s.old.stale && !s.old.ends.at.IsZero() && s.ownersDiffer() && s.old.shown.owners == 1 &&
		s.r.got.After(over) && over.Sub(s.old.sent) > s.link.readHeartbeat.now().tolerance()
}

// unseen reports since when the key may have had owners that were never seen. ok is true if a free key was written to
// and not read promptly, or a polled key was not read when due (once every sampling). After the end of a lease, it may
// have been renewed and the lock released early.
func (s *sight) unseen(sampling time.Duration) (from time.Time, ok bool) {
	if s.old.stale || s.old.shown.all == 0 || s.old.shown.ownersHow == sources.Unknown {
		return from, false
	}
	owned := s.old.shown.owners > 0
	switch {
	case !s.k.pushed: // its owner may also have lost it and acquired it again
		return s.old.sent, sources.Missed(s.r.got.Sub(s.old.sent), sampling)
	case owned && !(s.link.tracks(s.k) && s.lastedUntilOver()):
		return from, false
	case s.pushed():
		return sources.Later(s.old.sent, s.n.floor), !s.n.prompt(s.r.got, s.link.heartbeat.now().tolerance())
	}
	from = sources.Later(s.old.sent, s.link.unpushedUntil(s.k))
	return from, owned && from.Before(s.old.ends.after)
}

// when returns the span in which the key changed. Without a push that is the time between two looks; but if pushes
// would have shown an earlier end, a lease lasted until its deadline.
func (s *sight) when() span {
	in := span{s.old.sent, s.r.got}
	switch {
	case s.old.stale:
		in.after = sources.Later(in.after, s.old.proved)
	case s.old.sent.IsZero() && s.starting:
	case s.pushed():
		tolerance := s.link.heartbeat.now().tolerance()
		in = s.leaseOver(told(in, s.r, s.n, tolerance), tolerance)
	case s.old.sent.IsZero():
		in.after = s.listed
	case s.link.tracks(s.k) && s.lastedUntilOver():
		in.after = sources.Later(in.after, sources.Earlier(s.old.ends.after, s.link.unpushedUntil(s.k)))
	}
	return in
}

// leaseOver extends the span of a push back to the earliest end of the lease, because the server pushes the deletion or
// the next take, and both are later than the end.
func (s *sight) leaseOver(in span, tolerance time.Duration) span {
	ends := s.old.ends
	switch {
	case ends.at.IsZero() || !s.ownersDiffer() || !in.at.After(ends.after):
	case !in.after.IsZero():
		in.after = sources.Earlier(in.after, sources.Later(ends.after, s.old.sent))
	case s.r.shape == missing || in.at.Sub(ends.after) > tolerance:
		in.after = ends.after
	}
	return in
}

// ended returns the reason why an owner is gone, without its Ref, or nil if it is unknown. dataLost is true if the
// server was restarted and lost its data, evicted if the server may have dropped the key.
func (s *sight) ended(dataLost, evicted bool) *sources.Ending {
	if e := ending(&s.old, &s.now, s.n); e != nil || !s.ownersDiffer() || s.old.shown.owners != 1 {
		return e
	}
	e := &sources.Ending{Owner: s.old.shown.owner, How: sources.Inferred}
	switch {
	case s.maybeRenewed(), evicted:
	case dataLost && s.old.stale && (s.old.ends.at.IsZero() || s.r.got.Before(s.old.ends.after)): // the lease could not have been over
		e.Cause = sources.CauseRestart
	default:
		return nil
	}
	return e
}

// finding is one key that differs, with the time of the change.
type finding struct {
	unread *sources.Primitive // to be sent first; may be nil
	prim   *sources.Primitive
	when   span
	since  time.Time // when its old owners (or none) were last seen; zero if the owners are the same
	ended  *sources.Ending
}

// changes groups findings by when they happened, the earliest first.
func changes(list []finding) []sources.Change {
	slices.SortStableFunc(list, func(a, b finding) int {
		return cmp.Or(a.when.at.Compare(b.when.at), a.when.after.Compare(b.when.after))
	})
	out := make([]sources.Change, 0, len(list))
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

// told narrows s by a push. A pushed change happened after the last ping was sent that was answered before the push
// arrived, because the server answers in order. If both that ping and the look are within the tolerance, the change
// counts as made at the instant of the push.
func told(s span, r *reading, n notice, tolerance time.Duration) span {
	if n.prompt(r.got, tolerance) {
		return span{at: n.last}
	}
	if n.floor.After(s.after) && n.floor.Before(n.first) {
		s.after = n.floor
	}
	return s
}

// ending returns the reason why the owner in before is gone, without its Ref, if the server reported it or it follows
// from a flush; else nil. now may show another owner.
func ending(before *key, now *facts, n notice) *sources.Ending {
	was := &before.shown
	if was.owners != 1 || was.ids == now.ids || now.ownersHow == sources.Unknown {
		return nil
	}
	e := &sources.Ending{Owner: was.owner, How: sources.Told}
	written := false
	for _, event := range n.events {
		switch cause := eventCauses[event]; cause {
		case sources.CauseUnknown:
		case sources.CauseReplaced:
			written = true
		default:
			// An earlier write may have been the owner's own proclamation, or the write of the next owner.
			if e.Cause = cause; written {
				e.How = sources.Inferred
			}
			return e
		}
	}
	if written && now.owners > 0 {
		e.Cause = sources.CauseReplaced
		return e
	}
	if n.flush && now.owners == 0 && (was.noExpiry || n.last.Before(before.ends.after)) {
		e.Cause, e.How = sources.CauseDeleted, sources.Inferred
		return e
	}
	return nil
}

// eventCauses maps keyspace events to the cause of an ownership's end; other events end none. A renewal or proclamation
// that rewrites the value is also a "set", but the owner stays. The map never changes.
var eventCauses = map[string]sources.Cause{
	"del": sources.CauseReleased, "expired": sources.CauseExpired,
	"evicted": sources.CauseDeleted, "rename_from": sources.CauseDeleted, "move_from": sources.CauseDeleted,
	"set": sources.CauseReplaced, "rename_to": sources.CauseReplaced, "restore": sources.CauseReplaced, "move_to": sources.CauseReplaced, "copy_to": sources.CauseReplaced,
}
