package screen

import (
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/timeline"
)

// timeMark is what stands below the lanes at its moment.
type timeMark struct {
	at   time.Time
	sign paint.Part
	text string
}

// timeMarks are those in the window, the oldest first: what a person did or noted, and what hid
// the rows or the time.
func timeMarks(sc *Scene, win timeline.Window) []timeMark {
	var marks []timeMark
	down := map[string]bool{}
	for i := range sc.Events.List {
		e := &sc.Events.List[i]
		m := markOf(sc, e)
		if e.Kind == sources.EventSourceDown && down[e.Ref.Source] {
			continue // the same outage, for another reason
		}
		if e.Kind == sources.EventSourceDown || e.Kind == sources.EventSourceUp {
			down[e.Ref.Source] = e.Kind == sources.EventSourceDown
		}
		if m.sign.Text != "" && !e.At.Before(win.Start) && e.At.Before(win.End()) {
			marks = append(marks, m)
		}
	}
	return marks
}

// markOf is the mark of an event; one without a sign has none.
func markOf(sc *Scene, e *sources.Event) timeMark {
	th := &sc.Theme
	m := timeMark{at: e.At, text: paint.Clean(e.Detail)}
	switch e.Kind {
	case sources.EventAction:
		m.sign = th.Notice.Text(th.Acted)
		m.text, _, _ = strings.Cut(m.text, ":")
		if name := paint.Clean(e.Ref.Name); name != "" {
			m.text += " " + name
		}
	case sources.EventNote:
		m.sign = th.Accent.Text("M")
	case sources.EventSourceDown:
		m.sign, m.text = th.Warn.Text(th.Down), paint.Clean(e.Ref.Source)+" down"
	case sources.EventRestarted:
		m.sign, m.text = th.Warn.Text("R"), paint.Clean(e.Ref.Source)+" restarted"
	case sources.EventClockStep:
		m.sign, m.text = th.Warn.Text("C"), "clock set"
	}
	return m
}

// drawMarks draws the line of marks: each at its column, with its text as far as there is room
// before the next.
func drawMarks(sc *Scene, win timeline.Window, w int) string {
	l := sc.Theme.Line(w).Skip(1).Put(sc.Theme.Dim, "marks")
	start := 1 + laneNames(sc) + laneChanges
	marks := timeMarks(sc, win)
	for i, m := range marks {
		x := start + win.Column(m.at)
		if x < l.X {
			continue // another one stands there, and the readout names both
		}
		l.To(x).Put(m.sign.Style, m.sign.Text)
		end := w
		if i+1 < len(marks) {
			end = max(start+win.Column(marks[i+1].at)-1, x+1)
		}
		if room := end - l.X - 1; room >= min(4, format.Width(m.text)) {
			l.Skip(1).Put(sc.Theme.Dim, sc.Theme.Cut(m.text, room))
		}
	}
	return l.Done()
}

// marksAt are the marks in the column of the cursor, as text.
func marksAt(sc *Scene, win timeline.Window) []paint.Part {
	var parts []paint.Part
	at := win.Column(CursorAt(sc))
	for _, m := range timeMarks(sc, win) {
		if win.Column(m.at) == at {
			parts = append(parts, paint.Plain("   "), m.sign, paint.Part{Text: " " + m.text, Yield: paint.Aside})
		}
	}
	return parts
}
