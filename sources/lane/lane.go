package lane

import (
	"iter"
	"slices"
	"sort"
	"time"
)

// Span is a stretch of time: [From, To).
type Span struct{ From, To time.Time }

// length returns the length of the span, or 0 if it ends before it begins.
func (s Span) length() time.Duration { return max(s.To.Sub(s.From), 0) }

// Lane is the history of one primitive with a single owner.
type Lane struct {
	Terms  []Term        // oldest first, the running one last; they do not overlap
	Nobody Stamp         // since when nobody owns it; zero if it is owned
	Since  time.Time     // start of the record; zero: nothing is recorded
	Dark   []Dark        // oldest first
	Unread []Span        // parts of a recording that were not read, oldest first; they hide everything else
	Absent time.Time     // since when it does not exist; zero if it exists
	Every  time.Duration // the longest pause between two looks since the last term; 0 if writes are pushed
}

// within returns the terms that touch a span: Terms[first:last].
func (l *Lane) within(s Span) (first, last int) {
	first = sort.Search(len(l.Terms), func(i int) bool { return l.Terms[i].End.How == Unknown || l.Terms[i].End.At.After(s.From) })
	last = sort.Search(len(l.Terms), func(i int) bool { return !l.Terms[i].Start.At.Before(s.To) })
	return first, max(first, last)
}

// Within returns l with only the terms and dark stretches that computations about the span need.
func (l Lane) Within(s Span) Lane {
	first, last := l.within(s)
	l.Terms = l.Terms[max(first-1, 0):min(last+1, len(l.Terms))]
	l.Dark = l.Dark[:sort.Search(len(l.Dark), func(i int) bool { return !l.Dark[i].From.Before(s.To) })]
	over := func(d Dark) bool { return !d.To.IsZero() && !d.To.After(s.From) }
	if slices.ContainsFunc(l.Dark, over) {
		l.Dark = slices.DeleteFunc(slices.Clone(l.Dark), over)
	}
	return l
}

// unobserved returns the stretches that were not observed or not read. The caller must not change them.
func (l *Lane) unobserved() []Dark {
	if len(l.Unread) == 0 {
		return l.Dark
	}
	all := slices.Clone(l.Dark)
	for _, u := range l.Unread {
		all = append(all, Dark(u))
	}
	slices.SortStableFunc(all, func(a, b Dark) int { return a.From.Compare(b.From) })
	return all
}

// Observed returns the part of a span that was observed.
func (l *Lane) Observed(s Span) time.Duration { return observed(s.From, s.To, l.unobserved()) }

// Dark is a stretch in which a scope, or one row of it, was not observed. To is zero while it lasts.
type Dark struct{ From, To time.Time }

// Observed yields the beginning and the end of each piece of [from, to) that lies in no stretch of dark. The stretches
// must be sorted by From. The time between two pieces was not observed.
func Observed(from, to time.Time, dark []Dark) iter.Seq2[time.Time, time.Time] {
	return func(yield func(from, to time.Time) bool) {
		at := from
		for _, d := range dark {
			if !d.From.Before(to) {
				break
			}
			if at.Before(d.From) && !yield(at, d.From) || d.To.IsZero() {
				return
			}
			at = Later(at, d.To)
		}
		if at.Before(to) {
			yield(at, to)
		}
	}
}

// observed returns how much of [from, to) lies in no stretch of dark.
func observed(from, to time.Time, dark []Dark) (sum time.Duration) {
	for from, to := range Observed(from, to, dark) {
		sum += to.Sub(from)
	}
	return sum
}

// Earlier returns the earlier of two instants.
func Earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Later returns the later of two instants.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Gap is the time without an owner between two consecutive terms, or after the last one. Its lengths are those of the
// part in the given span.
type Gap struct {
	Before, After *Term // After is nil before the next term
	Start, End    Stamp // of the whole gap; End is zero while it lasts
	Unbroken      Interval
	Sum           Interval      // of its pieces
	Last          time.Duration // of the last piece, if that was seen until its end, so that nobody can have owned it since
	Seen          bool          // a look showed that nobody owned it; if false, the gap may not exist
	Lasts         bool          // the gap was seen until the end of the span
}

// Short returns, for a table, the longest stretch, and the sum if there are several pieces.
func (g *Gap) Short() string {
	if g.Sum.Min > g.Unbroken.Min {
		return g.Unbroken.written("≥ ", "≤ ", " - ") + " (" + g.Sum.written("≥ ", "≤ ", " - ") + " in all)" + g.Sum.Looks()
	}
	return g.Unbroken.Short()
}

// Gaps yields the gaps between terms and after the last one, as far as they are in the span, oldest first. The span
// must end at the present, because the future is no gap.
func (l *Lane) Gaps(s Span) iter.Seq[Gap] {
	return func(yield func(Gap) bool) {
		first, last := l.within(s)
		dark := l.unobserved()
		for i := max(first-1, 0); i < last; i++ {
			end := &l.Terms[i]
			if end.End.How == Unknown {
				return
			}
			dark = dropOver(dark, end.End.Earliest())
			if g := l.gapAfter(i, s, dark); g.Sum.Max > 0 && !yield(g) {
				return
			}
		}
	}
}

