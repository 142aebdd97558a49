package screen

import (
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/timeline"
)

// UsualSpan is the usual length of strips and lanes, once so much is known.
const UsualSpan = 15 * time.Minute

// stripsAt returns the end of the strips of the list. In the frame in which a second begins they do
// not move: the renderer rewrites a line from its first to its last changed cell, so a lease that
// counts down and a strip that moves would rewrite all cells between them, eight times as many bytes
// as in two frames.
func stripsAt(sc *Scene) time.Time {
	if sc.Still {
		return sc.Now.Add(-time.Second)
	}
	return sc.Now
}

// StripWindow returns the window of the strips of the list.
func StripWindow(sc *Scene) timeline.Window {
	return timeline.Fit(stripsAt(sc), spanOf(sc, sc.columns[colStrip]), sc.columns[colStrip])
}

// cellsOf returns the cells of a row's lane, drawn into cells. They include changes since the last
// second.
func cellsOf(sc *Scene, row *sources.Row, lane timeline.Lane, win timeline.Window, cells []timeline.Cell) []timeline.Cell {
	if !row.Leveled() {
		return win.Strip(cells, lane, DrawnTo(sc))
	}
	limit := row.Limit
	if !row.Limited() {
		limit = 0
	}
	return win.Profile(cells, QueryOf(sc, row).Levels(), limit, lane, DrawnTo(sc))
}

// leastStep is the least length of a column. Columns of a second would move together with the
// countdowns, see stripsAt.
const leastStep = 2 * time.Second

// spanOf returns the length of strips with so many columns. While little is known the columns are as short
// as possible, so that the first minutes fill the strip and not only a corner of it.
func spanOf(sc *Scene, columns int) time.Duration {
	return min(max(usualSpan(sc), leastStep*time.Duration(columns)), UsualSpan)
}

// sawtoothLines draws the lowest time left of a single owner's lease in each column: every renewal
// lifts it, and a missed renewal is a deeper tooth. nil if no lease is told or the row is stale.
func sawtoothLines(sc *Scene, row *sources.Row, v verdict.Verdict, w int) []string {
	if v.Status == sources.StatusStale || w < 24 {
		return nil
	}
	win := timeline.Fit(sc.Now, spanOf(sc, w-4), w-4)
	fills := leaseFills(sc, row, win, sc.Now)
	if len(fills) == 0 || row.Owners[0].Expires.At.IsZero() {
		return nil
	}
	head := sc.Theme.Line(w).Skip(2).Put(sc.Theme.Dim, "LEASE LEFT, the lowest in every "+format.Age(win.Step)+" ")
	longest := time.Duration(0)
	for _, f := range fills {
		longest = max(longest, f.Until.Sub(f.At))
	}
	head.Put(sc.Theme.Dim, sc.Theme.Dot+" longest without a renewal ").Put("", format.Precise(longest))
	axis, l := sc.Theme.Line(w).Skip(2), sc.Theme.Line(w).Skip(2)
	axis.Axis(win, sc.Now.Location())
	teeth(sc, l, row, fills, win)
	return []string{head.Done(), axis.Done(), l.Done()}
}

// leased reports whether a row has a single owner with a lease that ends.
func leased(row *sources.Row) bool {
	return len(row.Owners) == 1 && !row.Owners[0].NoExpiry && row.Owners[0].Lease > 0
}

// leaseFills returns the fills of a single owner's lease, in a window up to an instant; none if the lease
// has no end.
func leaseFills(sc *Scene, row *sources.Row, win timeline.Window, to time.Time) []rows.Fill {
	if !leased(row) {
		return nil
	}
	return sc.Events.Fills(row, row.Owners[0].Lease, win.Start.Add(-row.Owners[0].Lease), to)
}

// teeth draws the lowest time left of a row's lease in each column, and dots where that is unknown and
// somebody may have owned the row.
func teeth(sc *Scene, l *paint.Line, row *sources.Row, fills []rows.Fill, win timeline.Window) {
	lease, lane := row.Owners[0].Lease, laneOf(sc, row)
	lane.Halves = true
	cells := win.Strip(nil, lane, DrawnTo(sc))
	fills = seenFills(fills, lane.Dark, lease)
	for i := range win.Columns {
		from := win.Start.Add(win.Step * time.Duration(i))
		for len(fills) > 0 && !fills[0].Until.After(from) {
			fills = fills[1:]
		}
		hidden := cells[i].Kind == timeline.Dark || cells[i].Kind == timeline.Unread
		switch {
		case !hidden && drawTooth(sc, l, lease, fills, from, win.Step):
		case (hidden || cells[i].Kind == timeline.Owned) && from.Before(DrawnTo(sc)):
			l.Put(sc.Theme.Dim, sc.Theme.Dark)
		default:
			l.Skip(1)
		}
	}
}

// seenFills cuts fills at the first stretch without observation, in which the lease may have been renewed
// or may have run out. It changes fills.
func seenFills(fills []rows.Fill, dark []sources.Dark, lease time.Duration) []rows.Fill {
	for i := range fills {
		f := &fills[i]
		for _, d := range dark {
			if d.From.Before(f.Until) && (d.To.IsZero() || d.To.After(f.At)) {
				f.Until = sources.Later(d.From, f.At)
				f.Left = max(lease-f.Until.Sub(f.At), 0)
				break
			}
		}
	}
	return fills
}

// drawTooth draws one column, [from, from+step), and reports whether the lease is known there.
func drawTooth(sc *Scene, l *paint.Line, lease time.Duration, fills []rows.Fill, from time.Time, step time.Duration) bool {
	to, lowest, known := from.Add(step), lease, false
	for _, f := range fills {
		if !f.At.Before(to) {
			break
		}
		if !f.Until.After(from) {
			continue
		}
		left := f.Left
		if f.Until.After(to) {
			left += f.Until.Sub(to)
		}
		lowest, known = min(lowest, left), true
	}
	if !known {
		return false
	}
	part := float64(lowest) / float64(lease)
	height := min(int(part*float64(len(sc.Theme.Eighths))), len(sc.Theme.Eighths)-1)
	l.Put(barStyle(sc, part < sc.State.Thresholds.LateLeft), sc.Theme.Eighths[height])
	return true
}
