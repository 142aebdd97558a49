package sources

import (
	"time"

	"coordtop/internal/lane"
)

// Lane is what is known of the row over time, to be computed with. s is the State that the row is
// from; nothing in the result must be changed.
func (r *Row) Lane(s *State) lane.Lane {
	l := lane.Lane{Terms: r.Terms, Nobody: r.Nobody, Since: r.RecordedSince(s), Dark: r.Unobserved(s)}
	if r.Absent {
		l.Absent = r.At
	}
	if n := len(r.Terms); n > 0 && r.Scope < len(s.Scopes) {
		l.Every = s.Scopes[r.Scope].Every(r.Terms[n-1].End.At, s.At)
	}
	return l
}

// Gaps sums up the times of the last `within` in which nobody owned the row, the one that
// still lasts included. It knows MaxTerms terms at most, and of semaphores none. s is the State that the
// row is from.
func (r *Row) Gaps(s *State, now time.Time, within time.Duration) GapStats {
	l := r.Lane(s)
	return l.Stats(lane.Span{From: now.Add(-within), To: now})
}

// gapBefore is how long nobody owned the row before it was taken in (after, at], up to then without a
// break; zero if it is not known since when nobody did.
func (r *Row) gapBefore(l *look, at, after time.Time, dark []Dark) Interval {
	before := Term{End: r.Nobody}
	if single(r.Primitive) {
		if len(r.Terms) == 0 {
			return Interval{}
		}
		before = r.Terms[len(r.Terms)-1]
	}
	if before.End.How == Unknown || before.End.How == AtLeast {
		return Interval{}
	}
	both := lane.Lane{Terms: []Term{before, {Start: StampBetween(after, at, Seen)}}, Dark: dark}
	g := both.GapAfter(0, at)
	return Interval{Min: g.Last, Max: g.Unbroken.Max, Every: l.every(before.End.Earliest(), at)}
}
