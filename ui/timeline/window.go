package timeline

import (
	"slices"
	"time"

	"coordtop/sources/lane"
)

// Window is a stretch of time cut into columns of equal length.
type Window struct {
	Start   time.Time // beginning of the first column, a multiple of Step
	Step    time.Duration
	Columns int
}

// steps holds the lengths that a column can have: divisors of a minute, an hour or a day.
var steps = [...]time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// stepFor returns the smallest step that is not below d, or the largest.
func stepFor(d time.Duration) time.Duration {
	for _, s := range steps {
		if s >= d {
			return s
		}
	}
	return steps[len(steps)-1]
}

// Fit returns the window that ends with the column in which now lies, with the shortest columns
// that cover at least span. columns below 1 gives an empty window.
func Fit(now time.Time, span time.Duration, columns int) Window {
	if columns < 1 {
		return Window{Start: now, Step: steps[0]}
	}
	return Ending(now, stepFor((span+time.Duration(columns)-1)/time.Duration(columns)), columns)
}

// Ending returns the window with columns of length step whose last column is the one in which t lies.
func Ending(t time.Time, step time.Duration, columns int) Window {
	columns = max(columns, 0)
	end := t.Truncate(step).Add(step)
	return Window{Start: end.Add(-step * time.Duration(columns)), Step: step, Columns: columns}
}

// Following returns a window with columns of length step in which t lies in one of the last columns.
// The window moves by up to four columns at a time: every move rewrites most of each lane, so this
// costs a fourth of the bytes.
func Following(t time.Time, step time.Duration, columns int) Window {
	move := step * time.Duration(min(max(columns/8, 1), 4))
	return Ending(t.Truncate(move).Add(move-1), step, columns)
}

// Zoomed returns the step that is n places after step in steps; before it if n is negative.
func Zoomed(step time.Duration, n int) time.Duration {
	at, _ := slices.BinarySearch(steps[:], step)
	return steps[max(0, min(at+n, len(steps)-1))]
}

// End returns the end of the last column.
func (w Window) End() time.Time { return w.at(w.Columns) }

// Stretch returns the time from the first column to the last.
func (w Window) Stretch() lane.Span { return lane.Span{From: w.Start, To: w.End()} }

// Span returns the length of the window.
func (w Window) Span() time.Duration { return w.Step * time.Duration(w.Columns) }

// at returns the beginning of a column.
func (w Window) at(column int) time.Time { return w.Start.Add(w.Step * time.Duration(column)) }

// Column returns the column in which t lies; it may be outside the window.
func (w Window) Column(t time.Time) int {
	d := t.Sub(w.Start)
	if d < 0 {
		return -1
	}
	return int(d / w.Step)
}

// Tick is a column that begins at a round time.
type Tick struct {
	Column int
	At     time.Time
}

// Ticks returns the columns to label, at least apart columns from each other.
func (w Window) Ticks(apart int) []Tick {
	if w.Columns < 1 {
		return nil
	}
	every := stepFor(w.Step * time.Duration(max(apart, 1)))
	var ticks []Tick
	for t := w.Start.Truncate(every); t.Before(w.at(w.Columns)); t = t.Add(every) {
		if !t.Before(w.Start) {
			ticks = append(ticks, Tick{Column: w.Column(t), At: t})
		}
	}
	return ticks
}
