package fleet

import (
	"slices"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/origin"
)

// NextText returns who is next after a party on a row, in a few words: "host-15", "probably host-15", "nobody else waits".
func (p *Party) NextText(h *Holding, now time.Time) string {
	names := p.Followers(h, now)
	who := format.Some(names, 2)
	switch h.Next {
	case First:
		return who
	case Likely:
		return "probably " + who
	case Counted:
		return "one of " + format.Count(h.Row.Queue.Len) + " that wait"
	case Race:
		if len(names) == 1 {
			return "perhaps " + who
		}
		return "race: " + who
	case Nobody:
		return "nobody else waits"
	case Kept:
		return "others keep it"
	}
	return "?"
}

// Followers returns the labels of those who are next on a row, as far as they are known.
func (p *Party) Followers(h *Holding, now time.Time) (names []string) {
	switch h.Next {
	case Race:
		return rivals(p, h.Row, now.Add(-diagnose.Lookback))
	case First, Likely:
	default:
		return nil
	}
	q := h.Row.Queue
	q.Waiters = slices.DeleteFunc(slices.Clone(q.Waiters), func(w sources.Waiter) bool {
		return KeyOf(p.By, h.Row.Source, origin.OfWaiter(&w)) == p.Key
	})
	for _, w := range q.Next() {
		names = append(names, label(w.Label))
	}
	return names
}

// Sentence answers what happens if the party dies now in one line: "if host-22 goes, these 11 fall, the longest in 30s".
func (p *Party) Sentence(now time.Time) string { return "if " + p.Label() + " goes, " + p.Outcome(now) }

// Outcome is the part of Sentence that says what happens.
func (p *Party) Outcome(now time.Time) (text string) {
	f := &p.Fall
	if f.Rows == 0 {
		return "nothing falls" + p.calm()
	}
	if f.Rows == 1 {
		text = "1 falls"
	} else {
		text = "these " + format.Count(f.Rows) + " fall"
	}
	switch f.Rows {
	case f.Session:
		text += " when " + sessions(f.Rows)
	case f.Lease:
		if lapse := f.lapse(now); f.Rows > 1 {
			text += ", the longest " + lapse
		} else {
			text += " " + lapse
		}
	case f.Unknown:
		text += ", nobody knows when"
	default:
		var parts []string
		if f.Session > 0 {
			parts = append(parts, format.Count(f.Session)+" when "+sessions(f.Session))
		}
		if f.Lease > 0 {
			parts = append(parts, format.Count(f.Lease)+", the longest "+f.lapse(now))
		}
		if f.Unknown > 0 {
			parts = append(parts, format.Count(f.Unknown)+" nobody knows when")
		}
		text += ": " + format.Series(parts, "; ")
	}
	if f.Alone > 0 {
		text += "; nobody else is known for " + count(f.Alone, f.Rows)
	}
	return text
}

// lapse says in how long the last lease ends.
func (f *Fall) lapse(now time.Time) string {
	left := f.Last.Sub(now)
	switch {
	case left <= 0:
		return "at once: the lease is over"
	case f.Sooner:
		return "in " + format.Left(left) + " at most"
	}
	return "in " + format.Left(left)
}

// calm says why nothing falls.
func (p *Party) calm() string {
	f := &p.Fall
	switch {
	case len(p.Owns) == 0 && len(p.Lost) > 0:
		return ": it lost " + format.Count(len(p.Lost)) + ", and nobody took over"
	case len(p.Owns) == 0:
		return ": it owns nothing"
	case f.Never == 0:
		return ": others keep what it owns"
	case f.Kept == 0:
		return ": what it owns has no end, and stays owned"
	}
	return ": others keep " + format.Count(f.Kept) + ", and " + format.Count(f.Never) + " have no end"
}

// count is "it", "all" or a number of them.
func count(n, of int) string {
	switch {
	case n == of && of == 1:
		return "it"
	case n == of:
		return "any of them"
	}
	return format.Count(n) + " of them"
}

