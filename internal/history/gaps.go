package history

import (
	"time"

	"coordtop/sources"
)

// Gap is a time without an owner between two terms of a lane.
type Gap struct {
	Start, End    sources.Stamp    // the zero End: it lasts
	Length        sources.Interval // Min: what of it was observed. Max: it may have been so long
	Before, After *sources.Term    // After nil: it lasts
}

// GapBefore is the time without an owner before the term numbered i; zero where there was none,
// nothing is known before, or several can own the primitive. seen reports whether a look showed
// that nobody owned it: else there may have been no gap.
func (l *Lane) GapBefore(i int) (g Gap, seen bool) {
	if i < 1 {
		return Gap{}, false
	}
	return l.gap(&l.Terms[i-1], &l.Terms[i], time.Time{})
}

// Gaps are those that were seen and lie in span, also in part; the one that lasts at its end is
// the last.
func (l *Lane) Gaps(span Span) (gaps []Gap) {
	for i := range l.Terms {
		var next *sources.Term
		if i+1 < len(l.Terms) {
			next = &l.Terms[i+1]
		}
		if g, seen := l.gap(&l.Terms[i], next, span.To); seen && g.Start.At.Before(span.To) && (next == nil || g.End.At.After(span.From)) {
			gaps = append(gaps, g)
		}
	}
	return gaps
}

// gap is the one between two terms; after nil: that which lasts up to now.
func (l *Lane) gap(before, after *sources.Term, now time.Time) (g Gap, seen bool) {
	g = Gap{Start: before.End, Before: before, After: after}
	end := sources.Stamp{At: now}
	if after != nil {
		g.End, end = after.Start, after.Start
	}
	if l.Leveled() || unseen(g.Start) || after != nil && (unseen(end) || end.How == sources.AtLeast) {
		return Gap{}, false
	}
	longest := max(end.At.Sub(g.Start.Earliest()), 0)
	g.Length = sources.Interval{Min: min(l.Observed(g.Start.At, end.Earliest()), longest), Max: longest}
	instant := g.Start.At.Add(1) // what was seen at its start may be all that was seen of it
	return g, g.Start.At.Before(end.At) && (g.Length.Min > 0 || l.Observed(g.Start.At, instant) > 0)
}

// unseen reports whether nobody saw what s stamps.
func unseen(s sources.Stamp) bool { return s.How == sources.Unknown || s.How == sources.Bound }

// Leveled reports whether several can own the primitive, so that there are no gaps.
func (l *Lane) Leveled() bool { return len(l.Levels) > 0 || l.Kind == sources.KindSemaphore }

// Observed is how much of a stretch was.
func (l *Lane) Observed(from, to time.Time) time.Duration {
	sum := max(to.Sub(from), 0)
	for _, d := range l.Dark {
		end := d.To
		if end.IsZero() {
			end = to
		}
		sum -= max(sources.Earlier(end, to).Sub(sources.Later(d.From, from)), 0)
	}
	return max(sum, 0)
}
