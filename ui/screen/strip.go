package screen

import (
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/timeline"
)

// UsualSpan is how much time strips and lanes show at least, once so much is known.
const UsualSpan = 15 * time.Minute

// stripsAt is the time that the strips of the list reach. In the frame in which a second
// begins they stand still: a renderer rewrites a line from its first to its last cell that
// differs, so a lease that counts down and a strip that moves would take all cells between
// them along, eight times as many bytes as the two in frames of their own.
func stripsAt(sc *Scene) time.Time {
	if sc.Still {
		return sc.Now.Add(-time.Second)
	}
	return sc.Now
}

// StripWindow is what the strips of the list show.
func StripWindow(sc *Scene) timeline.Window {
	return timeline.Fit(stripsAt(sc), spanOf(sc, sc.columns[colStrip]), sc.columns[colStrip])
}

// cellsOf are the cells of a row's lane: what was published since the last second is in them.
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

// leastStep is how short a column is at least. Of a second it would be shorter, and every
// strip would move with the countdowns, whose frames it must not share, see stripsAt.
const leastStep = 2 * time.Second

// spanOf is how much time strips of so many columns show: see usualSpan. So the columns are as short as can
// be while little is known, and the first minutes are not a corner of a blank: from the first step to the
// next they grow by a few steps in all.
func spanOf(sc *Scene, columns int) time.Duration {
	return min(max(usualSpan(sc), leastStep*time.Duration(columns)), UsualSpan)
}

// laneOf is what the strip of a row is made from.
func laneOf(sc *Scene, row *sources.Row) timeline.Lane {
	return timeline.Lane{Lane: row.Lane(sc.State), Trouble: verdict.LeaderMissed(row), Gap: sc.State.Thresholds.Gap, GapPart: sc.State.Thresholds.GapPart,
		Several: severalSince(sc, row), Acts: sc.Events.Acts(row.Ref)}
}

// severalSince is the time since which two own what only one may own; zero: no two do.
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
		return sc.Now // nothing is known but that it is so
	}
	return starts[1]
}
