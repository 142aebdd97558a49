package lane

import (
	"slices"
	"time"
)

// GapStats is a summary of the times in which nobody owned a row. The lengths are intervals, because a change between
// two looks has no exact time.
type GapStats struct {
	Count    int      // gaps in which we saw that nobody owned it, including the present one
	Sum      Interval // Max also includes gaps that may have been missed
	P50, P95 Interval // of the counted gaps, each unbroken
	Longest  Interval
}

// Stats returns a summary of the gaps in a span.
func (l *Lane) Stats(s Span) GapStats {
	sum := l.tally(s)
	stats := GapStats{Count: sum.Gaps, Sum: sum.Nobody, Longest: sum.Longest}
	if stats.Count == 0 {
		return stats
	}
	var counted []Interval
	for g := range l.Gaps(s) {
		if g.Seen {
			counted = append(counted, g.Unbroken)
		}
	}
	stats.P50, stats.P95 = Percentile(counted, 50), Percentile(counted, 95)
	stats.P50.Every, stats.P95.Every = stats.Longest.Every, stats.Longest.Every
	return stats
}

// Percentile returns the length below which, or at which, percent of the lengths are, of at least one: 100 is the
// longest. A true percentile lies between the percentile of the lower bounds and that of the upper bounds, because each
// true length lies between its own bounds.
func Percentile(lengths []Interval, percent int) Interval {
	var low, high []time.Duration
	var every time.Duration
	for _, i := range lengths {
		low, high, every = append(low, i.Min), append(high, i.Max), max(every, i.Every)
	}
	slices.Sort(low)
	slices.Sort(high)
	i := (len(low)*percent+99)/100 - 1 // nearest rank
	return Interval{Min: low[i], Max: high[i], Every: every}
}
