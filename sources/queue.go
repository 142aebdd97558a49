package sources

import (
	"fmt"
	"slices"
	"time"

	"coordtop/internal/ground/format"
)

// waiters compares two whole queues. One that is cut, or only a number, names nobody.
// A waiter that got it is reported by the owner's event, not as one that left. After a restart
// nobody waits as before.
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

// withQueue is the look at p, or an older one where only that had a whole queue. Waiters that
// came or went since that was read did so at any time after it.
func (l *look) withQueue(p *Primitive) *Primitive {
	if l.queued == nil || p.Queue.whole() {
		return p
	}
	return l.queued
}

// waitersPresent tells of a queue that is seen for the first time: its waiters joined it at
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

// left tells who of the waiters of before does not wait any more; after nil: none do.
func (l *look) left(events []Event, before, after *Primitive) []Event {
	return l.moved(events, EventWaiterLeft, before, after, before)
}

// joined tells who of the waiters of after did not wait before; before nil: none did.
func (l *look) joined(events []Event, before, after *Primitive) []Event {
	return l.moved(events, EventWaiterJoined, after, before, before)
}

// moved tells of each waiter of p that other, which may be nil, has neither in its queue nor, where
// it left, as an owner. before is what the look is compared with.
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

// served reports whether a waiter owns it now. Of a session that owned it already, in another
// mode, only an ownership that is new says so.
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

// WaitingSince is since when the one that has waited longest is known to wait. Unknown: nobody is
// known to wait, or since when.
func (q *Queue) WaitingSince() (first Stamp) {
	for i := range q.Waiters {
		if s := q.Waiters[i].Since; s.How != Unknown && !s.At.IsZero() && (first.At.IsZero() || s.At.Before(first.At)) {
			first = s
		}
	}
	return first
}

// Next are the waiters that are served first: all of the first turn, or where no turn is
// known the head of the queue. It is empty where nobody is told.
func (q *Queue) Next() []Waiter {
	n := 0
	for n < len(q.Waiters) && (n == 0 || q.Waiters[n].Turn != 0 && q.Waiters[n].Turn == q.Waiters[0].Turn) {
		n++
	}
	return q.Waiters[:n]
}

// nextNamed is how many of the next waiters NextText names.
const nextNamed = 3

// NextText says who is served next once all owners and waiters are gone that leaves reports by their
// IDs and sessions, as surely as that is known: also that nobody is, because others keep it or too few
// permits would be free. "": nobody keeps it, and no waiter is told. name is what a waiter is called.
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

// excluded reports whether a waiter cannot own it beside the owners. Its own session is no obstacle.
func excluded(owners []Owner, w *Waiter) bool {
	return slices.ContainsFunc(owners, func(o Owner) bool {
		return (o.Session == "" || o.Session != w.Session) && (o.Mode != Shared || w.Mode != Shared)
	})
}

// KeptText is the sentence that n owners are left beside those who are gone.
func KeptText(n int) string {
	if n == 1 {
		return "1 more of its owners keeps it"
	}
	return fmt.Sprintf("%d more of its owners keep it", n)
}
