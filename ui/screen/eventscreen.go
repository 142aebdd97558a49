package screen

import (
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// PassesEvent reports whether an event is among what filter and kind select. An event of a
// source is one of all its kinds.
func PassesEvent(sc *Scene, e *sources.Event) bool {
	kind := sc.Rows.Kind
	return (kind == sources.KindUnknown || e.RefKind == kind || e.Ref.Name == "") && sc.Rows.Filter.PassesEvent(e)
}

// readoutHeight is how many lines the event under the cursor takes in full.
const readoutHeight = 6

// EventRows is how many events are listed in h lines.
func EventRows(h int) int { return listedRows(h, readoutHeight) }

// eventScreen is the log of what was seen, with all there is to say of the event under
// the cursor below.
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
	if n := sc.Events.Missed; n > 0 {
		list.warn = format.Count(int(n)) + " were dropped before they could be read"
	}
	return list.draw(sc, func(i int, l *paint.Line) {
		drawEvent(sc, l.Cursor(events[i].Seq == selected), events[i], names)
	})
}

// noEvents says why the log is empty.
func noEvents(sc *Scene) string {
	text := "no event since " + paint.TimeOfDay(observedSince(sc), sc.Now)
	if sc.Rows.Filter.Empty() && sc.Rows.Kind == sources.KindUnknown {
		return text
	}
	return text + " of what is selected: " + sc.Keys.KeyIn(keys.InEvents, keys.Clear) + " shows all"
}

// eventReadout is one event in full.
func eventReadout(sc *Scene, e *sources.Event, w int) []string {
	if e == nil {
		return nil
	}
	say := func(name string, parts ...paint.Part) string { return readoutLine(sc, w, name, parts...) }
	of := []paint.Part{sc.Theme.Strong.Text(eventName(sc, e))}
	if e.Ref.Name != "" {
		of = append(of, sc.Theme.Dim.Text("  "+strings.Join(paint.DropEmpty(e.RefKind.String(), paint.Clean(e.Ref.Source), paint.Clean(e.Ref.Space)), " "+sc.Theme.Dot+" ")))
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
		ids = append(ids, sc.Theme.Dim.Text(o.role), paint.Plain(paint.Clean(o.ref.ID)))
		if o.ref.Fence > 0 {
			ids = append(ids, sc.Theme.Dim.Text(" fence "), paint.Plain(Fence(o.ref.Fence)))
		}
		ids = append(ids, paint.Plain("   "))
	}
	if len(ids) > 0 {
		lines = append(lines, say("ID", ids...))
	}
	known := e.Kind.String() + ", " + knownAs(e.How)
	if e.Held != (sources.Interval{}) {
		known = "owned for " + e.Held.Text() + "; " + known
	}
	return append(lines, say("", sc.Theme.Dim.Text(known)))
}

// whenParts says in which stretch of time an event happened.
func whenParts(sc *Scene, e *sources.Event) []paint.Part {
	at := e.At.In(sc.Now.Location())
	ago := sc.Theme.Dim.Text(", " + format.Precise(sc.Now.Sub(e.At)) + " ago")
	if e.After.IsZero() || !e.After.Before(e.At) {
		return []paint.Part{paint.Plain(at.Format("2006-01-02 15:04:05.000")), ago}
	}
	return []paint.Part{paint.Plain("after " + e.After.In(sc.Now.Location()).Format("2006-01-02 15:04:05.000") + ", at the latest " + at.Format("15:04:05.000")),
		sc.Theme.Dim.Text(" (within " + format.Precise(e.At.Sub(e.After)) + ")"), ago}
}

// knownAs says how an event is known.
func knownAs(how sources.Known) string {
	switch how {
	case sources.Told:
		return "told by the server"
	case sources.Seen:
		return "seen as a difference between two looks"
	case sources.Inferred:
		return "its cause is inferred, not told"
	case sources.Ours:
		return "done with coordtop"
	}
	return how.String()
}

// observedSince is since when we have been looking.
func observedSince(sc *Scene) time.Time {
	if at := sc.Events.Since; !at.IsZero() && at.Before(sc.Started) {
		return at
	}
	return sc.Started
}