// mostNamed bounds the rows that a sentence names.
const mostNamed = 5

// Lines answers what happens if the party dies now in full, a sentence for each thing that does. name returns the name
// of a row for people.
func (p *Party) Lines(now time.Time, name func(sources.Ref) string) (lines []string) {
	say := func(one, many string, which func(h *Holding) bool) {
		var names []string
		n := 0
		for i := range p.Owns {
			if h := &p.Owns[i]; which(h) {
				if n++; n <= mostNamed {
					names = append(names, label(name(h.Row.Ref)))
				}
			}
		}
		switch n {
		case 0:
		case 1:
			lines = append(lines, "1 row "+one+": "+names[0])
		default:
			lines = append(lines, format.Count(n)+" rows "+many+": "+format.SomeOf(names, mostNamed, n))
		}
	}
	f := &p.Fall
	ends := func(e Ends) func(*Holding) bool { return func(h *Holding) bool { return h.Falls() && h.ends == e } }
	next := func(n Next) func(*Holding) bool { return func(h *Holding) bool { return h.Falls() && h.Next == n } }
	say("falls when the server notices that its session has ended", "fall when the server notices that their sessions have ended", ends(WithSession))
	say("falls "+f.span(now)+", when its lease runs out", "fall "+f.span(now)+", when their leases run out", ends(WithLease))
	say("falls, nobody knows when", "fall, nobody knows when", ends(EndUnknown))
	say("stays owned: no lease and no session ends it", "stay owned: no lease and no session ends them", func(h *Holding) bool { return h.Next != Kept && h.ends == Never })
	told := 0
	for i := range p.Owns {
		if h := &p.Owns[i]; h.Falls() && !h.Next.alone() {
			if told++; told <= mostNamed {
				lines = append(lines, label(name(h.Row.Ref))+" goes to "+p.nextSentence(h, now))
			}
		}
	}
	if told > mostNamed {
		lines = append(lines, format.Count(told-mostNamed)+" more have a next owner too")
	}
	say("is free then, and nobody else waits for it", "are free then, and nobody else waits for them", next(Nobody))
	if f.Alone < f.Rows { // else Outcome says it of all
		say("has no other candidate that is known", "have no other candidate that is known", next(Unseen))
	}
	say("is kept by other owners", "are kept by other owners", func(h *Holding) bool { return h.Next == Kept })
	var queues []string
	n := 0
	for i := range p.Awaits {
		if i > 0 && p.Awaits[i].Row == p.Awaits[i-1].Row {
			continue
		}
		if n++; n <= mostNamed {
			queues = append(queues, label(name(p.Awaits[i].Row.Ref)))
		}
	}
	if n > 0 {
		lines = append(lines, "it leaves the queue of "+format.SomeOf(queues, mostNamed, n))
	}
	return lines
}

// nextSentence says who is next on a row, and how that is known.
func (p *Party) nextSentence(h *Holding, now time.Time) string {
	who := format.Some(p.Followers(h, now), 3)
	switch h.Next {
	case First:
		return who + ", first in the queue"
	case Likely:
		return who + " probably: the order of the queue is inferred"
	case Counted:
		return "one of " + format.Count(h.Row.Queue.Len) + " that wait; it is not told which"
	}
	return "whoever asks first: " + who + " tried for it or owned it in the last hour"
}

// span says when leases end: "in 19s to 24s".
func (f *Fall) span(now time.Time) string {
	first, last := format.Left(f.First.Sub(now)), format.Left(f.Last.Sub(now))
	text := "in " + first
	if first != last {
		text += " to " + last
	}
	if f.Sooner {
		text += " at most"
	}
	return text
}

// sessions is the end of so many sessions.
func sessions(n int) string {
	if n == 1 {
		return "its session ends"
	}
	return "their sessions end"
}
