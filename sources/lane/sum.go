package lane

import "time"

// Sum sums up a span of one lane or of several.
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

// Plus adds the Sum of another lane.
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
	sum := t.sum
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

// Tally sums up the terms of a lane in a span, the last one of before it first. A term that begins shortly
// behind it may have begun in it.
type Tally struct {
	span   Span
	dark   []Dark
	before Term // the last one; zero: none, or the gap behind it is summed up
	some   bool // a term was added
	sum    Sum
}

// NewTally returns an empty Tally; dark are the stretches that were not observed, oldest first.
func NewTally(s Span, dark []Dark) Tally { return Tally{span: s, dark: dark} }

// Add adds the next term.
func (t *Tally) Add(x *Term) {
	if !t.some {
		t.sum.Before, t.some = observed(t.span.From, Earlier(x.Start.Earliest(), t.span.To), t.dark), true
	}
	t.gap(x)
	t.dark, t.before = dropOver(t.dark, x.Start.At), *x
	from, to, sum := Later(x.Start.At, t.span.From), t.span.To, &t.sum
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

// Sum returns the sum, with the gap that lasts behind the last term, looked at as that was. Unseen and Unread
// are not in it.
func (t *Tally) Sum() Sum {
	if t.gap(&Term{Every: t.before.Every}); !t.some {
		t.sum.Before = observed(t.span.From, t.span.To, t.dark)
	}
	return t.sum
}

// gap adds the gap before a term: see Lane.next.
func (t *Tally) gap(next *Term) {
	if t.before.End.How == Unknown {
		return
	}
	g := gapBetween(&t.before, next, t.span, t.dark)
	t.before = Term{}
	if g.Sum.Max == 0 {
		return
	}
	sum := &t.sum
	sum.Nobody = sum.Nobody.Plus(g.Sum)
	if g.Seen {
		sum.Gaps++
		sum.Longest = sum.Longest.or(g.Unbroken)
	}
}
