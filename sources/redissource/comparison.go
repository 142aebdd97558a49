package redissource

import (
	"cmp"
	"slices"
	"time"

	"coordtop/sources"
)

// sight is a look at one key beside what was known of the key before.
type sight struct {
	link *link
	k    *key
	old  key                // k before the look
	now  facts              // what the look shows
	p    *sources.Primitive // the same, without the lease; nil: it shows what was shown before
	r    *reading
	n    notice // what was pushed about the key; zero: nothing

	starting bool      // the first sweep is still running
	listed   time.Time // start of the last complete listing; zero: none
}

// pushed reports whether a push brought about the look.
func (s *sight) pushed() bool { return !s.n.first.IsZero() }

func (s *sight) differs() bool { return s.k.differs(&s.now, s.r) }

// ownersDiffer reports whether an owner came or went.
func (s *sight) ownersDiffer() bool {
	return s.old.shown.all != 0 && s.old.shown.ids != s.now.ids
}

// lastedUntilOver reports whether an owner is gone whose lease was over when the look was asked for.
func (s *sight) lastedUntilOver() bool {
	return !s.old.ends.at.IsZero() && !s.r.sent.Before(s.old.ends.at) && s.ownersDiffer()
}

// patience is how long a push may be behind what a read shows already.
const patience = 10 * time.Millisecond

// mayBePushed reports whether a difference should be looked at again in a moment, because
// a push that says more about it is probably on its way: the first one at all, or the event
// that explains why an owner is gone. A lease that ended is pushed by nobody.
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

// unexplained reports whether an owner is gone and no event says why.
func (s *sight) unexplained() bool {
	return s.ownersDiffer() && s.old.shown.owners == 1 && ending(&s.old, &s.now, s.n) == nil
}

// longestDoubt is how long the end of a lease may wait for the proof that nothing was pushed.
const longestDoubt = 300 * time.Millisecond

// mayBeHeldUp reports whether an owner is gone whose lease is over, and a push may be on its
// way that says it gave it up before. The next answered ping settles it.
func (s *sight) mayBeHeldUp() bool {
	return !s.pushed() && !s.old.stale && s.link.tracks(s.k) && s.lastedUntilOver() &&
		s.link.unpushedUntil(s.k).Before(s.old.ends.at) && s.r.got.Sub(s.old.ends.at) < longestDoubt
}

// maybeRenewed reports whether the owner of a key that is polled is gone, whose lease may have
// been over, and who may as well have renewed it and given it up since the last look.
func (s *sight) maybeRenewed() bool {
	over := s.old.ends.after
	return !s.k.pushed && !s.old.stale && !s.old.ends.at.IsZero() && s.ownersDiffer() && s.old.shown.owners == 1 &&
		s.r.got.After(over) && over.Sub(s.old.sent) > s.link.readHeartbeat.now().tolerance()
}

// unseen reports since when the key may have been otherwise than it was told. One that was free
// may have been owned by somebody who is not seen: it was written to and not read promptly, or
// it is polled, every sampling, and was not read when that was due. One whose lease is over may
// have been renewed and given up.
func (s *sight) unseen(sampling time.Duration) (from time.Time, ok bool) {
	if s.old.stale || s.old.shown.all == 0 || s.old.shown.ownersHow == sources.Unknown {
		return from, false
	}
	owned := s.old.shown.owners > 0
	switch {
	case !s.k.pushed: // its owner, too, may have lost it and taken it again
		return s.old.sent, sources.Missed(s.r.got.Sub(s.old.sent), sampling)
	case owned && !(s.link.tracks(s.k) && s.lastedUntilOver()):
		return from, false
	case s.pushed():
		return sources.Later(s.old.sent, s.n.floor), !s.n.prompt(s.r.got, s.link.heartbeat.now().tolerance())
	}
	from = sources.Later(s.old.sent, s.link.unpushedUntil(s.k))
	return from, owned && from.Before(s.old.ends.after)
}

// when says in which span the key came to differ. Where nothing was pushed that is between two
// looks; a lease that nothing was pushed about lasted until it was over.
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

// leaseOver widens in, in which a push came, by the time since the lease may be over: what is
// pushed is the deletion, or that somebody else took it, and both come later than that.
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

// ended says why an owner is gone, as far as that is known, without the Ref; nil: it is not. dataLost reports
// whether the server was restarted and lost its data, evicted whether it may have dropped the key.
func (s *sight) ended(dataLost, evicted bool) *sources.Ending {
	if e := ending(&s.old, &s.now, s.n); e != nil || !s.ownersDiffer() || s.old.shown.owners != 1 {
		return e
	}
	e := &sources.Ending{Owner: s.old.shown.owner, How: sources.Inferred}
	switch {
	case s.maybeRenewed(), evicted:
	case dataLost && s.old.stale && (s.old.ends.at.IsZero() || s.r.got.Before(s.old.ends.after)): // its lease could not have been over
		e.Cause = sources.CauseRestart
	default:
		return nil
	}
	return e
}

// finding is one key that differs, and when it came to.
type finding struct {
	unread *sources.Primitive // to be told first; nil: nothing
	prim   *sources.Primitive
	when   span
	since  time.Time // when it was last seen with its old owners, or without; zero: its owners are the same
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
// follows from a flush, without the Ref. now may show another owner.
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
			// A value that was written before may have been its own proclamation, or the
			// one that replaced it.
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

// eventCauses are what events say about the end of an ownership; others are no end. A renewal or
// proclamation that rewrites the value is told as "set" too, but then the owner stays. Nobody changes
// them.
var eventCauses = map[string]sources.Cause{
	"del": sources.CauseReleased, "expired": sources.CauseExpired,
	"evicted": sources.CauseDeleted, "rename_from": sources.CauseDeleted, "move_from": sources.CauseDeleted,
	"set": sources.CauseReplaced, "rename_to": sources.CauseReplaced, "restore": sources.CauseReplaced, "move_to": sources.CauseReplaced, "copy_to": sources.CauseReplaced,
}
