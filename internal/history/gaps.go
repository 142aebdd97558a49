package history

import (
	"time"

	"coordtop/sources"
)

// Gap is a time without an owner between two terms of a lane.
type Gap struct {
	Start, End    sources.Stamp    // also outside of the span that was asked for; the zero End: it lasts
	Length        sources.Interval // of its part in the span. Min: what of it was observed. Max: it may have been so long
	Before, After *sources.Term    // After nil: it lasts, as far as is known
	Lasts         bool             // it was observed up to the end of the span
}

// GapBefore is the time without an owner before the term numbered i; zero where there was none,
// nothing is known before, or several can own the primitive. seen reports whether a look showed
// that nobody owned it: else there may have been no gap.
func (l *Lane) GapBefore(i int) (g Gap, seen bool) {
	if i < 1 {
		return Gap{}, false
	}
	before, after := &l.Terms[i-1], &l.Terms[i]
	return l.gap(before, after, Span{From: before.End.Earliest(), To: after.Start.At})
}

// Gaps are those that were seen and lie in span, also in part; the one that lasts at its end is
// the last.
func (l *Lane) Gaps(span Span) (gaps []Gap) {
	before := l.Before
	for i := 0; i <= len(l.Terms); i++ {
		var next *sources.Term
		if i < len(l.Terms) {
			next = &l.Terms[i]
		}
		if before != nil {
			if g, seen := l.gap(before, next, span); seen {
				gaps = append(gaps, g)
			}
		}
		before = next
	}
	return gaps
}

// gap is the one between two terms, of which what lies in span counts; after nil: it lasts.
func (l *Lane) gap(before, after *sources.Term, span Span) (g Gap, seen bool) {
	g = Gap{Start: before.End, Before: before, After: after}
	end := sources.Stamp{At: span.To}
	if after != nil {
		g.End, end = after.Start, after.Start
	}
	if l.Leveled() || unseen(g.Start) || after != nil && (unseen(end) || end.How == sources.AtLeast) {
		return Gap{}, false
	}
	g.Lasts = after == nil && l.Observed(span.To.Add(-1), span.To) > 0
	from, to := sources.Later(g.Start.At, span.From), sources.Earlier(end.At, span.To)
	longest := max(to.Sub(sources.Later(g.Start.Earliest(), span.From)), 0)
	g.Length = sources.Interval{Min: min(l.Observed(from, sources.Earlier(end.Earliest(), span.To)), longest), Max: longest}
	instant := from.Add(1) // what was seen at its start may be all that was seen of it
	return g, from.Before(to) && (g.Length.Min > 0 || l.Observed(from, instant) > 0)
}

// unseen reports whether nobody saw what s stamps.
func unseen(s sources.Stamp) bool { return s.How == sources.Unknown || s.How == sources.Bound }

// Leveled reports whether several can own the primitive: such a one has no gaps.
func (l *Lane) Leveled() bool { return len(l.Levels) > 0 || l.Kind == sources.KindSemaphore }

// Observed is how much of a stretch was.
func (l *Lane) Observed(from, to time.Time) (sum time.Duration) {
	for from, to := range sources.Observed(from, to, l.Dark) {
		sum += to.Sub(from)
	}
	return sum
}
