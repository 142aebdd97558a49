package screen

import (
	"strings"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// eventPane draws the newest events of what the list shows. The routine events of a busy row are
// one line for each stretch of time, so that losses are not buried; the screen of events shows
// each event.
func eventPane(sc *Scene, w, h int) []string {
	l := sc.Theme.Line(w).Put(sc.Theme.Heading, "EVENTS").Skip(1)
	if sc.Rows.Filter.Empty() {
		l.Put(sc.Theme.Dim, "of all rows, newest first")
	} else {
		l.Put(sc.Theme.Dim, "of what the filter shows, newest first")
	}
	groups := sc.Events.Groups(h-1, func(e *sources.Event) bool {
		return e.Seq <= sc.Events.Shown && rows.Loud(e) && sc.Rows.Filter.PassesEvent(e)
	})
	if sc.Events.Busy && len(groups) > 0 {
		l.Put(sc.Theme.Dim, ", drawn once a second: many changes")
	}
	events := make([]*sources.Event, len(groups))
	for i := range groups {
		events[i] = groups[i].Event
	}
	names := nameWidth(sc, events, w)
	lines := []string{l.Done()}
	for i := range groups {
		l := sc.Theme.Line(w)
		if g := &groups[i]; g.More == 0 {
			drawEvent(sc, l, g.Event, names)
		} else {
			drawGroup(sc, l, g, names)
		}
		lines = append(lines, l.Done())
	}
	if len(groups) == 0 {
		lines = append(lines, sc.Theme.Line(w).Put(sc.Theme.Dim, "no event since "+paint.TimeOfDay(sc.Started, sc.Now)).Done())
	}
	return sc.Theme.Box(lines, w, h)
}

// drawGroup writes a line for several events: of permits how many came and went, else the newest
// event with the number of the others.
func drawGroup(sc *Scene, l *paint.Line, g *rows.EventGroup, names int) {
	l.Cell(sc.Theme.Dim, instantCell(sc, g.Event.At, ""), eventTime).Skip(1)
	l.Cell("", sc.Theme.FitName(eventName(sc, g.Event), names), names).Skip(1)
	over := ""
	if d := g.Event.At.Sub(g.First); d > 0 {
		over = " in " + format.Precise(d)
	}
	if g.Took+g.Gone > 0 && g.Event.RefKind == sources.KindSemaphore {
		var counts []string
		for _, c := range []struct {
			n    int
			text string
		}{{g.Took, " acquired"}, {g.Gone, " gone"}, {g.More + 1 - g.Took - g.Gone, " changed its data"}} {
			if c.n > 0 {
				counts = append(counts, format.Count(c.n)+c.text)
			}
		}
		l.Skip(2).Put("", strings.Join(counts, ", ")).Put(sc.Theme.Dim, over)
		return
	}
	e := *g.Event
	e.Gap = sources.Interval{} // the screen of events shows it
	parts := append(EventText(sc, &e), sc.Theme.Dim.Text(", "+format.Count(g.More)+" earlier"), paint.Part{Style: sc.Theme.Dim, Text: paint.Plural(g.More, " change") + over, Yield: paint.Aside})
	putParts(l, sc.Theme.FitParts(parts, l.Width-l.X), l.Width)
}
