package sources

import (
	"slices"
	"time"
)

// Gaps sums up the times of the last `within` in which nobody owned the row, the one that
// still lasts included. It knows MaxTerms terms at most, and of semaphores none: see
// GapStats.Since. s is the State that the row is from.
//
// What was not observed is no gap: somebody may have owned it then. So the least length of
// a gap is what was observed of it; the longest piece of it where an unbroken length is
// asked for, the sum of its pieces in GapStats.Sum.
func (r *Row) Gaps(s *State, now time.Time, within time.Duration) GapStats {
	return r.gapsOf(r.Unobserved(s), now, within, false)
}

// gapsOf is Gaps with what was not observed; ended: without the gap that still lasts.
func (r *Row) gapsOf(dark []Dark, now time.Time, within time.Duration, ended bool) GapStats {
	from := now.Add(-within)
	stats := GapStats{Since: from}
	if len(r.Terms) == MaxTerms && r.Terms[0].Start.At.After(from) {
		stats.Since = r.Terms[0].Start.At
	}
	var seen []Interval
	for i := 1; i < len(r.Terms); i++ {
		end, start := r.Terms[i-1].End, r.Terms[i].Start
		g := gapOf(Later(end.Earliest(), from), Later(end.At, from), start.Earliest(), start.At, dark)
		stats.Sum = stats.Sum.Plus(g.sum)
		// Without a look in between that showed nobody, there may have been no gap at all.
		if end.At.Before(start.At) && g.whole.Max > 0 {
			seen = append(seen, g.whole)
		}
	}
	if !ended && r.Nobody.How != Unknown && (len(r.Terms) > 0 || single(r.Primitive)) {
		g := lasting(r.Nobody, now, from, dark)
		stats.Sum = stats.Sum.Plus(g.sum)
		if g.whole.Max > 0 {
			seen = append(seen, g.whole)
		}
	}
	stats.count(seen)
	return stats
}

// gap is one time without an owner: how long it was at a stretch, and in all.
type gap struct {
	whole, sum Interval
	last       time.Duration // observed without a break up to its end
}

// gapOf measures a gap that began in (earliest, begun] and ended in (until, end].
func gapOf(earliest, begun, until, end time.Time, dark []Dark) gap {
	longest := Interval{Max: max(0, end.Sub(earliest))}
	g := gap{whole: longest, sum: longest}
	for from, to := range Observed(begun, until, dark) {
		length := to.Sub(from)
		g.sum.Min += length
		g.whole.Min = max(g.whole.Min, length)
		if to.Equal(until) {
			g.last = length
		}
	}
	return g
}

// lasting is how long nobody has owned a row by now, as far as it lies after from. When
// it began before we first looked, it may have lasted all the time.
func lasting(nobody Stamp, now, from time.Time, dark []Dark) gap {
	first := Later(nobody.Earliest(), from)
	if nobody.How == AtLeast {
		first = from
	}
	return gapOf(first, Later(nobody.At, from), now, now, dark)
}

// count fills in what is ordered by length. The true percentile lies between that of the
// lower and that of the upper bounds, because each true length lies between its own.
func (s *GapStats) count(seen []Interval) {
	s.Count = len(seen)
	if len(seen) == 0 {
		return
	}
	low, high := make([]time.Duration, len(seen)), make([]time.Duration, len(seen))
	for i, gap := range seen {
		low[i], high[i] = gap.Min, gap.Max
	}
	slices.Sort(low)
	slices.Sort(high)
	at := func(percent int) Interval {
		i := (len(seen)*percent+99)/100 - 1 // nearest rank
		return Interval{Min: low[i], Max: high[i]}
	}
	s.P50, s.P95, s.Longest = at(50), at(95), at(100)
}

// gapBefore is how long nobody owned the row before it was taken in (after, at], at a
// stretch; zero if it is not known since when nobody did. Where the taking itself was not
// observed somebody else may have owned it just before: nothing is known of the least length.
func gapBefore(nobody Stamp, at, after time.Time, dark []Dark) Interval {
	if nobody.How == Unknown || nobody.How == AtLeast {
		return Interval{}
	}
	taken := StampBetween(after, at, Unknown)
	g := gapOf(nobody.Earliest(), nobody.At, taken.Earliest(), at, dark)
	if wentDark(taken.Earliest(), at, dark) {
		g.last = 0
	}
	return Interval{Min: g.last, Max: g.whole.Max}
}

// GapBetween is how long nobody owned a row between the end of a term and the start of the next:
// at least what was observed of it without a break, at most all.
func GapBetween(end, start Stamp, dark []Dark) Interval {
	return gapOf(end.Earliest(), end.At, start.Earliest(), start.At, dark).whole
}
