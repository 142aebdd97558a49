package sources

import (
	"cmp"
	"time"
)

// diff appends the events of one primitive between two looks, in the order in which they must be applied: ends before
// beginnings, one event for each. The events have no numbers and no Gap yet, because those need more than two looks.
// before is nil if the primitive was never seen, after is nil if it is gone. A primitive that was not read (At zero)
// has no events.
func (l *look) diff(events []Event, before, after *Primitive) []Event {
	switch {
	case after == nil && !read(before), after != nil && !read(after):
		return events
	case after == nil:
		return l.vanished(events, before)
	case after.Absent && !read(before):
		return append(events, l.first(EventAbsent, after, AtLeast))
	case after.Absent && before.Absent:
		return events
	case after.Absent:
		return l.vanished(events, before)
	case !read(before), before.Absent:
		return l.appeared(events, before, after)
	}
	switch {
	case l.madeUp(before, after):
		events = l.ownerUnknown(events, before, after)
		return l.waitersPresent(l.present(events, after), after)
	case ownersKnown(after) && ownersKnown(before):
		events = l.owners(events, before, after)
	case ownersKnown(after):
		events = l.present(events, after)
	case !counted(after):
		events = l.ownerUnknown(events, before, after)
	default:
		events = l.counts(events, before.Counts(), after)
	}
	return l.waiters(events, l.withQueue(before), after)
}

// counts appends the change of a semaphore's numbers if its owners are unknown.
func (l *look) counts(events []Event, was Counts, after *Primitive) []Event {
	now := after.Counts()
	was.Limit = cmp.Or(was.Limit, now.Limit) // learning the limit is no change
	if was == now || ownersKnown(after) {
		return events
	}
	e := l.event(EventCountChanged, after)
	e.Was, e.Now, e.Detail = was, now, now.Text()+"; before "+was.Text()
	return append(events, e)
}

// Counts returns the numbers of p.
func (p *Primitive) Counts() Counts {
	c := Counts{Taken: p.Taken, Waiting: uint64(p.Queue.Len)}
	if p.LimitHow != Unknown {
		c.Limit = p.Limit
	}
	return c
}

// ownerUnknown appends the event that the owners are unknown from now on, if they were known before.
func (l *look) ownerUnknown(events []Event, before, after *Primitive) []Event {
	if !ownersKnown(before) {
		return events
	}
	e := l.event(EventOwnerUnknown, after)
	e.Detail = after.Note
	if len(before.Owners) == 1 {
		e.Last = before.Owners[0].ref()
	}
	return append(events, e)
}

// appeared appends the events of a first look. A configured primitive that is read for the first time counts as having
// existed before; a primitive that was read as absent does not.
func (l *look) appeared(events []Event, before, after *Primitive) []Event {
	if l.found(before) {
		return l.waitersPresent(l.present(events, after), after)
	}
	if after.ForgetAfter == 0 {
		e := l.event(EventCreated, after)
		e.SetData(after, nil)
		events = append(events, e)
	}
	for i := range after.Owners {
		events = append(events, l.acquired(after, &after.Owners[i]))
	}
	return l.joined(l.counts(events, Counts{}, after), nil, after)
}

// first returns an event about the state at the first look.
func (l *look) first(kind EventKind, p *Primitive, how Known) Event {
	e := l.event(kind, p)
	if e.After, e.How = (time.Time{}), how; p.Absent || how == Unknown {
		e.Detail = p.Note
	}
	return e
}

func (l *look) present(events []Event, p *Primitive) []Event {
	if !ownersKnown(p) {
		e := l.first(EventPresent, p, Unknown)
		if counted(p) {
			e.Now = p.Counts()
			e.Detail = cmp.Or(e.Detail, e.Now.Text())
		}
		return append(events, e)
	}
	e := l.first(EventPresent, p, AtLeast)
	if len(p.Owners) == 0 {
		e.Detail = p.MaybeMisspelt()
		e.SetData(p, nil)
		return append(events, e)
	}
	for i := range p.Owners {
		e.Owner = p.Owners[i].ref()
		e.SetData(p, &p.Owners[i])
		events = append(events, e)
	}
	return events
}

