package sources

import (
	"slices"
	"time"
)

// sameTerm reports whether two owners of one incarnation can be one uninterrupted ownership.
func sameTerm(a, b *Owner) bool {
	return a.ID == b.ID && sameNumber(a.Fence, b.Fence) && sameNumber(uint64(a.Serial), uint64(b.Serial))
}

// sameNumber reports whether two numbers can be of one ownership; 0: it is not known.
func sameNumber(a, b uint64) bool { return a == b || a == 0 || b == 0 }

// sameGrant reports whether something proves that what an owner has in two looks is one grant,
// whatever happened between them. An equal ID does not, nor does a deadline that moved.
func sameGrant(a, b *Owner) bool {
	return a.Fence != 0 && a.Fence == b.Fence || a.Proof != 0 && a.Proof == b.Proof || sameDeadline(a, b)
}

// sharpDeadline is how doubtful the end of a lease may be that proves anything: one of another
// grant lies as far from it as the two were taken or renewed apart.
const sharpDeadline = 100 * time.Millisecond

// sameDeadline reports whether two readings of the end of a lease agree: then nobody wrote it.
func sameDeadline(a, b *Owner) bool {
	if !leaseKnown(a) || !leaseKnown(b) {
		return false
	}
	x, y := a.Expires, b.Expires
	return max(x.Within(), y.Within()) <= sharpDeadline &&
		x.Earliest().Sub(y.At) <= expiryRounding && y.Earliest().Sub(x.At) <= expiryRounding
}

// goesOn reports whether an owner of the look before and one of this look are one term, be it one
// in doubt. It does not matter which of them is of which look.
func (l *look) goesOn(a, b *Owner) bool {
	switch {
	case !sameTerm(a, b), l.decision(a.ref(), decidedEnd) != nil:
		return false
	case l.restarts:
		return a.Proof != 0 && a.Proof == b.Proof
	}
	return !l.darkened() || sameGrant(a, b) || !l.outlivedBy(a) && !l.outlivedBy(b)
}

// outlivedBy reports whether the server was started in the dark, after the lease of o was over.
func (l *look) outlivedBy(o *Owner) bool {
	return l.started.After(l.darkFrom) && leasePast(o, l.started)
}

// darkened reports whether a stretch since the row was last read was not observed.
func (l *look) darkened() bool { return !l.darkFrom.IsZero() }

// doubts reports whether an owner that goes on may have lost it in the dark, and taken it again.
func (l *look) doubts(before, after *Owner) bool {
	switch {
	case !l.darkened():
		return false
	case l.unread:
		return after.Fence == 0 && after.Proof == 0 && after.Lease == 0
	}
	return !sameGrant(before, after) && l.decision(after.ref(), decidedSame) == nil
}

// looked reports whether what is so known was learned by looking.
func looked(how Known) bool { return how == Seen || how == AtLeast || how == Inferred }

// doubted is since when an owner in doubt owns at least: from this look on. It is not before its
// beginning where that was seen. What the source is told stays.
func (l *look) doubted(told, old Stamp) Stamp {
	if told.How != Unknown && !looked(told.How) {
		return told
	}
	earliest := old.After()
	if old.Happened() {
		earliest = old.Earliest()
	}
	return StampBetween(earliest, l.at, AtLeast)
}

// darkSince is from when on a row was not observed since it was last read, which is now read at a
// time; zero: it was. A stretch in which the scope was silent is over for each row when that is
// read next; one of the row alone is over with the look that ended it.
func (sc *scope) darkSince(row *Row, at time.Time) (from time.Time) {
	earlier := func(d time.Time) {
		if from.IsZero() || d.Before(from) {
			from = d
		}
	}
	for i := len(sc.Dark) - 1; i >= 0 && !sc.Dark[i].From.Before(row.At); i-- {
		earlier(sc.Dark[i].From)
	}
	own := row.OwnersUnknown.stretches()
	for i := len(own) - 1; i >= 0 && own[i].To.After(row.At); i-- {
		if !own[i].To.Before(at) {
			earlier(own[i].From)
		}
	}
	return from
}

// doubtTerms puts the running ones of a list in doubt whose owners are. It copies what it changes.
func (l *look) doubtTerms(list []Term) []Term {
	if len(l.inDoubt) == 0 {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		if list[i].End.How == Unknown && slices.Contains(l.inDoubt, list[i].Owner.ID) {
			list[i].Sure = l.at
		}
	}
	return list
}

// doubtAll puts the owners in doubt that a silence of their scope has ended for, without a look at
// each row: all but those whose next look tells whether they are the same.
func (m *model) doubtAll(sc *scope, from time.Time) {
	for slot, row := range m.rows {
		if row != nil && row.Scope == sc.Index && row.Listing == sc.Listing && len(row.Owners) > 0 {
			m.doubt(slot, from, m.at.Wall)
		}
	}
}

// doubt puts the owners of a row in doubt that was not observed from an instant on to another, in
// which it was as it had been.
func (m *model) doubt(slot int, from, to time.Time) {
	row := m.rows[slot]
	l := look{at: to, darkFrom: from, unread: true}
	p := l.complete(row.Primitive, row.Primitive)
	if p == row.Primitive {
		return
	}
	if len(l.inDoubt) == len(p.Owners) { // the next look has nothing to tell of that stretch
		p.At = to
	}
	row = m.draft(slot)
	row.Primitive = p
	row.Terms = l.doubtTerms(row.Terms)
	row.Counted = row.Counted.doubted(&l)
}
