package sources

func (l *look) ending(owner string) *Ending {
	return find(l.ended, func(e *Ending) bool { return e.Owner == owner })
}

// end tells how o lost p. The cause that the service told comes first, then one that follows from
// the look as a whole (a restart, a deletion), then that of its lease: after its end it
// expired; before its end, with nothing missed in between, it was given up.
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
	case leaseOver(o, l.at) && l.darkened() && !leasePast(o, l.darkFrom): // it may have been given up before, or renewed and given up unseen
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

// What a lease decided: that an ownership ended, that the lease was changed, or that it is the same
// grant behind darkness, which a renewal stands for.
func decidedEnd(e *Event, who OwnerRef) bool    { return e.Kind.EndsOwner() && e.Previous == who }
func decidedChange(e *Event, who OwnerRef) bool { return e.Kind == EventLeaseChanged && e.Owner == who }
func decidedSame(e *Event, who OwnerRef) bool   { return e.Kind == EventRenewed && e.Owner == who }

// decision is what the lease of an owner decided, where that is recorded and the lease is not; nil:
// nothing of that kind.
func (l *look) decision(who OwnerRef, what func(*Event, OwnerRef) bool) *Event {
	return find(l.decided, func(e *Event) bool { return what(e, who) })
}

// replaces reports whether one end and one beginning in the same look are a replacement: where
// the two cannot own it together, the second followed the first. An owner that comes back after a
// restart, or in another mode, is told as two events, because nobody took it from it.
func (l *look) replaces(before, after *Primitive, end, begin *Event) bool {
	if !single(after) || len(before.Owners) != 1 || len(after.Owners) != 1 || end.Previous.ID == begin.Owner.ID {
		return false
	}
	was, is := &before.Owners[0], &after.Owners[0]
	return (was.Mode == Exclusive || is.Mode == Exclusive) && (was.Session == "" || was.Session != is.Session)
}

// single reports whether at most one can own p.
func single(p *Primitive) bool {
	return p.Kind == KindElection || p.Kind == KindMutex || p.Limit == 1
}

// replacement merges an end and a beginning. That the old owner gave it up is no more
// than a guess here: it may as well have been written over.
func (l *look) replacement(end, begin *Event) Event {
	e := *begin
	e.Kind = EventOwnerChanged
	e.Previous, e.LeaseLeft, e.Cause, e.How = end.Previous, end.LeaseLeft, end.Cause, end.How
	if e.Cause == CauseReleased && e.How != Ours && l.ending(end.Previous.ID) == nil {
		e.Cause, e.How = CauseUnknown, l.fact()
	}
	return e
}
