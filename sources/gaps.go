package sources

import (
	"slices"
	"time"
)

// Gaps sums up the times of the last `within` in which nobody owned the row, the one that
// still lasts included. It knows MaxTerms terms at most, and of semaphores none: see
// GapStats.Since.
func (r *Row) Gaps(now time.Time, within time.Duration) GapStats {
	from := now.Add(-within)
	stats := GapStats{Since: from}
	if len(r.Terms) == MaxTerms && r.Terms[0].Start.At.After(from) {
		stats.Since = r.Terms[0].Start.At
	}
	var seen []Interval
	for i := 1; i < len(r.Terms); i++ {
		gap, saw := between(r.Terms[i-1].End, r.Terms[i].Start, from)
		stats.Sum = stats.Sum.plus(gap)
		if saw && gap.Max > 0 {
			seen = append(seen, gap)
		}
	}
	if r.Nobody.How != Unknown && (len(r.Terms) > 0 || single(r.Primitive)) {
		gap := lasting(r.Nobody, now, from)
		stats.Sum = stats.Sum.plus(gap)
		if gap.Max > 0 {
			seen = append(seen, gap)
		}
	}
	stats.count(seen)
	return stats
}

// between is the time between the end of a term and the start of the next, as far as it
// lies after from. saw says that a look in between showed nobody: otherwise one
// owner followed the other within one look, and there may have been no gap at all.
func between(end, start Stamp, from time.Time) (gap Interval, saw bool) {
	gap = Interval{
		Min: max(0, earliest(start).Sub(later(end.At, from))),
		Max: max(0, start.At.Sub(later(earliest(end), from))),
	}
	return gap, end.At.Before(start.At)
}

// lasting is how long nobody has owned a row by now, as far as it lies after from. When
// it began before we first looked, it may have lasted all the time.
func lasting(nobody Stamp, now, from time.Time) Interval {
	gap := Interval{Min: max(0, now.Sub(later(nobody.At, from))), Max: max(0, now.Sub(later(earliest(nobody), from)))}
	if nobody.How == AtLeast {
		gap.Max = max(gap.Max, now.Sub(from))
	}
	return gap
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (i Interval) plus(j Interval) Interval { return Interval{Min: i.Min + j.Min, Max: i.Max + j.Max} }

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

// gapBefore is how long nobody owned the row before it was taken in (after, at]; zero if
// it is not known since when nobody did.
func gapBefore(nobody Stamp, at, after time.Time) Interval {
	if nobody.How == Unknown || nobody.How == AtLeast {
		return Interval{}
	}
	gap, _ := between(nobody, StampBetween(after, at, Unknown), time.Time{})
	return gap
}
