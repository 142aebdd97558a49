package ui

import (
	"time"

	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/timeline"
)

// stripSpan is how much time strips show at least, once so much was observed.
const stripSpan = 15 * time.Minute

// stripsAt is the time that the strips of the list reach. In the frame in which a second
// begins they stand still: a renderer rewrites a line from its first to its last cell that
// differs, so a lease that counts down and a strip that moves would take all cells between
// them along, eight times as many bytes as the two in frames of their own.
func (m *model) stripsAt() time.Time {
	if m.still {
		return m.now.Add(-time.Second)
	}
	return m.now
}

// moveStrips lets the strips reach the time, and says whether that moves them.
func (m *model) moveStrips() bool {
	before := m.stripWindow()
	m.still = false
	return m.stripWindow() != before
}

// stripWindow is what the strips of the list show.
func (m *model) stripWindow() timeline.Window {
	return timeline.Fit(m.stripsAt(), m.span(m.columns[colStrip]), m.columns[colStrip])
}

// strip draws who owned the row in the window.
func (m *model) strip(l *paint.Line, row *sources.Row, win timeline.Window) {
	now := m.now
	if m.st.At.After(now) {
		now = m.st.At // what was published since the last second is shown at once
	}
	if lane := m.lane(row); row.Leveled() {
		limit := row.Limit
		if !row.Limited() {
			limit = 0
		}
		m.cells = win.Profile(m.cells, row.Levels(), limit, lane, now)
	} else {
		m.cells = win.Strip(m.cells, lane, now)
	}
	l.Strip(m.cells)
}

// leastStep is how short a column is at least. Of a second it would be shorter, and every
// strip would move with the countdowns, whose frames it must not share, see stripsAt.
const leastStep = 2 * time.Second

// span is how much time strips of so many columns show: what was observed, up to the whole
// of stripSpan. So the columns are as short as can be while little was observed, and the
// first minutes are not a corner of a blank: from the first step to the next they grow by
// rungs of the ladder, a few times in all.
func (m *model) span(columns int) time.Duration {
	return min(max(m.now.Sub(m.observed()), leastStep*time.Duration(columns)), stripSpan)
}

// lane is what the strip of a row is made from.
func (m *model) lane(row *sources.Row) timeline.Lane {
	lane := timeline.Lane{Terms: row.Terms, Nobody: row.Nobody, Dark: row.Unobserved(m.st), Trouble: row.Kind == sources.KindElection || row.Expected,
		Gap: m.st.Thresholds.Gap, GapPart: m.st.Thresholds.GapPart}
	if row.Scope < len(m.st.Scopes) {
		lane.Since = row.RecordedSince(m.st)
	}
	return lane
}
