package lane

import (
	"iter"
	"slices"
	"time"
)

// Gap is the time without an owner between two consecutive terms, or behind the last one. The lengths are
// of its part in the span that was asked for.
type Gap struct {
	Before, After *Term // After nil: there is none yet
	Start, End    Stamp // of all of it; End zero: it lasts
	Unbroken      Interval
	Sum           Interval      // of its pieces
	Last          time.Duration // of the piece that was seen up to its end: nobody took it unseen since
	Seen          bool          // a look showed that nobody owned it; else there may have been no gap
	Lasts         bool          // it was seen up to the end of the span
}

// Short writes for a table the longest stretch, and the sum of all pieces where they are several.
func (g *Gap) Short() string {
	if g.Sum.Min > g.Unbroken.Min {
		return g.Unbroken.written("≥ ", "≤ ", " - ") + " (" + g.Sum.written("≥ ", "≤ ", " - ") + " in all)" + g.Sum.Looks()
	}
	return g.Unbroken.Short()
}

// Gaps yields the gaps between terms, and behind the last one, that have a part in span, the oldest first. What
// lies ahead is no gap: span must end at the present.
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

// GapAfter returns the gap behind a term, up to now where it lasts; the zero Gap where the term has no end.
func (l *Lane) GapAfter(i int, now time.Time) (g Gap) {
	if t := &l.Terms[i]; t.End.How != Unknown {
		g = l.gapAfter(i, Span{From: t.End.Earliest(), To: now}, l.unobserved())
	}
	return g
}

// gapAfter returns the gap behind a term that has an end.
func (l *Lane) gapAfter(i int, s Span, dark []Dark) Gap {
	g := gapBetween(&l.Terms[i], l.next(i), s, dark)
	if g.Before = &l.Terms[i]; i+1 < len(l.Terms) {
		g.After = &l.Terms[i+1]
	}
	return g
}

// next returns the term that follows one: behind the last one a term that begins when the primitive vanished,
// or did not begin yet.
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

// dropOver returns dark without the stretches at its beginning that are over at an instant.
func dropOver(dark []Dark, at time.Time) []Dark {
	for len(dark) > 0 && !dark[0].To.IsZero() && !dark[0].To.After(at) {
		dark = dark[1:]
	}
	return dark
}

// gapBetween measures the gap between two terms, as far as it lies in a span; a next one without a
// start did not begin yet.
func gapBetween(before, next *Term, s Span, dark []Dark) Gap {
	g := Gap{Start: before.End, End: next.Start}
	from, until, latest, vague := g.Start.At, g.End.Earliest(), g.End.At, false
	switch g.End.How {
	case Bound, Claimed:
		return g
	case AtLeast: // it was so when first seen, behind a darkness
		vague = true
	case Unknown:
		until, latest = s.To, s.To
	}
	seen := !g.Start.At.Before(s.From)
	if g.Start.How == Bound { // nobody saw it end: it was free as soon as a look shows no owner again
		from, seen = endOfDark(dark, from, latest), false
	}
	longest := Interval{Max: max(0, Earlier(latest, s.To).Sub(Later(g.Start.Earliest(), s.From))), Every: next.Every}
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
	if g.Last > 0 && observed(until, latest, dark) < latest.Sub(until) { // somebody else may have owned it before
		g.Last = 0
	}
	if !g.Seen && seen && g.Start.At.Before(Earlier(latest, s.To)) {
		for range Observed(g.Start.At, g.Start.At.Add(1), dark) {
			g.Seen = true
		}
	}
	return g
}

// endOfDark returns the end of the darkness in which an instant lies, at most latest; where the instant lies in
// none it returns latest.
func endOfDark(dark []Dark, at, latest time.Time) time.Time {
	for _, d := range dark {
		if !d.From.After(at) && d.To.After(at) {
			return Earlier(d.To, latest)
		}
	}
	return latest
}

// GapStats sums up the times in which nobody owned a row. The lengths are intervals,
// because what lies between two looks is one.
type GapStats struct {
	Count    int      // gaps in which we saw that nobody owned it, the running one included
	Sum      Interval // Max also counts what may have passed unseen
	P50, P95 Interval // of the counted gaps, each unbroken
	Longest  Interval
}

// Stats sums up the gaps of a span. The true percentile lies between that of the lower and that of the
// upper bounds, because each true length lies between its own.
func (l *Lane) Stats(s Span) GapStats {
	sum := l.Sum(s, s.To)
	stats := GapStats{Count: sum.Gaps, Sum: sum.Nobody, Longest: sum.Longest}
	if stats.Count == 0 {
		return stats
	}
	var low, high []time.Duration
	for g := range l.Gaps(s) {
		if g.Seen {
			low, high = append(low, g.Unbroken.Min), append(high, g.Unbroken.Max)
		}
	}
	slices.Sort(low)
	slices.Sort(high)
	at := func(percent int) Interval {
		i := (len(low)*percent+99)/100 - 1 // nearest rank
		return Interval{Min: low[i], Max: high[i], Every: stats.Longest.Every}
	}
	stats.P50, stats.P95 = at(50), at(95)
	return stats
}