func (l *look) vanished(events []Event, before *Primitive) []Event {
	follows := CauseDeleted
	if !l.after.IsZero() { // an owner may have released it before
		follows = CauseUnknown
	}
	for i := range before.Owners {
		events = append(events, l.end(before, &before.Owners[i], follows))
	}
	events = l.left(events, l.withQueue(before), nil)
	if before.ForgetAfter == 0 {
		events = append(events, l.event(EventDeleted, before))
	}
	return events
}

// owners appends the events of owners that appeared, went or changed.
func (l *look) owners(events []Event, before, after *Primitive) []Event {
	follows := CauseUnknown
	if l.restarts {
		follows = CauseRestart
	}
	start := len(events)
	events = l.ends(events, before, after, follows)
	ended := len(events) - start
	events = l.begins(events, before, after)
	if l.revealed && len(events) == start { // no owner came or went since the last reading
		events = l.present(events, after)
	}
	if ended == 1 && len(events)-start == 2 && l.replaces(before, after, &events[start], &events[start+1]) {
		events[start] = l.replacement(&events[start], &events[start+1])
		events = events[:start+1]
	}
	if l.restarts {
		return events
	}
	return l.continued(events, before, after)
}

func (l *look) ends(events []Event, before, after *Primitive, follows Cause) []Event {
	now := finder{look: l, owners: after.Owners}
	for i := range before.Owners {
		if o := &before.Owners[i]; now.find(o) < 0 {
			events = append(events, l.end(before, o, follows))
		}
	}
	return events
}

func (l *look) begins(events []Event, before, after *Primitive) []Event {
	for i := range after.Owners {
		if l.old(before, i) == nil {
			e := l.acquired(after, &after.Owners[i])
			if after.conflict() {
				other := &after.Owners[0]
				if i == 0 {
					other = &after.Owners[1]
				}
				e.Detail = "while " + cmp.Or(other.Label, other.ID) + " owns it too"
			}
			events = append(events, e)
		}
	}
	return events
}

// continued appends the changes of owners that continue, and of the primitive's data.
func (l *look) continued(events []Event, before, after *Primitive) []Event {
	data := after.Data.changed(before.Data)
	stays := !after.Ephemeral
	for i := range after.Owners {
		o, old := &after.Owners[i], l.old(before, i)
		if old == nil {
			continue
		}
		stays = true
		l.unproved = l.unproved || !sameGrant(old, o)
		if l.doubts(old, o) { // the owner's renewals in the dark are unknown
		} else if renewed(old, o) {
			e := l.event(EventRenewed, after)
			e.Owner = o.ref()
			if !l.darkened() {
				e.LeaseLeft = leaseLeft(old, l.at)
			}
			events = append(events, e)
		} else if e, ok := l.leaseChanged(after, old, o, before.At); ok {
			events = append(events, e)
		}
		if o.Data.changed(old.Data) {
			events = append(events, l.proclaimed(after, o, o.Data))
			data = data && len(after.Owners) > 1 // one event is enough
		}
	}
	if data && stays { // the data of an ephemeral primitive ended with its last owner
		var who *Owner
		if len(after.Owners) == 1 {
			who = &after.Owners[0]
		}
		events = append(events, l.proclaimed(after, who, after.Data))
	}
	return events
}

func (o *Owner) ref() OwnerRef { return OwnerRef{ID: o.ID, Label: o.Label, Fence: o.Fence} }

func (l *look) ending(owner string) *Ending {
	return find(l.ended, func(e *Ending) bool { return e.Owner == owner })
}

