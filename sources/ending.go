package sources

import (
	"slices"
	"time"
)

// sameTerm reports whether two owners of one incarnation can be one uninterrupted ownership.
func sameTerm(a, b *Owner) bool {
	return a.ID == b.ID && sameNumber(a.Fence, b.Fence) && sameNumber(uint64(a.Serial), uint64(b.Serial))
}

// sameNumber reports whether two numbers can be of one ownership; 0 is unknown.
func sameNumber(a, b uint64) bool { return a == b || a == 0 || b == 0 }

// sameGrant reports whether it is proved that an owner has the same grant in two looks,
// whatever happened between them. An equal ID is no proof, nor is a deadline that moved.
func sameGrant(a, b *Owner) bool {
	return a.Fence != 0 && a.Fence == b.Fence || a.Proof != 0 && a.Proof == b.Proof || sameDeadline(a, b)
}

// sharpDeadline bounds the doubt of a lease's end that proves a grant: the deadlines of two grants are as
// far apart as their takes or renewals.
const sharpDeadline = 100 * time.Millisecond

// sameDeadline reports whether two readings of the end of a lease agree: then it was not written in between.
func sameDeadline(a, b *Owner) bool {
	if !leaseKnown(a) || !leaseKnown(b) {
		return false
	}
	x, y := a.Expires, b.Expires
	return max(x.Within(), y.Within()) <= sharpDeadline &&
		x.Earliest().Sub(y.At) <= expiryRounding && y.Earliest().Sub(x.At) <= expiryRounding
}

// goesOn reports whether an owner of the look before and one of this look are one term, maybe
// in doubt. It is symmetric.
func (l *look) goesOn(a, b *Owner) bool {
	switch {
	case !sameTerm(a, b), l.decision(a.ref(), decidedEnd) != nil:
		return false
	case l.restarts:
		return a.Proof != 0 && a.Proof == b.Proof
	}
	return !l.darkened() || sameGrant(a, b) || !l.outlivedBy(a) && !l.outlivedBy(b)
}

// outlivedBy reports whether the server was started in the dark, after the end of o's lease.
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

// looked reports whether a fact of this kind was learned by a look.
func looked(how Known) bool { return how == Seen || how == AtLeast || how == Inferred }

// doubted returns the Since of an owner in doubt: at least from this look on, and no earlier than its
// beginning where that was seen. A Since that the source was told stays.
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

// darkSince returns from when on a row, read now at a time, was not observed since its last read;
// zero: it was. A silence of the scope ends for each row with the next read of that row; a
// stretch of the row alone ends with the look that ended it.
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

// doubtTerms marks the running terms of owners in doubt. It copies a list that it changes.
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

// doubtAll puts the owners in a scope in doubt whose silence has ended without a new listing, except those
// whose next look can prove them the same.
func (m *model) doubtAll(sc *scope, from time.Time) {
	for slot, row := range m.rows {
		if row != nil && row.Scope == sc.Index && row.Listing == sc.Listing && len(row.Owners) > 0 {
			m.doubt(slot, from, m.at.Wall)
		}
	}
}

// doubt puts the owners of a row in doubt that was not observed between two instants and looks the same
// at both.
func (m *model) doubt(slot int, from, to time.Time) {
	row := m.rows[slot]
	l := look{at: to, darkFrom: from, unread: true}
	p := l.complete(row.Primitive, row.Primitive)
	if p == row.Primitive {
		return
	}
	if len(l.inDoubt) == len(p.Owners) { // the next look can prove nothing about that stretch
		p.At = to
	}
	row = m.draft(slot)
	row.Primitive = p
	row.Terms = l.doubtTerms(row.Terms)
	row.Counted = row.Counted.doubted(&l)
}

func (l *look) ending(owner string) *Ending {
	return find(l.ended, func(e *Ending) bool { return e.Owner == owner })
}

// end makes the event that o lost p. The cause told by the service comes first, then one that follows from
// the look as a whole (a restart, a deletion), then one by the lease: after its end it
// expired; before its end, with no look missed in between, it was released.
func (l *look) end(p *Primitive, o *Owner, follows Cause) Event {
	e := l.event(EventReleased, p)
	e.Previous = o.ref()
	if !l.darkened() { // else it may have renewed unseen
		e.LeaseLeft = leaseLeft(o, l.at)
	}
	told := l.ending(o.ID)
	ours := find(l.ours, func(x *Expectation) bool { return x.Owner == o.ID })
	decided := l.decision(o.ref(), decidedEnd)
	switch {
	case decided != nil:
		e.Cause, e.How, e.LeaseLeft = decided.Cause, decided.How, decided.LeaseLeft
	case ours != nil && !leaseOver(o, l.at) && !(told != nil && told.How == Told):
		e.Cause, e.How = ours.Cause, ours.How
	case told != nil:
		e.Cause = told.Cause
		if told.How != Told {
			e.How = Inferred
		}
	case follows != CauseUnknown:
		e.Cause, e.How = follows, Inferred
	case leaseOver(o, l.at) && l.darkened() && !leasePast(o, l.darkFrom): // it may have been released before, or renewed and released unseen
	case leaseOver(o, l.at):
		e.Cause, e.How = CauseExpired, Inferred
	case leaseKnown(o) && !l.darkened():
		e.Cause, e.How = CauseReleased, Inferred
	}
	if e.Cause == CauseExpired {
		e.Kind, e.LeaseLeft = EventExpired, 0
	}
	return e
}

