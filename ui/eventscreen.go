package ui

import (
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// passesEvent says whether an event is among what filter and kind select. What is told of a
// source is told of all its kinds.
func passesEvent(sc *scene, e *sources.Event) bool {
	kind := sc.idx.Kind
	return (kind == sources.KindUnknown || e.RefKind == kind || e.Ref.Name == "") && sc.idx.Filter.PassesEvent(e)
}

// readoutHeight is how many lines the event under the cursor takes in full; it is left
// out where the list would be shorter than that.
const readoutHeight = 6

// eventRows is how many events are listed in h lines.
func eventRows(h int) int {
	if h < 2*readoutHeight+3 {
		return h - 2
	}
	return h - 2 - readoutHeight
}

// eventScreen is the log of what was seen, with all there is to say of the event under
// the cursor below.
func eventScreen(sc *scene) frame {
	w, h := sc.lay.w, sc.lay.body()
	readout := h - 2 - eventRows(h)
	lines := []string{sc.th.Line(w).Rule().Done(), eventHeading(sc, w)}
	selected, _ := sc.told.Selected()
	var events []*sources.Event
	for _, seq := range sc.told.Visible() {
		if e := sc.events.Find(seq); e != nil {
			events = append(events, e)
		}
	}
	names := nameWidth(events, w)
	for _, e := range events {
		l, cursor := sc.th.Line(w), " "
		if e.Seq == selected {
			l.Over, cursor = sc.th.Selected, sc.th.Cursor
		}
		l.Put("", cursor)
		drawEvent(sc, l, e, names)
		lines = append(lines, l.Done())
	}
	if len(events) == 0 {
		lines = append(lines, sc.th.Line(w).Done(), sc.th.Line(w).Skip(3).Put("", noEvents(sc)).Done())
	}
	lines = sc.th.Box(lines, w, h-readout)
	if readout == 0 {
		return fixed(sc, lines)
	}
	lines = append(lines, sc.th.Line(w).Rule().Done())
	return fixed(sc, sc.th.Box(append(lines, eventReadout(sc, sc.events.Find(selected), w)...), w, h))
}

func eventHeading(sc *scene, w int) string {
	l := sc.th.Line(w).Skip(1).Put(sc.th.Heading, "EVENTS").Skip(1).Put(sc.th.Dim, "newest first, since "+paint.TimeOfDay(observedSince(sc), sc.now))
	if n := sc.events.Missed; n > 0 {
		l.Skip(2).Put(sc.th.Warn, format.Count(int(n))+" were dropped before they could be read")
	}
	right := format.Count(sc.told.Pos()+min(sc.told.Len(), 1)) + " of " + format.Count(sc.told.Len())
	if x := w - len(right) - 1; l.X < x {
		l.To(x).Put(sc.th.Dim, right)
	}
	return l.Done()
}

// noEvents says why the log is empty.
func noEvents(sc *scene) string {
	if sc.idx.Filter.Empty() && sc.idx.Kind == sources.KindUnknown {
		return "nothing has changed since " + paint.TimeOfDay(observedSince(sc), sc.now)
	}
	return "nothing that is selected has changed since " + paint.TimeOfDay(observedSince(sc), sc.now) + ": " + sc.table.KeyIn(keys.InEvents, keys.Clear) + " shows all"
}

// eventReadout is one event in full.
func eventReadout(sc *scene, e *sources.Event, w int) []string {
	if e == nil {
		return nil
	}
	say := func(name string, parts ...paint.Part) string {
		l := sc.th.Line(w).Skip(1).Cell(sc.th.Dim, name, 8)
		for _, p := range parts {
			l.Put(p.Style, p.Text)
		}
		return l.Done()
	}
	of := []paint.Part{sc.th.Strong.Text(eventName(e))}
	if e.Ref.Name != "" {
		of = append(of, sc.th.Dim.Text("  "+strings.Join(paint.DropEmpty(e.RefKind.String(), paint.Clean(e.Ref.Source), paint.Clean(e.Ref.Space)), " "+sc.th.Dot+" ")))
	}
	lines := []string{say("WHAT", of...), say("WHEN", whenParts(sc, e)...), say("", eventText(sc, e)...)}
	var ids []paint.Part
	for _, o := range []struct {
		role string
		ref  sources.OwnerRef
	}{{"owner ", e.Owner}, {"before ", e.Previous}} {
		if o.ref.ID == "" {
			continue
		}
		ids = append(ids, sc.th.Dim.Text(o.role), paint.Plain(paint.Clean(o.ref.ID)))
		if o.ref.Fence > 0 {
			ids = append(ids, sc.th.Dim.Text(" fence "), paint.Plain(fence(o.ref.Fence)))
		}
		ids = append(ids, paint.Plain("   "))
	}
	if len(ids) > 0 {
		lines = append(lines, say("ID", ids...))
	}
	known := "event " + format.Count(int(e.Seq)) + " " + e.Kind.String() + ", " + knownAs(e.How)
	if e.Held != (sources.Interval{}) {
		known = "owned for " + paint.IntervalText(e.Held) + "; " + known
	}
	return append(lines, say("", sc.th.Dim.Text(known)))
}

// whenParts says in which stretch of time an event happened.
func whenParts(sc *scene, e *sources.Event) []paint.Part {
	at := e.At.In(sc.now.Location())
	ago := sc.th.Dim.Text(", " + format.Precise(sc.now.Sub(e.At)) + " ago")
	if e.After.IsZero() || !e.After.Before(e.At) {
		return []paint.Part{paint.Plain(at.Format("2006-01-02 15:04:05.000")), ago}
	}
	return []paint.Part{paint.Plain("after " + e.After.In(sc.now.Location()).Format("2006-01-02 15:04:05.000") + ", at the latest " + at.Format("15:04:05.000")),
		sc.th.Dim.Text(" (within " + format.Precise(e.At.Sub(e.After)) + ")"), ago}
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
		return "done by us"
	}
	return how.String()
}

// observedSince is since when we have been looking.
func observedSince(sc *scene) time.Time {
	if at := sc.events.Since; !at.IsZero() && at.Before(sc.started) {
		return at
	}
	return sc.started
}