// end returns the event that o lost p. The cause is the first of these that is known: the one told by the service; one
// that follows from the look as a whole (a restart, a deletion); one by the lease. By the lease, the ownership expired
// if the lease was over, and was released if the lease was not over and no look was missed.
func (l *look) end(p *Primitive, o *Owner, follows Cause) Event {
	e := l.event(EventReleased, p)
	e.Previous = o.ref()
	if !l.darkened() { // else a renewal may have been missed
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
	case leaseOver(o, l.at) && l.darkened() && !leasePast(o, l.darkFrom): // it may have been released before, or renewed and then released, in the dark
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

// replaces reports whether one end and one beginning in the same look are a replacement: if two owners exclude each
// other, the second followed the first. If the same owner returns after a restart, or in another mode, there are two
// events, because no other owner took over.
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

// replacement merges an end and a beginning. A release by the old owner is only a guess here, because the key may have
// been overwritten.
func (l *look) replacement(end, begin *Event) Event {
	e := *begin
	e.Kind = EventOwnerChanged
	e.Previous, e.LeaseLeft, e.Cause, e.How = end.Previous, end.LeaseLeft, end.Cause, end.How
	if e.Cause == CauseReleased && e.How != Ours && l.ending(end.Previous.ID) == nil {
		e.Cause, e.How = CauseUnknown, l.fact()
	}
	return e
}

// waiters compares two whole queues; a queue that is cut, or only a number, has no events. A waiter that became an
// owner did not leave; the owner's event reports it. After a restart all waiters are new.
func (l *look) waiters(events []Event, before, after *Primitive) []Event {
	switch {
	case !after.Queue.whole():
		return events
	case !before.Queue.whole():
		return l.waitersPresent(events, after)
	case l.restarts:
		return l.joined(l.left(events, before, nil), nil, after)
	}
	return l.joined(l.left(events, before, after), before, after)
}

// withQueue returns p, or an older look if only that had a whole queue. Waiters may have come or gone at any time since
// that look.
func (l *look) withQueue(p *Primitive) *Primitive {
	if l.queued == nil || p.Queue.whole() {
		return p
	}
	return l.queued
}

// waitersPresent appends the waiters of a queue that is seen for the first time: they joined at this look or before.
func (l *look) waitersPresent(events []Event, p *Primitive) []Event {
	first := len(events)
	events = l.joined(events, nil, p)
	for i := range events[first:] {
		e := &events[first+i]
		e.After, e.How = time.Time{}, AtLeast
	}
	return events
}

// left appends an event for each waiter of before that does not wait any more. after may be nil.
func (l *look) left(events []Event, before, after *Primitive) []Event {
	return l.moved(events, EventWaiterLeft, before, after, before)
}

// joined appends an event for each waiter of after that did not wait before. before may be nil.
func (l *look) joined(events []Event, before, after *Primitive) []Event {
	return l.moved(events, EventWaiterJoined, after, before, before)
}

// moved appends an event for each waiter of p that is not in the queue of other, which may be nil, nor, if it left,
// among the owners of other. before is the primitive with which the look is compared.
func (l *look) moved(events []Event, kind EventKind, p, other, before *Primitive) []Event {
	if !p.Queue.whole() {
		return events
	}
	e := l.event(kind, p)
	if before != nil && before == l.queued {
		e.After, e.How = lostBefore(l.after, before.At), Seen
	}
	waits := map[waiterKey]bool{}
	if other != nil {
		for i := range other.Queue.Waiters {
			waits[other.Queue.Waiters[i].key()] = true
		}
	}
	for i := range p.Queue.Waiters {
		w := &p.Queue.Waiters[i]
		if waits[w.key()] || kind == EventWaiterLeft && other != nil && l.served(p, other, w) {
			continue
		}
		e.Owner = w.ref()
		events = append(events, e)
	}
	return events
}

// served reports whether a waiter is an owner now. If its session was an owner already, in another mode, only a new
// ownership counts.
func (l *look) served(before, after *Primitive, w *Waiter) bool {
	was := finder{look: l, owners: before.Owners}
	for i := range after.Owners {
		o := &after.Owners[i]
		if (o.ID == w.ID && w.ID != "" || w.Session != "" && o.Session == w.Session) && was.find(o) < 0 {
			return true
		}
	}
	return false
}

type waiterKey struct {
	id, session string
	order       uint64
}

func (w *Waiter) key() waiterKey { return waiterKey{w.ID, w.Session, w.Order} }

func (w *Waiter) ref() OwnerRef { return OwnerRef{ID: w.ID, Label: w.Label} }
