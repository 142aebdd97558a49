package history

import (
	"slices"
	"time"

	"coordtop/internal/lane"
	"coordtop/sources"
)

// Gap is a time without an owner between two terms of a lane.
type Gap struct {
	lane.Gap
	Before, After *sources.Term // After nil: it lasts, as far as is known
}

// Known is the lane as its gaps and sums are computed; of what several can own it has no terms.
func (l *Lane) Known() lane.Lane {
	known := lane.Lane{Terms: l.Terms, Since: l.Since, Dark: l.Dark}
	if l.Before != nil {
		known.Terms = slices.Insert(slices.Clone(l.Terms), 0, *l.Before)
	}
	if l.Leveled() {
		known.Terms = nil
	} else if n := len(known.Terms); n > 0 {
		known.Every = known.Terms[n-1].Every // how it was looked at since is not recorded
	}
	return known
}

// GapBefore is the time without an owner before the term numbered i; zero where there was none,
// nothing is known before, or several can own the primitive.
func (l *Lane) GapBefore(i int) (g lane.Gap) {
	if i > 0 && !l.Leveled() {
		known := lane.Lane{Terms: l.Terms, Dark: l.Dark}
		g = known.GapAfter(i-1, l.Terms[i].Start.At)
	}
	return g
}

// Gaps are those that were seen and lie in span, also in part; the one that lasts at its end is
// the last.
func (l *Lane) Gaps(span Span) (gaps []Gap) {
	known := l.Known()
	for g := range known.Gaps(span) {
		if !g.Seen {
			continue
		}
		one := Gap{Gap: g, Before: &known.Terms[g.Term]}
		if g.Term+1 < len(known.Terms) {
			one.After = &known.Terms[g.Term+1]
		}
		gaps = append(gaps, one)
	}
	return gaps
}

// Leveled reports whether several can own the primitive: such a one has no gaps.
func (l *Lane) Leveled() bool { return len(l.Levels) > 0 || l.Kind == sources.KindSemaphore }

// Observed is how much of a stretch was.
func (l *Lane) Observed(from, to time.Time) time.Duration {
	known := lane.Lane{Dark: l.Dark}
	return known.Observed(Span{From: from, To: to})
}
