package sources

import (
	"fmt"
	"slices"
	"time"

	"coordtop/internal/ground/format"
)

// waiters compares two whole queues; a queue that is cut, or only a number, has no events.
// A waiter that became an owner did not leave: the owner's event reports it. After a restart
// all waiters are new.
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

// withQueue returns p, or an older look at it where only that had a whole queue. Waiters may have
// come or gone at any time since that look.
func (l *look) withQueue(p *Primitive) *Primitive {
	if l.queued == nil || p.Queue.whole() {
		return p
	}
	return l.queued
}

// waitersPresent appends the waiters of a queue that is seen for the first time: they joined it at
// this look or before.
func (l *look) waitersPresent(events []Event, p *Primitive) []Event {
	first := len(events)
	events = l.joined(events, nil, p)
	for i := range events[first:] {
		e := &events[first+i]
		e.After, e.How = time.Time{}, AtLeast
	}
	return events
}

// left appends the waiters of before that do not wait any more; after nil: none do.
func (l *look) left(events []Event, before, after *Primitive) []Event {
	return l.moved(events, EventWaiterLeft, before, after, before)
}

// joined appends the waiters of after that did not wait before; before nil: none did.
func (l *look) joined(events []Event, before, after *Primitive) []Event {
	return l.moved(events, EventWaiterJoined, after, before, before)
}

// moved appends an event for each waiter of p that is not in the queue of other, which may be nil, nor,
// where it left, among its owners. before is the primitive that the look is compared with.
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

// served reports whether a waiter owns it now. Where its session owned it already, in another
// mode, only a new ownership counts.
func (l *look) served(before, after *Primitive, w *Waiter) bool {
	was := finder{look: l, owners: before.Owners}
	for i := range after.Owners {
		o := &after.Owners[i]
		if (o.ID == w.ID && w.ID != "" || w.Session != "" && o.Session == w.Session) && was.find(o) == nil {
			return true
		}
	}
	return false
}

// whole reports whether every waiter is listed.
func (q *Queue) whole() bool { return q.How != Unknown && q.Len == len(q.Waiters) }

type waiterKey struct {
	id, session string
	order       uint64
}

func (w *Waiter) key() waiterKey { return waiterKey{w.ID, w.Session, w.Order} }

func (w *Waiter) ref() OwnerRef { return OwnerRef{ID: w.ID, Label: w.Label} }

// WaitingSince returns the Since of the waiter that has waited longest. Unknown: there is no waiter, or
// no Since is known.
func (q *Queue) WaitingSince() (first Stamp) {
	for i := range q.Waiters {
		if s := q.Waiters[i].Since; s.How != Unknown && !s.At.IsZero() && (first.At.IsZero() || s.At.Before(first.At)) {
			first = s
		}
	}
	return first
}

// Next returns the waiters that are served first: all of the first turn, or where no turn is
// known the head of the queue. It is empty where no waiter is listed.
func (q *Queue) Next() []Waiter {
	n := 0
	for n < len(q.Waiters) && (n == 0 || q.Waiters[n].Turn != 0 && q.Waiters[n].Turn == q.Waiters[0].Turn) {
		n++
	}
	return q.Waiters[:n]
}

// nextNamed bounds the waiters that NextText names.
const nextNamed = 3

// NextText returns a sentence about the next owners once all owners and waiters have gone for whose ID and
// session leaves returns true. Nobody is next while other owners keep it, or too few permits would be
// free. "": no owner and no listed waiter would be left. name returns a waiter's display name.
func (p *Primitive) NextText(leaves func(id, session string) bool, name func(*Waiter) string) string {
	q := p.Queue
	q.Waiters = slices.DeleteFunc(slices.Clone(q.Waiters), func(w Waiter) bool { return leaves(w.ID, w.Session) })
	var keep []Owner
	var freed uint64
	for _, o := range p.Owners {
		if leaves(o.ID, o.Session) {
			freed += max(o.Permits, 1)
		} else {
			keep = append(keep, o)
		}
	}
	next, free := q.Next(), p.Limit-min(p.Taken-min(freed, p.Taken), p.Limit)
	switch {
	case p.Limited() && freed > 0 && len(next) > 0 && max(next[0].Permits, 1) > free:
		return fmt.Sprintf("nobody: %s, which is first in the queue, needs %d, and only %d of %d permits would be free",
			name(&next[0]), max(next[0].Permits, 1), free, p.Limit)
	case p.Kind != KindSemaphore && len(keep) > 0 && (len(next) == 0 || excluded(keep, &next[0])):
		return "nobody, as long as " + KeptText(len(keep))
	case len(next) == 0:
		return ""
	}
	names := make([]string, len(next))
	for i := range next {
		names[i] = name(&next[i])
	}
	who := format.Series(names, " and ")
	if len(names) > nextNamed {
		who = format.Some(names, nextNamed)
	}
	switch sure := q.How != Inferred; {
	case sure && len(next) == 1:
		return who + " is first in the queue"
	case sure:
		return who + " are first in the queue, together"
	case len(next) == 1:
		return "probably " + who + ": the order of the queue is inferred"
	}
	return "probably " + who + ", together: the order of the queue is inferred"
}

// excluded reports whether a waiter cannot own it beside the owners. Owners of its own session do not count.
func excluded(owners []Owner, w *Waiter) bool {
	return slices.ContainsFunc(owners, func(o Owner) bool {
		return (o.Session == "" || o.Session != w.Session) && (o.Mode != Shared || w.Mode != Shared)
	})
}

// KeptText returns the sentence that n other owners keep it.
func KeptText(n int) string {
	if n == 1 {
		return "1 more of its owners keeps it"
	}
	return fmt.Sprintf("%d more of its owners keep it", n)
}
