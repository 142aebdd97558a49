package screen

import (
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// eventPane draws the newest events of the listed rows. The routine events of a busy row are joined to
// one line for each stretch of time, so that losses stay visible; the Events screen shows each event.
func eventPane(sc *Scene, w, h int) []string {
	of := "of what the filter shows, newest first"
	if sc.Rows.Filter.Empty() {
		of = "of all rows, newest first"
	}
	l := sc.Theme.Line(w).Put(sc.Theme.Heading, "EVENTS").Skip(1).Put(sc.Theme.Dim, of)
	groups := sc.Events.Groups(h-1, func(e *sources.Event) bool {
		return e.Seq <= sc.Events.Shown && rows.Loud(e) && sc.Rows.Filter.PassesEvent(e)
	})
	l.Put(sc.Theme.Dim, paint.When(sc.Events.Busy && len(groups) > 0, ", drawn once a second: many changes"))
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

// earlierParts counts the events of a group before its newest, with the length of their time.
func earlierParts(sc *Scene, g *rows.EventGroup) []paint.Part {
	if g.More == 0 {
		return nil
	}
	d := g.Event.At.Sub(g.First)
	changes := sc.Theme.Dim.Text(paint.Plural(g.More, " change") + paint.When(d > 0, " in "+format.Precise(d)))
	changes.Yield = paint.Aside
	return []paint.Part{sc.Theme.Dim.Text(", " + format.Count(g.More) + " earlier"), changes}
}
