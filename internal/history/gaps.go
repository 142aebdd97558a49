package history

import (
	"slices"

	"coordtop/internal/lane"
	"coordtop/sources"
)

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

// Gaps are those that were seen and lie in span, also in part; the one that lasts at its end is
// the last.
func (l *Lane) Gaps(span Span) (gaps []lane.Gap) {
	known := l.Known()
	for g := range known.Gaps(span) {
		if g.Seen {
			gaps = append(gaps, g)
		}
	}
	return gaps
}

// Leveled reports whether several can own the primitive: such a one has no gaps.
func (l *Lane) Leveled() bool { return len(l.Levels) > 0 || l.Kind == sources.KindSemaphore }