// The decisions by a lease: an ownership ended, the lease was changed, or it is the same grant after
// darkness, which a renewal stands for.
func decidedEnd(e *Event, who OwnerRef) bool    { return e.Kind.EndsOwner() && e.Previous == who }
func decidedChange(e *Event, who OwnerRef) bool { return e.Kind == EventLeaseChanged && e.Owner == who }
func decidedSame(e *Event, who OwnerRef) bool   { return e.Kind == EventRenewed && e.Owner == who }

// decision returns the decision by an owner's lease, where a recording has it in place of the lease; nil:
// there is none of that kind.
func (l *look) decision(who OwnerRef, what func(*Event, OwnerRef) bool) *Event {
	return find(l.decided, func(e *Event) bool { return what(e, who) })
}

// replaces reports whether one end and one beginning in the same look are a replacement: where
// two owners exclude each other, the second followed the first. An owner that comes back after a
// restart, or in another mode, is two events, because no other owner took it.
func (l *look) replaces(before, after *Primitive, end, begin *Event) bool {
	if !single(after) || len(before.Owners) != 1 || len(after.Owners) != 1 || end.Previous.ID == begin.Owner.ID {
		return false
	}
	was, is := &before.Owners[0], &after.Owners[0]
	return (was.Mode == Exclusive || is.Mode == Exclusive) && (was.Session == "" || was.Session != is.Session)
}

// single reports whether p has at most one owner at a time.
func single(p *Primitive) bool {
	return p.Kind == KindElection || p.Kind == KindMutex || p.Limit == 1
}

// replacement merges an end and a beginning. A release by the old owner is only a guess here: its key
// may have been overwritten.
func (l *look) replacement(end, begin *Event) Event {
	e := *begin
	e.Kind = EventOwnerChanged
	e.Previous, e.LeaseLeft, e.Cause, e.How = end.Previous, end.LeaseLeft, end.Cause, end.How
	if e.Cause == CauseReleased && e.How != Ours && l.ending(end.Previous.ID) == nil {
		e.Cause, e.How = CauseUnknown, l.fact()
	}
	return e
}

// Expect announces that we are about to end an ownership ourselves. If that owner is gone within that
// time and no cause is told, its cause is e.Cause; a lease that ran out still counts as expired.
// e.How is one of:
//
//   - Unknown: we do it ourselves; the end is [Ours].
//   - Inferred: a service was asked to do it and has not answered. An end that is seen before the
//     answer may still be the owner's own.
//   - Told: the service answered that it has done it; an expected end that was not seen yet is
//     [Ours].
//
// The first end of that owner uses up the expectation, whatever its cause. within 0 withdraws the
// expectation.
func (h *Hub) Expect(e Ending, within time.Duration) {
	h.enter(nil, &Input{Kind: InputExpected, Expected: &Expected{Ending: e, Within: within}})
}

func (m *model) expect(e *Expected) {
	stands := find(m.expectedEnds(e.Ref), func(x *Expectation) bool { return x.Owner == e.Owner }) != nil
	m.expected = slices.DeleteFunc(m.expected, func(x Expectation) bool { return m.at.Mono > x.Until })
	if e.Within > 0 && e.How == Told && !stands { // its end was seen already
		return
	}
	m.dropExpected(e.Ref, e.Owner)
	if e.Within <= 0 {
		return
	}
	x := Expectation{Ending: e.Ending, Until: m.at.Mono + e.Within}
	if x.How != Inferred {
		x.How = Ours
	}
	m.expected = append(m.expected, x)
}

// ForcedWithin bounds the time from the sending of a forced release until its end is seen.
const ForcedWithin = 15 * time.Second

// Forced reports whether an action may have ended the ended term t by force: the owner and the time agree.
func Forced(t *Term, action *Event) bool {
	return action.Kind == EventAction && action.Cause == CauseEvicted && action.Previous.ID == t.Owner.ID && t.End.How != Unknown &&
		!action.At.Before(t.Start.At) && (!action.At.After(t.End.At) || t.End.How == Bound) && !t.End.Earliest().After(action.At.Add(ForcedWithin))
}

// Expectation is an end that we bring about, with its deadline.
type Expectation struct {
	Ending
	Until time.Duration // on the monotonic clock
}

// expectedEnds returns the expected ends of owners of ref.
func (m *model) expectedEnds(ref Ref) (ours []Expectation) {
	for _, x := range m.expected {
		if x.Ref == ref && m.at.Mono <= x.Until {
			ours = append(ours, x)
		}
	}
	return ours
}

// useExpectations drops the expectations of owners that are gone: they do not apply to the
// next term of the same owner.
func (m *model) useExpectations(events []Event) {
	for i := range events {
		if e := &events[i]; e.Kind.EndsOwner() {
			m.dropExpected(e.Ref, e.Previous.ID)
		}
	}
}

func (m *model) dropExpected(ref Ref, owner string) {
	m.expected = slices.DeleteFunc(m.expected, func(x Expectation) bool { return x.Ref == ref && x.Owner == owner })
}
