package ui

import (
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
)

// listEvents brings the list of the Events screen up to date, newest first. The cursor
// stays on its event.
func (m *model) listEvents() {
	keys := make([]uint64, 0, len(m.events.list))
	for i := len(m.events.list) - 1; i >= 0; i-- {
		if e := &m.events.list[i]; m.passes(e) {
			keys = append(keys, e.Seq)
		}
	}
	m.told.SetKeys(keys)
}

// passes says whether an event is among what filter and kind select. What is told of a
// source is told of all its kinds.
func (m *model) passes(e *sources.Event) bool {
	kind := m.idx.kind
	return (kind == sources.KindUnknown || e.RefKind == kind || e.Ref.Name == "") && m.idx.filter.event(e)
}

// readoutHeight is how many lines the event under the cursor takes in full; it is left
// out where the list would be shorter than that.
const readoutHeight = 6

// eventScreen is the log of what was seen, with all there is to say of the event under
// the cursor below.
func (m *model) eventScreen(w, h int) []string {
	readout := readoutHeight
	if h < 2*readoutHeight+3 {
		readout = 0
	}
	m.told.SetHeight(h - 2 - readout)
	lines := []string{m.th.line(w).rule().done(), m.eventHeading(w)}
	selected, _ := m.told.Selected()
	var events []*sources.Event
	for _, seq := range m.told.Visible() {
		if e := m.events.find(seq); e != nil {
			events = append(events, e)
		}
	}
	names := nameWidth(events, w)
	for _, e := range events {
		l, cursor := m.th.line(w), " "
		if e.Seq == selected {
			l.over, cursor = m.th.selected, m.th.cursor
		}
		l.put("", cursor)
		m.eventLine(l, e, names)
		lines = append(lines, l.done())
	}
	if len(events) == 0 {
		lines = append(lines, m.th.line(w).done(), m.th.line(w).skip(3).put("", m.noEvents()).done())
	}
	lines = m.th.box(lines, w, h-readout)
	if readout == 0 {
		return lines
	}
	lines = append(lines, m.th.line(w).rule().done())
	return m.th.box(append(lines, m.readout(m.events.find(selected), w)...), w, h)
}

func (m *model) eventHeading(w int) string {
	l := m.th.line(w).skip(1).put(m.th.heading, "EVENTS").skip(1).put(m.th.dim, "newest first, since "+m.timeOfDay(m.observed()))
	if n := m.events.missed; n > 0 {
		l.skip(2).put(m.th.warn, format.Count(int(n))+" were dropped before they could be read")
	}
	right := format.Count(m.told.Pos()+min(m.told.Len(), 1)) + " of " + format.Count(m.told.Len())
	if x := w - len(right) - 1; l.x < x {
		l.to(x).put(m.th.dim, right)
	}
	return l.done()
}

// noEvents says why the log is empty.
func (m *model) noEvents() string {
	if m.idx.filter.empty() && m.idx.kind == sources.KindUnknown {
		return "nothing has changed since " + m.timeOfDay(m.observed())
	}
	return "nothing that is selected has changed since " + m.timeOfDay(m.observed()) + ": " + m.keyIn(inEvents, doClear) + " shows all"
}

// readout is one event in full.
func (m *model) readout(e *sources.Event, w int) []string {
	if e == nil {
		return nil
	}
	say := func(name string, parts ...part) string {
		l := m.th.line(w).skip(1).cell(m.th.dim, name, 8)
		for _, p := range parts {
			l.put(p.st, p.text)
		}
		return l.done()
	}
	of := []part{{m.th.strong, eventName(e)}}
	if e.Ref.Name != "" {
		of = append(of, part{m.th.dim, "  " + strings.Join(dropEmpty(e.RefKind.String(), clean(e.Ref.Source), clean(e.Ref.Space)), " "+m.th.dot+" ")})
	}
	lines := []string{say("WHAT", of...), say("WHEN", m.when(e)...), say("", m.eventText(e)...)}
	var ids []part
	for _, o := range []struct {
		role string
		ref  sources.OwnerRef
	}{{"owner ", e.Owner}, {"before ", e.Previous}} {
		if o.ref.ID == "" {
			continue
		}
		ids = append(ids, part{m.th.dim, o.role}, part{"", clean(o.ref.ID)})
		if o.ref.Fence > 0 {
			ids = append(ids, part{m.th.dim, " fence "}, part{"", fence(o.ref.Fence)})
		}
		ids = append(ids, part{"", "   "})
	}
	if len(ids) > 0 {
		lines = append(lines, say("ID", ids...))
	}
	known := "event " + format.Count(int(e.Seq)) + " " + e.Kind.String() + ", " + knownAs(e.How)
	if e.Held != (sources.Interval{}) {
		known = "owned for " + intervalText(e.Held) + "; " + known
	}
	return append(lines, say("", part{m.th.dim, known}))
}

// when says in which stretch of time an event happened.
func (m *model) when(e *sources.Event) []part {
	at := e.At.In(m.now.Location())
	ago := part{m.th.dim, ", " + format.Precise(m.now.Sub(e.At)) + " ago"}
	if e.After.IsZero() || !e.After.Before(e.At) {
		return []part{{"", at.Format("2006-01-02 15:04:05.000")}, ago}
	}
	return []part{{"", "after " + e.After.In(m.now.Location()).Format("2006-01-02 15:04:05.000") + ", at the latest " + at.Format("15:04:05.000")},
		{m.th.dim, " (within " + format.Precise(e.At.Sub(e.After)) + ")"}, ago}
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

func dropEmpty(words ...string) []string {
	var kept []string
	for _, w := range words {
		if w != "" {
			kept = append(kept, w)
		}
	}
	return kept
}

// pickEvent moves the cursor of the list to the row of the event under the cursor, and
// says why where that cannot be.
func (m *model) pickEvent() bool {
	seq, ok := m.told.Selected()
	e := m.events.find(seq)
	if !ok || e == nil {
		return false
	}
	if e.Ref.Name == "" {
		m.open(viewSources)
		return false
	}
	h, ok := m.find(e.Ref)
	switch {
	case !ok:
		m.say(clean(e.Ref.Name) + " does not exist any more")
		return false
	case !m.idx.entries[h.slot].listed:
		m.say("the list does not show " + clean(e.Ref.Name) + ": " + m.keyIn(inList, doClear) + " clears the filter")
		return false
	}
	m.told.Move(0) // the event is chosen now: the cursor stays on it
	return m.tbl.Select(h)
}

// observed is since when we have been looking.
func (m *model) observed() time.Time {
	if at := m.events.since; !at.IsZero() && at.Before(m.started) {
		return at
	}
	return m.started
}
