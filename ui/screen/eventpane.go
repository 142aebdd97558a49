package screen

import (
	"strings"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// eventPane draws the newest events of what the list shows. What a busy row does all the
// time is one line for each stretch of time, so that the losses among it are seen; the
// screen of events has each.
func eventPane(sc *Scene, w, h int) []string {
	l := sc.Theme.Line(w).Put(sc.Theme.Heading, "EVENTS").Skip(1)
	if sc.Rows.Filter.Empty() {
		l.Put(sc.Theme.Dim, "of all rows, newest first")
	} else {
		l.Put(sc.Theme.Dim, "of what the filter shows, newest first")
	}
	if sc.Events.Busy {
		l.Put(sc.Theme.Dim, ", drawn once a second: many changes")
	}
	news := sc.Events.News(h-1, func(e *sources.Event) bool {
		return e.Seq <= sc.Events.Shown && rows.Loud(e) && sc.Rows.Filter.PassesEvent(e)
	})
	events := make([]*sources.Event, len(news))
	for i := range news {
		events[i] = news[i].Event
	}
	names := nameWidth(events, w)
	lines := []string{l.Done()}
	for i := range news {
		l := sc.Theme.Line(w)
		if n := &news[i]; n.More == 0 {
			drawEvent(sc, l, n.Event, names)
		} else {
			drawNews(sc, l, n, names)
		}
		lines = append(lines, l.Done())
	}
	if len(news) == 0 {
		lines = append(lines, sc.Theme.Line(w).Put(sc.Theme.Dim, "nothing has changed since "+paint.TimeOfDay(sc.Started, sc.Now)).Done())
	}
	return sc.Theme.Box(lines, w, h)
}

// drawNews writes a line that stands for several events: of permits how many came and went,
// else the newest with the number of the others.
func drawNews(sc *Scene, l *paint.Line, n *rows.News, names int) {
	l.Cell(sc.Theme.Dim, " "+n.Event.At.In(sc.Now.Location()).Format("15:04:05.0"), eventTime).Skip(1)
	l.Cell("", sc.Theme.FitName(eventName(n.Event), names), names).Skip(1)
	over := ""
	if d := n.Event.At.Sub(n.First); d > 0 {
		over = " in " + format.Precise(d)
	}
	if n.Event.RefKind == sources.KindSemaphore {
		var counts []string
		for _, c := range []struct {
			n    int
			text string
		}{{n.Took, " acquired"}, {n.Gone, " gone"}, {n.More + 1 - n.Took - n.Gone, " changed its data"}} {
			if c.n > 0 {
				counts = append(counts, format.Count(c.n)+c.text)
			}
		}
		l.Skip(2).Put("", strings.Join(counts, ", ")).Put(sc.Theme.Dim, over)
		return
	}
	e := *n.Event
	e.Gap = sources.Interval{} // of several it is said on the screen of events
	parts := append(EventText(sc, &e), sc.Theme.Dim.Text(", "+format.Count(n.More)+" earlier"), paint.Part{Style: sc.Theme.Dim, Text: paint.Plural(n.More, " change") + over, Yield: paint.Aside})
	putParts(l, sc.Theme.FitParts(parts, l.Width-l.X), l.Width)
}
