package paint

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/ui/timeline"
)

// Strip draws the cells of a strip.
func (l *Line) Strip(cells []timeline.Cell) {
	for i := 0; i < len(cells); {
		c, n := cells[i], 1
		for i+n < len(cells) && same(c, cells[i+n]) {
			n++
		}
		l.putRun(c, n)
		i += n
	}
}

// StripAt draws the cells of a strip, and the cursor in one of them if that cell has no sign of a
// change.
func (l *Line) StripAt(cells []timeline.Cell, cursor int) {
	if cursor < 0 || cursor >= len(cells) {
		l.Strip(cells)
		return
	}
	l.Strip(cells[:cursor])
	quiet := []timeline.CellKind{timeline.Owned, timeline.Idle, timeline.Dark, timeline.Unread, timeline.Absent, timeline.Blank}
	if c := cells[cursor]; !c.Head && !c.Many && !c.Acted && slices.Contains(quiet, c.Kind) {
		l.Put(l.th.Strong, l.th.Upright)
	} else {
		l.Strip(cells[cursor : cursor+1])
	}
	l.Strip(cells[cursor+1:])
}

// wideAxis is the least number of columns of an axis with the word "last" before its length.
const wideAxis = 40

// Axis writes the length of the window and the times of its columns above the strips.
func (l *Line) Axis(win timeline.Window, zone *time.Location) {
	now := l.X + win.Columns - len("now")
	start := l.X
	shown := When(win.Columns >= wideAxis, "last ") + format.Age(win.Span())
	if start+len(shown)+1 <= now {
		l.Put(l.th.Dim, shown)
	}
	l.ticks(win, start, now, zone)
	if now >= l.X {
		l.To(now).Put(l.th.Dim, "now")
	}
}

// Times writes the times of the columns above lanes, and "now" over the present if they follow it.
func (l *Line) Times(win timeline.Window, zone *time.Location, now time.Time, follows bool) {
	start := l.X
	if !follows {
		l.ticks(win, start, start+win.Columns+1, zone)
		return
	}
	x := start + win.Column(now) + 1 - len("now")
	if l.ticks(win, start, x, zone); x >= l.X {
		l.To(x).Put(l.th.Dim, "now")
	}
}

// ticks writes round times over their columns if they end before column end.
func (l *Line) ticks(win timeline.Window, start, end int, zone *time.Location) {
	form, apart := "15:04", 9
	switch every := win.Step * time.Duration(apart); {
	case every < time.Minute:
		form, apart = "15:04:05", 12
	case every > 6*time.Hour:
		form, apart = "Jan 2", 10
	case every > 2*time.Hour:
		form, apart = "Jan 2 15:04", 15
	}
	for _, t := range win.Ticks(apart) {
		if x := start + t.Column; (x > l.X || x == start && l.X == start) && x+len(form)+1 <= end {
			l.To(x).Put(l.th.Dim, t.At.In(zone).Format(form))
		}
	}
}

// same reports whether next continues the run of c.
func same(c, next timeline.Cell) bool {
	return !next.Head && !next.Many && !c.Many && !next.Acted && !c.Acted && next.Kind == c.Kind && next.Hue == c.Hue && next.Height == c.Height && next.Edge == c.Edge
}

// putRun draws a run of n equal cells; the first one has the letter or sign.
func (l *Line) putRun(c timeline.Cell, n int) {
	th := l.th
	if c.Acted {
		l.Put(th.Notice, th.Acted)
		return
	}
	if c.Many {
		st := th.Strong
		if c.Kind == timeline.Leaderless {
			st = th.Alarm
		}
		l.Put(st, th.Many)
		return
	}
	switch c.Kind {
	case timeline.Owned:
		if c.Head {
			l.Put(th.OwnerLetter(c.Hue), Letter(c.Hue))
			n--
		}
		run := [...]string{timeline.Whole: th.Run, timeline.Left: th.RunLeft, timeline.Right: th.RunRight}[c.Edge]
		l.Put(th.ownerLine(c.Hue), strings.Repeat(cmp.Or(run, Letter(c.Hue)), n))
	case timeline.Leaderless:
		l.putAlarm(th.Crisis, n)
	case timeline.Conflict:
		l.putAlarm(th.Two, n)
	case timeline.Absent:
		l.Put(th.Dim, strings.Repeat(th.Dot, n))
	case timeline.Break:
		l.Put(th.Dim, strings.Repeat(th.Break, n))
	case timeline.Dark:
		l.Put(th.Dim, strings.Repeat(th.Dark, n))
	case timeline.Unread:
		if c.Head {
			l.Put(th.Dim, th.Unknown)
			n--
		}
		l.Put(th.Dim, strings.Repeat(th.Unread, n))
	case timeline.Taken, timeline.Full:
		l.putLevel(c, n)
	case timeline.Idle:
		l.Put(th.Dim, strings.Repeat(th.Idle, n))
	default:
		l.Skip(n)
	}
}

// longAlarm is the number of cells from which on trouble is a line with filled ends: many filled cells would make a wall.
const longAlarm = 6

// putAlarm draws n cells of trouble: the sign in the first one, in ASCII themes in all.
func (l *Line) putAlarm(sign string, n int) {
	rest, line := " ", l.th.Outage
	if l.th.Glyphs.ASCII {
		rest, line = sign, sign
	}
	if n < longAlarm {
		l.Put(l.th.Alarm, sign+strings.Repeat(rest, n-1))
		return
	}
	l.Put(l.th.Alarm, sign).Put(l.th.Bad, strings.Repeat(line, n-2)).Put(l.th.Alarm, rest)
}

// putLevel draws n cells of a semaphore's profile. The glyphs leave a quarter of the cell free, so
// that a full semaphore, which is often normal, does not look like an alarm.
func (l *Line) putLevel(c timeline.Cell, n int) {
	st, glyph := l.th.Dim, l.th.Idle
	switch {
	case c.Height >= timeline.Eighths:
		glyph = l.th.Full
	case c.Height > 0:
		glyph = l.th.Levels[min(int(c.Height), len(l.th.Levels))-1]
	}
	if c.Kind == timeline.Full {
		st = l.th.Warn
	}
	l.Put(st, strings.Repeat(glyph, n))
}
