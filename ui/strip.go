package ui

import (
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
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

// axis writes the times above the strips, and on their left how much they show.
func (m *model) axis(l *line, win timeline.Window) {
	start, end := l.x, l.x+win.Columns
	now, form, apart := end-len("now"), "15:04", 9
	if win.Step*time.Duration(apart) < time.Minute {
		form, apart = "15:04:05", 12
	}
	shown := format.Age(win.Span())
	if start+len(shown)+1 <= now {
		l.put(m.th.dim, shown)
	}
	for _, t := range win.Ticks(apart) {
		if x := start + t.Column; x > l.x && x+len(form)+1 <= now {
			l.to(x).put(m.th.dim, t.At.In(m.now.Location()).Format(form))
		}
	}
	if now >= l.x {
		l.to(now).put(m.th.dim, "now")
	}
}

// strip draws who owned the row in the window.
func (m *model) strip(l *line, row *sources.Row, win timeline.Window) {
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
	for i := 0; i < len(m.cells); {
		c, n := m.cells[i], 1
		for i+n < len(m.cells) && same(c, m.cells[i+n]) {
			n++
		}
		m.putRun(l, c, n)
		i += n
	}
}

// same says whether a cell goes on what c began.
func same(c, next timeline.Cell) bool {
	return !next.Head && !next.Many && !c.Many && next.Mark == c.Mark && next.Hue == c.Hue && next.Height == c.Height
}

// putRun draws n cells that say the same, of which the first has the sign.
func (m *model) putRun(l *line, c timeline.Cell, n int) {
	th := &m.th
	if c.Many {
		st := th.strong
		if c.Mark == timeline.Leaderless {
			st = th.alarm
		}
		l.put(st, th.many)
		return
	}
	switch c.Mark {
	case timeline.Owned:
		if c.Head {
			l.put(th.ownerLetter(c.Hue), letter(c.Hue))
			n--
		}
		run := th.run
		if run == "" {
			run = letter(c.Hue)
		}
		l.put(th.ownerLine(c.Hue), strings.Repeat(run, n))
	case timeline.Leaderless:
		if th.glyphs.ascii {
			l.put(th.alarm, strings.Repeat(th.crisis, n))
			return
		}
		l.put(th.alarm, th.crisis+strings.Repeat(" ", n-1))
	case timeline.Break:
		l.put(th.dim, strings.Repeat(th.brk, n))
	case timeline.Dark:
		l.put(th.dim, strings.Repeat(th.dark, n))
	case timeline.Taken, timeline.Full:
		m.putLevel(l, c, n)
	case timeline.Idle:
		l.put(th.dim, strings.Repeat(th.idle, n))
	default:
		l.skip(n)
	}
}

// putLevel draws n cells of a semaphore's profile. A quarter of its cells is left free, so
// that permits that are all taken, which many semaphores are for long, look like no alarm.
func (m *model) putLevel(l *line, c timeline.Cell, n int) {
	st, glyph := m.th.dim, m.th.idle
	if c.Height > 0 {
		glyph = m.th.levels[min(int(c.Height), len(m.th.levels))-1]
	}
	if c.Mark == timeline.Full {
		st, glyph = m.th.warn, m.th.full
	}
	l.put(st, strings.Repeat(glyph, n))
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
	lane := timeline.Lane{Terms: row.Terms, Nobody: row.Nobody, Dark: row.Unobserved(m.st), Trouble: row.Kind == sources.KindElection || row.Expected}
	if row.Scope < len(m.st.Scopes) {
		lane.Since = row.RecordedSince(m.st)
	}
	return lane
}