// GapAfter returns the gap after a term, until now if it lasts, or the zero Gap if the term has no end.
func (l *Lane) GapAfter(i int, now time.Time) (g Gap) {
	if t := &l.Terms[i]; t.End.How != Unknown {
		g = l.gapAfter(i, Span{From: t.End.Earliest(), To: now}, l.unobserved())
	}
	return g
}

// gapAfter returns the gap after a term that has an end.
func (l *Lane) gapAfter(i int, s Span, dark []Dark) Gap {
	next := l.next(i)
	g := gapBetween(l.Terms[i].End, next.Start, next.Every, s, dark)
	if g.Before = &l.Terms[i]; i+1 < len(l.Terms) {
		g.After = &l.Terms[i+1]
	}
	return g
}

// next returns the term that follows a term. After the last one, that is a term that begins when the primitive
// vanished, or one without a start.
func (l *Lane) next(i int) *Term {
	if i+1 < len(l.Terms) {
		return &l.Terms[i+1]
	}
	next := &Term{Every: l.Every}
	if !l.Absent.IsZero() {
		next.Start = Stamp{At: Later(l.Absent, l.Terms[i].End.At), How: Seen}
	}
	return next
}

// dropOver returns dark without its first stretches, as far as they are over at an instant.
func dropOver(dark []Dark, at time.Time) []Dark {
	for len(dark) > 0 && !dark[0].To.IsZero() && !dark[0].To.After(at) {
		dark = dark[1:]
	}
	return dark
}

// gapBetween measures the gap between the end of a term and the start of the next, as far as it lies in a span. If the
// start is zero, the next has not begun yet. every is the longest pause between two looks.
func gapBetween(end, start Stamp, every time.Duration, s Span, dark []Dark) Gap {
	g := Gap{Start: end, End: start}
	from, until, latest, vague := g.Start.At, g.End.Earliest(), g.End.At, false
	switch g.End.How {
	case Bound, Claimed:
		return g
	case AtLeast: // true at the first look after a darkness
		vague = true
	case Unknown:
		until, latest = s.To, s.To
	}
	seen := !g.Start.At.Before(s.From)
	if g.Start.How == Bound { // the end was not seen: it is free from the next look without an owner
		from, seen = endOfDark(dark, from, latest), false
	}
	longest := Interval{Max: max(0, Earlier(latest, s.To).Sub(Later(g.Start.Earliest(), s.From))), Every: every}
	g.Unbroken, g.Sum = longest, longest
	to := Earlier(until, s.To)
	for begin, end := range Observed(Later(from, s.From), to, dark) {
		if vague && end.Equal(latest) {
			break
		}
		length := end.Sub(begin)
		g.Sum.Min += length
		g.Unbroken.Min = max(g.Unbroken.Min, length)
		if g.Seen = true; end.Equal(until) {
			g.Last = length
		}
		if end.Equal(s.To) {
			g.Lasts = g.End.How == Unknown
		}
	}
	if g.Last > 0 && observed(until, latest, dark) < latest.Sub(until) { // another may have owned it before
		g.Last = 0
	}
	if !g.Seen && seen && g.Start.At.Before(Earlier(latest, s.To)) {
		for range Observed(g.Start.At, g.Start.At.Add(1), dark) {
			g.Seen = true
		}
	}
	return g
}

// endOfDark returns the end of the darkness in which an instant lies, at most latest. If it lies in none, it returns
// latest.
func endOfDark(dark []Dark, at, latest time.Time) time.Time {
	for _, d := range dark {
		if !d.From.After(at) && d.To.After(at) {
			return Earlier(d.To, latest)
		}
	}
	return latest
}

// Sum is the summary of a span, of one lane or several.
type Sum struct {
	Changes int           // terms whose beginning was seen
	Gaps    int           // gaps that a look showed
	Nobody  Interval      // how long nobody owned it after the first term
	Longest Interval      // the longest of the counted gaps, unbroken
	Before  Interval      // how long nobody owned it before the first term; Min: as far as that was observed
	Owned   time.Duration // owned and observed
	Unseen  time.Duration // not observed, or not recorded
	Unread  time.Duration // not read of a recording
	Absent  time.Duration // at its end it did not exist, and that was observed
}

// Vacant returns how long nobody owned it, also before the first term, and while it did not exist.
func (s Sum) Vacant() Interval {
	return s.Nobody.Plus(s.Before).Plus(Interval{Min: s.Absent, Max: s.Absent})
}

