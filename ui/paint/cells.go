package paint

import (
	"strings"
	"time"

	"coordtop/internal/format"
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

// wideAxis is the least number of columns of an axis that says what its number means.
const wideAxis = 40

// Axis writes the times above the strips, and on their left how much they show.
func (l *Line) Axis(win timeline.Window, zone *time.Location) {
	start, end := l.X, l.X+win.Columns
	now, form, apart := end-len("now"), "15:04", 9
	if win.Step*time.Duration(apart) < time.Minute {
		form, apart = "15:04:05", 12
	}
	shown := format.Age(win.Span())
	if win.Columns >= wideAxis {
		shown = "last " + shown
	}
	if start+len(shown)+1 <= now {
		l.Put(l.th.Dim, shown)
	}
	for _, t := range win.Ticks(apart) {
		if x := start + t.Column; x > l.X && x+len(form)+1 <= now {
			l.To(x).Put(l.th.Dim, t.At.In(zone).Format(form))
		}
	}
	if now >= l.X {
		l.To(now).Put(l.th.Dim, "now")
	}
}

// same reports whether a cell goes on what c began.
func same(c, next timeline.Cell) bool {
	return !next.Head && !next.Many && !c.Many && !next.Acted && !c.Acted && next.Mark == c.Mark && next.Hue == c.Hue && next.Height == c.Height
}

// putRun draws n cells that say the same, of which the first has the sign.
func (l *Line) putRun(c timeline.Cell, n int) {
	th := l.th
	if c.Acted {
		l.Put(th.Notice, th.Acted)
		return
	}
	if c.Many {
		st := th.Strong
		if c.Mark == timeline.Leaderless {
			st = th.Alarm
		}
		l.Put(st, th.Many)
		return
	}
	switch c.Mark {
	case timeline.Owned:
		if c.Head {
			l.Put(th.OwnerLetter(c.Hue), Letter(c.Hue))
			n--
		}
		run := th.Run
		if run == "" {
			run = Letter(c.Hue)
		}
		l.Put(th.ownerLine(c.Hue), strings.Repeat(run, n))
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
	case timeline.Taken, timeline.Full:
		l.putLevel(c, n)
	case timeline.Idle:
		l.Put(th.Dim, strings.Repeat(th.Idle, n))
	default:
		l.Skip(n)
	}
}

// putAlarm draws n cells of trouble, with its sign in the first, or in all in a theme without
// other characters.
func (l *Line) putAlarm(sign string, n int) {
	rest := " "
	if l.th.Glyphs.ASCII {
		rest = sign
	}
	l.Put(l.th.Alarm, sign+strings.Repeat(rest, n-1))
}

// putLevel draws n cells of a semaphore's profile. A quarter of its cells is left free, so
// that permits that are all taken, which many semaphores are for long, look like no alarm.
func (l *Line) putLevel(c timeline.Cell, n int) {
	st, glyph := l.th.Dim, l.th.Idle
	if c.Height > 0 {
		glyph = l.th.Levels[min(int(c.Height), len(l.th.Levels))-1]
	}
	if c.Mark == timeline.Full {
		st, glyph = l.th.Warn, l.th.Full
	}
	l.Put(st, strings.Repeat(glyph, n))
}
