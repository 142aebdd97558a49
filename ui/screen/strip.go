package screen

import (
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/verdict"
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
	return win.Profile(cells, levelsOf(sc, row), limit, lane, DrawnTo(sc))
}

// leastStep is the least length of a column. Columns of a second would move together with the
// countdowns, see stripsAt.
const leastStep = 2 * time.Second

// spanOf returns the length of strips with so many columns. While little is known the columns are as short
// as possible, so that the first minutes fill the strip and not only a corner of it.
func spanOf(sc *Scene, columns int) time.Duration {
	return min(max(usualSpan(sc), leastStep*time.Duration(columns)), UsualSpan)
}

// laneOf returns the lane of a row for its strip.
func laneOf(sc *Scene, row *sources.Row) timeline.Lane {
	return timeline.Lane{Lane: row.Lane(sc.State), Trouble: verdict.LeaderMissed(row), Gap: sc.State.Thresholds.Gap, GapPart: sc.State.Thresholds.GapPart,
		Several: severalSince(sc, row), Acts: sc.Events.Acts(row.Ref)}
}

// severalSince returns the time since which two own a row that only one may own; zero: no two do.
func severalSince(sc *Scene, row *sources.Row) time.Time {
	if len(row.Owners) < 2 || row.LastStatus(sc.State, sc.Now) != sources.StatusConflict {
		return time.Time{}
	}
	starts := make([]time.Time, len(row.Owners))
	for i := range row.Owners {
		starts[i] = row.Owners[i].Since.At
	}
	slices.SortFunc(starts, time.Time.Compare)
	if starts[1].IsZero() {
		return sc.Now // only the present conflict is known
	}
	return starts[1]
}
