package history

import (
	"time"

	"coordtop/sources"
)

// Gap is a time without an owner between two terms of a lane.
type Gap struct {
	Start, End sources.Stamp
	Length     sources.Interval // Min: what of it was observed. Max: it may have been so long
}

// GapBefore is the time without an owner before the term numbered i; zero where there was none,
// nothing is known before, or several can own the primitive. seen reports whether nobody was
// seen to own it: else there may have been no gap.
func (l *Lane) GapBefore(i int) (g Gap, seen bool) {
	if i < 1 || l.Leveled() {
		return Gap{}, false
	}
	g = Gap{Start: l.Terms[i-1].End, End: l.Terms[i].Start}
	if g.Start.How == sources.Unknown || g.End.How == sources.AtLeast {
		return Gap{}, false
	}
	longest := g.End.At.Sub(earliest(g.Start))
	least := observed(g.Start.At, earliest(g.End), l.Dark)
	g.Length = sources.Interval{Min: min(least, max(longest, 0)), Max: max(longest, 0)}
	return g, g.Start.At.Before(g.End.At) && longest > 0
}

// Leveled reports whether several can own the primitive, so that there are no gaps.
func (l *Lane) Leveled() bool { return len(l.Levels) > 0 || l.Kind == sources.KindSemaphore }

// earliest is the first instant at which what s stamps can have happened.
func earliest(s sources.Stamp) time.Time {
	if after := s.After(); !after.IsZero() {
		return after
	}
	return s.At
}

// Observed is how much of a stretch was.
func (l *Lane) Observed(from, to time.Time) time.Duration { return observed(from, to, l.Dark) }

// observed is how much of a stretch was not in dark.
func observed(from, to time.Time, dark []sources.Dark) time.Duration {
	sum := max(to.Sub(from), 0)
	for _, d := range dark {
		end := d.To
		if end.IsZero() {
			end = to
		}
		sum -= max(sources.Earlier(end, to).Sub(sources.Later(d.From, from)), 0)
	}
	return max(sum, 0)
}
