package sources

import (
	"fmt"
	"slices"

	"coordtop/internal/ground/format"
)

// whole reports whether the queue lists every waiter.
func (q *Queue) whole() bool { return q.How != Unknown && q.Len == len(q.Waiters) }

// WaitingSince returns the Since of the waiter that has waited longest. Its How is Unknown if there is no waiter or no
// Since is known.
func (q *Queue) WaitingSince() (first Stamp) {
	for i := range q.Waiters {
		if s := q.Waiters[i].Since; s.How != Unknown && !s.At.IsZero() && (first.At.IsZero() || s.At.Before(first.At)) {
			first = s
		}
	}
	return first
}

// Next returns the waiters that are served first: all of the first turn, or the head of the queue if no turn is known.
// The result is empty if no waiter is listed.
func (q *Queue) Next() []Waiter {
	n := 0
	for n < len(q.Waiters) && (n == 0 || q.Waiters[n].Turn != 0 && q.Waiters[n].Turn == q.Waiters[0].Turn) {
		n++
	}
	return q.Waiters[:n]
}

// nextNamed bounds the waiters that NextText names.
const nextNamed = 3

// NextText returns a sentence about the next owners after some owners and waiters have gone: those for whose ID and
// session leaves returns true. If other owners keep the primitive, or too few permits would be free, nobody is next. If
// no owner and no listed waiter would be left, the result is "". The function name returns a waiter's display name.
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
	case p.Kind != KindSemaphore && len(keep) > 0 && (len(next) == 0 || slices.ContainsFunc(keep, func(o Owner) bool { return o.Excludes(&next[0]) })):
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

// Excludes reports whether the owner excludes a waiter. No session waits for what it owns itself, in another mode.
func (o *Owner) Excludes(w *Waiter) bool {
	return (o.Session == "" || o.Session != w.Session) && (o.Mode != Shared || w.Mode != Shared)
}

// KeptText returns the sentence that n other owners keep the primitive.
func KeptText(n int) string {
	if n == 1 {
		return "1 more of its owners keeps it"
	}
	return fmt.Sprintf("%d more of its owners keep it", n)
}
