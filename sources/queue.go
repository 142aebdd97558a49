package sources

// waiters compares two whole queues. One that is cut, or only a number, names nobody.
// Who got it is told by the owner's event, not as a waiter that left.
func (l *look) waiters(events []Event, before, after *Primitive) []Event {
	if !before.Queue.whole() || !after.Queue.whole() {
		return events
	}
	was, is := waiterSet(before.Queue.Waiters), waiterSet(after.Queue.Waiters)
	for i := range before.Queue.Waiters {
		w := &before.Queue.Waiters[i]
		if is[w.key()] || ownsNow(after, w) {
			continue
		}
		e := l.event(EventWaiterLeft, after)
		e.Owner = w.ref()
		events = append(events, e)
	}
	for i := range after.Queue.Waiters {
		w := &after.Queue.Waiters[i]
		if was[w.key()] {
			continue
		}
		e := l.event(EventWaiterJoined, after)
		e.Owner = w.ref()
		events = append(events, e)
	}
	return events
}

func ownsNow(p *Primitive, w *Waiter) bool {
	for i := range p.Owners {
		o := &p.Owners[i]
		if o.ID == w.ID && w.ID != "" || w.Session != "" && o.Session == w.Session {
			return true
		}
	}
	return false
}

// whole says whether every waiter is listed.
func (q *Queue) whole() bool { return q.How != Unknown && q.Len == len(q.Waiters) }

type waiterKey struct {
	id, session string
	order       uint64
}

func (w *Waiter) key() waiterKey { return waiterKey{w.ID, w.Session, w.Order} }

func waiterSet(waiters []Waiter) map[waiterKey]bool {
	if len(waiters) == 0 {
		return nil
	}
	set := make(map[waiterKey]bool, len(waiters))
	for i := range waiters {
		set[waiters[i].key()] = true
	}
	return set
}

func (w *Waiter) ref() OwnerRef { return OwnerRef{ID: w.ID, Label: w.Label} }
