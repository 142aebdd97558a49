package ui

import (
	"slices"

	"coordtop/internal/format"
	"coordtop/sources"
)

// eventLog keeps the last events that the panes show.
type eventLog struct {
	list   []sources.Event // oldest first
	missed uint64          // dropped by the feed before we read them
}

const (
	keptEvents = 2000
	eventBatch = 1000 // read in one go
	maxBatches = 10   // more is left for the next wake-up
)

// read takes what is new. What nobody looks at here is not kept.
func (log *eventLog) read(feed Feed) {
	for range maxBatches {
		events, missed := feed.Events(eventBatch)
		log.missed += missed
		for i := range events {
			if telling(&events[i]) {
				log.list = append(log.list, events[i])
			}
		}
		if over := len(log.list) - keptEvents; over > keptEvents/4 {
			log.list = slices.Delete(log.list, 0, over)
		}
		if len(events) < eventBatch {
			return
		}
	}
}

// telling says whether an event is worth a line: not what was there already, nor that
// all goes on as it should.
func telling(e *sources.Event) bool {
	switch e.Kind {
	case sources.EventPresent, sources.EventSynced, sources.EventRenewed:
		return false
	}
	return true
}

// loud says whether an event belongs among those of all rows; others are shown with
// their row only.
func loud(e *sources.Event) bool {
	return e.Kind != sources.EventWaiterJoined && e.Kind != sources.EventWaiterLeft
}

// eventPane draws the newest events of what the list shows.
func (m *model) eventPane(w, h int) []string {
	l := m.th.line(w).put(m.th.heading, "EVENTS").skip(1)
	if m.idx.filter.empty() {
		l.put(m.th.dim, "of all rows, newest first")
	} else {
		l.put(m.th.dim, "of what the filter shows, newest first")
	}
	lines := m.eventLines(w, h-1, func(e *sources.Event) bool { return loud(e) && m.idx.filter.event(e) })
	if len(lines) == 0 {
		lines = append(lines, m.th.line(w).put(m.th.dim, "nothing has changed since "+m.timeOfDay(m.started)).done())
	}
	return m.th.box(append([]string{l.done()}, lines...), w, h)
}

// eventLines draws at most n of the newest events that pass.
func (m *model) eventLines(w, n int, pass func(*sources.Event) bool) []string {
	var lines []string
	for i := len(m.events.list) - 1; i >= 0 && len(lines) < n; i-- {
		if e := &m.events.list[i]; pass(e) {
			lines = append(lines, m.eventLine(e, w))
		}
	}
	return lines
}

// eventName is how many cells the name of an event's row takes.
const eventName = 20

func (m *model) eventLine(e *sources.Event, w int) string {
	l := m.th.line(w)
	l.put(m.th.dim, e.At.In(m.now.Location()).Format("15:04:05.0")).skip(1)
	name := e.Ref.Name
	if name == "" {
		name = e.Ref.Source
		if e.Scope != "" {
			name += " " + e.Scope
		}
	}
	l.cell("", m.th.fitName(clean(name), eventName), eventName).skip(1)
	for _, p := range m.eventText(e) {
		l.put(p.st, p.text)
	}
	if d := spread(e); d > 0 {
		l.put(m.th.dim, ", or up to "+format.Precise(d)+" earlier")
	}
	return l.done()
}

// eventText is the sentence of an event.
func (m *model) eventText(e *sources.Event) []part {
	th := &m.th
	switch e.Kind {
	case sources.EventAcquired:
		return append(m.who(e, e.Owner), part{th.good, "took it"}, gapPart(th, e))
	case sources.EventOwnerChanged:
		parts := append(m.who(e, e.Owner), part{th.good, "took it"}, part{"", " from "})
		parts = append(parts, m.who(e, e.Previous)...)
		if e.Cause == sources.CauseUnknown {
			return parts
		}
		return append(parts, part{th.dim, "(" + causeText(e.Cause, e.How) + ")"})
	case sources.EventReleased:
		return append(m.who(e, e.Previous), part{th.warn, "is gone"}, part{"", ": " + causeText(e.Cause, e.How)}, leasePart(e))
	case sources.EventExpired:
		return append(m.who(e, e.Previous), part{th.bad, "lost it"}, part{"", ": " + causeText(e.Cause, e.How)})
	case sources.EventProclaimed:
		return append(m.who(e, e.Owner), part{th.accent, "says"}, part{"", " " + clean(e.Detail)})
	case sources.EventWaiterJoined:
		return append(m.who(e, e.Owner), part{"", "waits"})
	case sources.EventWaiterLeft:
		return append(m.who(e, e.Owner), part{"", "waits no more"})
	case sources.EventSourceDown:
		return []part{{th.bad, "data is old from here"}, detailPart(th, e)}
	case sources.EventSourceUp:
		return []part{{th.good, "answers"}, detailPart(th, e)}
	case sources.EventRestarted:
		return []part{{th.warn, "server restarted"}, detailPart(th, e)}
	case sources.EventClockStep:
		return []part{{th.warn, "clock stepped"}, detailPart(th, e)}
	case sources.EventCreated:
		return []part{{"", "appeared"}, detailPart(th, e)}
	case sources.EventDeleted:
		return []part{{th.warn, "does not exist any more"}, detailPart(th, e)}
	}
	return []part{{"", e.Kind.String()}, detailPart(th, e)}
}

// who names an owner with the letter it has in its row.
func (m *model) who(e *sources.Event, o sources.OwnerRef) []part {
	label := part{"", clean(o.Label) + " "}
	if o.Label == "" {
		label.text = clean(o.ID) + " "
	}
	if hue, ok := m.hueOf(e.Ref, o.ID); ok {
		return []part{{m.th.ownerLetter(hue), letter(hue)}, {"", " "}, label}
	}
	return []part{{"", "  "}, label}
}

// hueOf is the letter's number of an owner in its row's terms, the newest first.
func (m *model) hueOf(ref sources.Ref, owner string) (uint8, bool) {
	h, ok := m.find(ref)
	if !ok {
		return 0, false
	}
	terms := m.st.Rows[h.slot].Terms
	for i := len(terms) - 1; i >= 0; i-- {
		if terms[i].Owner.ID == owner {
			return terms[i].Hue, true
		}
	}
	return 0, false
}

func gapPart(th *theme, e *sources.Event) part {
	if e.Gap == (sources.Interval{}) {
		return part{}
	}
	return part{th.dim, ", gap " + intervalText(e.Gap)}
}

func leasePart(e *sources.Event) part {
	if e.LeaseLeft <= 0 {
		return part{}
	}
	return part{"", ", " + format.Precise(e.LeaseLeft) + " before its end"}
}

func detailPart(th *theme, e *sources.Event) part {
	if e.Detail == "" {
		return part{}
	}
	return part{th.dim, "  " + clean(e.Detail)}
}
