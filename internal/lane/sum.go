package lane

import "time"

// Sum is what happened in a span, of one lane or of several.
type Sum struct {
	Changes int           // terms whose beginning was seen
	Gaps    int           // that a look showed
	Nobody  Interval      // how long nobody owned it behind the first term
	Longest Interval      // of the gaps that are counted, unbroken
	Before  time.Duration // observed, and nobody owned it, before the first term
	Owned   time.Duration // as far as it was observed
	Unseen  time.Duration // not observed, or not recorded
	Unread  time.Duration // not read of a recording
}

// Plus sums up two lanes.
func (s Sum) Plus(t Sum) Sum {
	return Sum{Changes: s.Changes + t.Changes, Gaps: s.Gaps + t.Gaps, Nobody: s.Nobody.Plus(t.Nobody), Longest: s.Longest.or(t.Longest),
		Before: s.Before + t.Before, Owned: s.Owned + t.Owned, Unseen: s.Unseen + t.Unseen, Unread: s.Unread + t.Unread}
}

// Sum sums up a span, in which nothing lies behind now.
func (l *Lane) Sum(s Span, now time.Time) Sum {
	pieces := l.Pieces(s, now)
	s.To = Earlier(s.To, now)
	first, last := l.within(s)
	t := NewTally(Span{From: Later(s.From, l.Since), To: s.To}, l.unobserved())
	for i := max(first-1, 0); i < min(last+1, len(l.Terms)); i++ {
		t.Add(&l.Terms[i])
	}
	if n := len(l.Terms); last == n && n > 0 {
		t.gap(l.next(n - 1))
	}
	sum := t.part.Sum
	for _, p := range pieces {
		switch p.Kind {
		case Unobserved, Unrecorded:
			sum.Unseen += p.length()
		case Unread:
			sum.Unread += p.length()
		}
	}
	return sum
}

// Part is the sum of one of several spans that follow each other. Unseen and Unread are not in it. The zero
// Part means that nothing happened: one owner all the time, or nobody yet.
type Part struct {
	Sum
	Head, Tail Edge // gaps that the beginning of the span cuts, and its end
	Whole      bool // they are the same one
	Solid      bool // and all of it was seen
}

// Edge is the part of a gap at a border of a span.
type Edge struct {
	Cut      bool          // there is one
	Seen     bool          // a look in it showed nobody
	Touch    time.Duration // seen up to the border
	Unbroken Interval
}

// Plus is both spans, of which q is the later.
func (p Part) Plus(q Part) Part {
	out := Part{Sum: p.Sum.Plus(q.Sum), Head: p.Head, Tail: q.Tail}
	if !p.Tail.Cut || !q.Head.Cut {
		return out
	}
	a, b := p.Tail, q.Head
	whole := Edge{Cut: true, Seen: a.Seen || b.Seen, Unbroken: a.Unbroken.or(b.Unbroken)}
	whole.Unbroken.Min = max(whole.Unbroken.Min, a.Touch+b.Touch)
	whole.Unbroken.Max = Interval{Max: a.Unbroken.Max}.Plus(Interval{Max: b.Unbroken.Max}).Max
	if a.Seen && b.Seen {
		out.Gaps--
	}
	if whole.Seen {
		out.Longest = out.Longest.or(whole.Unbroken)
	}
	if p.Whole {
		out.Head = whole
		if out.Head.Touch = p.Head.Touch; p.Solid {
			out.Head.Touch += b.Touch
		}
	}
	if q.Whole {
		out.Tail = whole
		if out.Tail.Touch = q.Tail.Touch; q.Solid {
			out.Tail.Touch += a.Touch
		}
	}
	out.Whole, out.Solid = p.Whole && q.Whole, p.Solid && q.Solid
	return out
}

// Tally sums up the terms of a lane in a span, the last one of before it first. A term that begins shortly
// behind it may have begun in it.
type Tally struct {
	span   Span
	dark   []Dark
	before Term // the last one; zero: none, or the gap behind it is summed up
	some   bool // a term was added
	part   Part
}

// NewTally returns an empty one; dark is what was not observed, oldest first.
func NewTally(s Span, dark []Dark) Tally { return Tally{span: s, dark: dark} }

// Add adds the next term.
func (t *Tally) Add(x *Term) {
	if !t.some {
		t.part.Before, t.some = observed(t.span.From, Earlier(x.Start.Earliest(), t.span.To), t.dark), true
	}
	t.gap(x)
	t.dark, t.before = dropOver(t.dark, x.Start.At), *x
	from, to, sum := Later(x.Start.At, t.span.From), t.span.To, &t.part.Sum
	if x.Start.Happened() && !x.Start.At.Before(t.span.From) && x.Start.At.Before(to) {
		sum.Changes++
	}
	if x.End.How != Unknown {
		to = Earlier(to, x.End.Earliest())
	}
	if to.After(from) {
		sum.Nobody.Every = max(sum.Nobody.Every, x.Every)
	}
	sum.Owned += observed(from, to, t.dark)
	if sure := Earlier(x.Sure, to); sure.After(from) { // somebody else, or nobody, may have owned it in the dark
		sum.Nobody.Max += sure.Sub(from) - observed(from, sure, t.dark)
	}
	if n := len(t.dark); x.End.How == Unknown && n > 0 && t.dark[n-1].To.IsZero() {
		sum.Nobody.Max += max(to.Sub(Later(t.dark[n-1].From, from)), 0)
	}
}

// Part is the sum, with the gap that lasts behind the last term, looked at as that was.
func (t *Tally) Part() Part {
	if t.gap(&Term{Every: t.before.Every}); !t.some {
		t.part.Before = observed(t.span.From, t.span.To, t.dark)
	}
	return t.part
}

// gap adds the one before a term: see Lane.next.
func (t *Tally) gap(next *Term) {
	if t.before.End.How == Unknown {
		return
	}
	g := gapBetween(&t.before, next, t.span, t.dark)
	t.before = Term{}
	if g.Sum.Max == 0 {
		return
	}
	sum := &t.part.Sum
	sum.Nobody = sum.Nobody.Plus(g.Sum)
	if g.Seen {
		sum.Gaps++
		sum.Longest = sum.Longest.or(g.Unbroken)
	}
	edge := Edge{Cut: true, Seen: g.Seen, Unbroken: g.Unbroken}
	if g.Start.Earliest().Before(t.span.From) {
		t.part.Head = edge
		t.part.Head.Touch = g.head
	}
	if g.End.How == Unknown || g.End.At.After(t.span.To) {
		t.part.Tail = edge
		t.part.Tail.Touch = g.tail
		t.part.Whole = g.Start.Earliest().Before(t.span.From)
		t.part.Solid = t.part.Whole && g.head == t.span.length()
	}
}
