package screen

import (
	"coordtop/internal/ground/format"
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
		drawEvent(sc, l, events[i], names, earlierParts(sc, &groups[i])...)
		lines = append(lines, l.Done())
	}
	if len(groups) == 0 {
		lines = append(lines, sc.Theme.Line(w).Put(sc.Theme.Dim, "no event since "+paint.TimeOfDay(sc.Started, sc.Now)).Done())
	}
	return sc.Theme.Box(lines, w, h)
}

// earlierParts says how many events of a group came before its newest, and in what time.
func earlierParts(sc *Scene, g *rows.EventGroup) []paint.Part {
	if g.More == 0 {
		return nil
	}
	over := ""
	if d := g.Event.At.Sub(g.First); d > 0 {
		over = " in " + format.Precise(d)
	}
	return []paint.Part{sc.Theme.Dim.Text(", " + format.Count(g.More) + " earlier"), {Style: sc.Theme.Dim, Text: paint.Plural(g.More, " change") + over, Yield: paint.Aside}}
}
