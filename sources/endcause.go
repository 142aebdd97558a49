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
	if !l.relisted { // else it may have renewed unseen
		e.LeaseLeft = leaseLeft(o, l.at)
	}
	told := l.ending(o.ID)
	ours := find(l.ours, func(x *expectation) bool { return x.Owner == o.ID })
	decided := l.decision(o.ref(), true)
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
	case leaseOver(o, l.at) && (l.relisted || l.unseen) && !leasePast(o, l.after): // it may have been given up before, or renewed and given up unseen
	case leaseOver(o, l.at):
		e.Cause, e.How = CauseExpired, Inferred
	case leaseKnown(o) && !l.relisted:
		e.Cause, e.How = CauseReleased, Inferred
	}
	if e.Cause == CauseExpired {
		e.Kind, e.LeaseLeft = EventExpired, 0
	}
	return e
}

// decision is how an ownership ended, or else how its lease changed, where that is recorded and
// the lease is not.
func (l *look) decision(who OwnerRef, ended bool) *Event {
	return find(l.decided, func(e *Event) bool {
		return ended && e.Kind.EndsOwner() && e.Previous == who || !ended && e.Kind == EventLeaseChanged && e.Owner == who
	})
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
