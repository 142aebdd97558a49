package screen

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/timeline"
)

// timeMark is a mark below the lanes.
type timeMark struct {
	at   time.Time
	sign paint.Part
	text string
}

// MarkKinds returns the kinds of events that have marks, and the kind that ends an outage.
func MarkKinds() []sources.EventKind {
	return []sources.EventKind{sources.EventAction, sources.EventNote, sources.EventSourceDown, sources.EventSourceUp, sources.EventRestarted, sources.EventClockStep}
}

// marked yields the events with marks: the recorded ones from before those in memory, and then these.
func marked(sc *Scene) iter.Seq[*sources.Event] {
	return func(yield func(*sources.Event) bool) {
		kinds, kept := MarkKinds(), sc.Events.Kept(sc.Started, sc.Now)
		for n, list := range [][]sources.Event{sc.Time.Marks, sc.Events.List} {
			for i := range list {
				if e := &list[i]; (n > 0 || e.At.Before(kept)) && slices.Contains(kinds, e.Kind) && !yield(e) {
					return
				}
			}
		}
	}
}

// timeMarks returns the marks in the window, oldest first: actions and notes, outages, restarts and clock
// steps, and the starts of coordtop.
func timeMarks(sc *Scene, win timeline.Window) []timeMark {
	var marks []timeMark
	inside := func(at time.Time) bool { return !at.Before(win.Start) && at.Before(win.End()) }
	down := map[string]bool{}
	for e := range marked(sc) {
		again := e.Kind == sources.EventSourceDown && down[e.Ref.Source] // the same outage, for another reason
		if e.Kind == sources.EventSourceDown || e.Kind == sources.EventSourceUp {
			down[e.Ref.Source] = e.Kind == sources.EventSourceDown
		}
		if !again && e.Kind != sources.EventSourceUp && inside(e.At) {
			marks = append(marks, markOf(sc, e))
		}
	}
	for _, r := range sc.Time.Runs {
		column := win.Column(r.From)
		if inside(r.From) && !r.From.After(DrawnTo(sc)) && !slices.ContainsFunc(marks, func(m timeMark) bool { return win.Column(m.at) == column }) {
			marks = append(marks, timeMark{r.From, sc.Theme.Dim.Text("S"), "coordtop started"})
		}
	}
	// An action is reported at its end, and may be recorded too.
	slices.SortStableFunc(marks, func(a, b timeMark) int { return a.at.Compare(b.at) })
	return slices.CompactFunc(marks, func(a, b timeMark) bool { return a.at.Equal(b.at) && a.text == b.text })
}

// markOf returns the mark of an event.
func markOf(sc *Scene, e *sources.Event) timeMark {
	th := &sc.Theme
	m := timeMark{at: e.At, text: paint.Clean(e.Detail)}
	switch e.Kind {
	case sources.EventAction:
		m.sign = th.Notice.Text(th.Acted)
		m.text, _, _ = strings.Cut(m.text, ":")
		if name := NameOf(sc, e.Ref); name != "" {
			m.text += " " + name
		}
	case sources.EventNote:
		m.sign = th.Accent.Text("M")
	case sources.EventSourceDown:
		m.sign, m.text = th.Warn.Text(th.Down), paint.Clean(e.Ref.Source)+" down"
	case sources.EventRestarted:
		m.sign, m.text = th.Warn.Text("R"), cmp.Or(paint.Clean(e.Ref.Source), "coordtop")+" restarted"
	case sources.EventClockStep:
		m.sign, m.text = th.Warn.Text("C"), "clock set"
	}
	return m
}

// drawMarks draws the line of marks: each at its column, with as much of its text as has room before the
// next one.
func drawMarks(sc *Scene, win timeline.Window, w int) string {
	l := sc.Theme.Line(w).Skip(1).Put(sc.Theme.Dim, "marks")
	start := 1 + laneNames(sc) + laneChanges
	marks := slices.CompactFunc(timeMarks(sc, win), func(a, b timeMark) bool { return win.Column(a.at) == win.Column(b.at) }) // the readout names all
	for i, m := range marks {
		x := start + win.Column(m.at)
		if x < l.X {
			continue // the text of another mark is there
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

// marksAt returns the marks in the column of the cursor with their texts.
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