// Plus returns the sum of s and the Sum of another lane.
func (s Sum) Plus(t Sum) Sum {
	return Sum{Changes: s.Changes + t.Changes, Gaps: s.Gaps + t.Gaps, Nobody: s.Nobody.Plus(t.Nobody), Longest: s.Longest.or(t.Longest),
		Before: s.Before.Plus(t.Before), Owned: s.Owned + t.Owned, Unseen: s.Unseen + t.Unseen, Unread: s.Unread + t.Unread, Absent: s.Absent + t.Absent}
}

// Sum returns the summary of a span. Nothing after now counts.
func (l *Lane) Sum(s Span, now time.Time) Sum {
	sum := l.tally(Span{From: s.From, To: Earlier(s.To, now)})
	for _, p := range l.Pieces(s, now) {
		switch p.Kind {
		case Unobserved, Unrecorded:
			sum.Unseen += p.length()
		case Unread:
			sum.Unread += p.length()
		case Absent:
			sum.Absent += p.length()
		}
	}
	return sum
}

// tally returns the summary of a span that ends at the present or before, without Unseen, Unread and Absent.
func (l *Lane) tally(s Span) Sum {
	first, last := l.within(s)
	t := NewTally(s, l.Since, l.unobserved())
	for i := max(first-1, 0); i < min(last+1, len(l.Terms)); i++ {
		t.Add(&l.Terms[i])
	}
	if n := len(l.Terms); last == n && n > 0 {
		next := l.next(n - 1)
		t.gap(bound{next.Start, next.Every})
	} else if from := s.To; n == 0 {
		if !l.Nobody.At.IsZero() { // else its owners are not known
			from = Later(t.span.From, l.Nobody.At)
		}
		t.vacant(from, s.To, s.To, l.Every)
	}
	return t.sum
}

// Tally computes the Sum of the terms of a lane in a span. The first term must be the last one before the span. Terms
// that begin shortly after the span count as well, because they may have begun in it.
type Tally struct {
	from   time.Time // the beginning of the span; what is before the start of the record is not observed
	span   Span      // the recorded part
	all    []Dark    // unobserved
	dark   []Dark    // the same, as far as it matters for the next term
	some   bool      // a term was added
	first  bound     // the start of the first
	before bound     // the end of the last; zero if the gap after it is included already
	sum    Sum
}

// bound is the beginning or the end of a gap, and the longest pause between two looks of the term beside it.
type bound struct {
	Stamp
	every time.Duration
}

// NewTally returns an empty Tally of a span. since is the start of the record. dark has the stretches that were not
// observed, oldest first.
func NewTally(s Span, since time.Time, dark []Dark) Tally {
	return Tally{from: s.From, span: Span{From: Later(s.From, since), To: s.To}, all: dark, dark: dark}
}

// Add adds the next term.
func (t *Tally) Add(x *Term) {
	if !t.some {
		t.vacant(t.span.From, Earlier(x.Start.Earliest(), t.span.To), Earlier(x.Start.At, t.span.To), x.Every)
		t.first, t.some = bound{x.Start, x.Every}, true
	}
	t.gap(bound{x.Start, x.Every})
	t.dark, t.before = dropOver(t.dark, x.Start.At), bound{x.End, x.Every}
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
	if sure := Earlier(x.Sure, to); sure.After(from) { // another, or nobody, may have owned it in the dark
		sum.Nobody.Max += sure.Sub(from) - observed(from, sure, t.dark)
	}
	if n := len(t.dark); x.End.How == Unknown && n > 0 && t.dark[n-1].To.IsZero() {
		sum.Nobody.Max += max(to.Sub(Later(t.dark[n-1].From, from)), 0)
	}
}

// Precede adds the term before all that were added. It had ended when the span began.
func (t *Tally) Precede(x *Term) {
	if !t.some {
		t.Add(x)
		return
	}
	opening := Tally{span: t.span, dark: dropOver(t.all, x.Start.At), before: bound{x.End, x.Every}}
	opening.gap(t.first)
	t.sum.Before = Interval{}
	t.sum = t.sum.Plus(opening.sum)
}

// Sum returns the sum, including the gap after the last term, for which the pause between looks is that of the last
// term. It leaves out Unseen, Unread and Absent.
func (t *Tally) Sum() Sum {
	if t.gap(bound{every: t.before.every}); !t.some {
		t.vacant(t.span.From, t.span.To, t.span.To, 0)
	}
	return t.sum
}

// vacant sets Before: where it was observed, nobody owned it from one instant to another; until latest somebody may have.
// every is the longest pause between two looks.
func (t *Tally) vacant(from, to, latest time.Time, every time.Duration) {
	t.sum.Before = Interval{Min: observed(from, to, t.dark), Max: max(latest.Sub(t.from), 0)}
	if t.sum.Before.Max > 0 {
		t.sum.Before.Every = every
	}
}

// gap adds the gap before the start of a term, see Lane.next.
func (t *Tally) gap(next bound) {
	if t.before.How == Unknown {
		return
	}
	g := gapBetween(t.before.Stamp, next.Stamp, next.every, t.span, t.dark)
	t.before = bound{}
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
