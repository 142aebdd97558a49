package screen

import (
	"cmp"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// PassesEvent reports whether filter and kind select an event. An event of a source belongs to all of
// its kinds.
func PassesEvent(sc *Scene, e *sources.Event) bool {
	kind := sc.Rows.Kind
	return (kind == sources.KindUnknown || e.RefKind == kind || e.Ref.Name == "") && sc.Rows.Filter.PassesEvent(e)
}

// readoutHeight is the number of lines for the event under the cursor.
const readoutHeight = 6

// EventRows returns the number of events that are listed in h lines.
func EventRows(h int) int { return listedRows(h, readoutHeight) }

// eventScreen lists the events, with all facts about the one under the cursor below.
func eventScreen(sc *Scene) Frame {
	w := sc.Layout.Width
	selected, _ := sc.EventList.Selected()
	var events []*sources.Event
	for _, seq := range sc.EventList.Visible() {
		if e := sc.Events.Find(seq); e != nil {
			events = append(events, e)
		}
	}
	names := nameWidth(sc, events, w)
	list := logList{title: "EVENTS", text: "newest first, since " + paint.TimeOfDay(observedSince(sc), sc.Now), pos: sc.EventList.Pos(), count: sc.EventList.Len(),
		empty: noEvents(sc), lines: len(events), height: EventRows(sc.Layout.Body()), readout: eventReadout(sc, sc.Events.Find(selected), w)}
	missed := int(sc.Events.Missed)
	list.warn = paint.When(missed > 0, format.Count(missed)+" were dropped before they could be read")
	return list.draw(sc, func(i int, l *paint.Line) {
		drawEvent(sc, l.Cursor(events[i].Seq == selected), events[i], names)
	})
}

// noEvents explains why no event is listed.
func noEvents(sc *Scene) string {
	all := sc.Rows.Filter.Empty() && sc.Rows.Kind == sources.KindUnknown
	return "no event since " + paint.TimeOfDay(observedSince(sc), sc.Now) +
		paint.When(!all, " of what is selected: "+sc.Keys.KeyIn(keys.InEvents, keys.Clear)+" shows all")
}

// eventReadout draws all facts about one event.
func eventReadout(sc *Scene, e *sources.Event, w int) []string {
	if e == nil {
		return nil
	}
	say := func(name string, parts ...paint.Part) string { return readoutLine(sc, w, name, parts...) }
	of := []paint.Part{sc.Theme.Strong.Text(eventName(sc, e))}
	if e.Ref.Name != "" {
		of = append(of, placePart(sc, e.RefKind.String(), e.Ref))
	}
	lines := []string{say("WHAT", of...), say("WHEN", whenParts(sc, e)...), say("", EventText(sc, e)...)}
	var ids []paint.Part
	for _, o := range []struct {
		role string
		ref  sources.OwnerRef
	}{{"owner ", e.Owner}, {"before ", e.Previous}} {
		if o.ref.ID == "" {
			continue
		}
		fence := sc.Theme.Dim.Text(paint.When(o.ref.Fence > 0, " fence "))
		ids = append(ids, sc.Theme.Dim.Text(o.role), paint.Plain(paint.Clean(o.ref.ID)), fence, paint.Plain(Fence(o.ref.Fence)+"   "))
	}
	if len(ids) > 0 {
		lines = append(lines, say("ID", ids...))
	}
	held := paint.When(e.Held != (sources.Interval{}), "owned for "+e.Held.Text()+"; ")
	known := cmp.Or(knownAs[e.How], e.How.String())
	return append(lines, say("", sc.Theme.Dim.Text(held+e.Kind.String()+", "+known)))
}

// exactLayout is the layout of an instant in a readout.
const exactLayout = "2006-01-02 15:04:05.000"

// whenParts returns the time of an event, or the stretch in which it happened.
func whenParts(sc *Scene, e *sources.Event) []paint.Part {
	at := e.At.In(sc.Now.Location())
	ago := sc.Theme.Dim.Text(", " + format.Precise(sc.Now.Sub(e.At)) + " ago")
	if e.After.IsZero() || !e.After.Before(e.At) {
		return []paint.Part{paint.Plain(at.Format(exactLayout)), ago}
	}
	after := e.After.In(sc.Now.Location()).Format(exactLayout)
	return []paint.Part{paint.Plain("after " + after + ", at the latest " + at.Format("15:04:05.000")),
		sc.Theme.Dim.Text(" (within " + format.Precise(e.At.Sub(e.After)) + ")"), ago}
}

// knownAs describes how an event is known; other values have their own names.
var knownAs = map[sources.Known]string{
	sources.Told: "told by the server", sources.Seen: "seen as a difference between two looks",
	sources.Inferred: "its cause is inferred, not told", sources.Ours: "done with coordtop",
}

// observedSince returns the time since which events are known.
func observedSince(sc *Scene) time.Time {
	if at := sc.Events.Since; !at.IsZero() && at.Before(sc.Started) {
		return at
	}
	return sc.Started
}

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
