package ui

import (
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
)

// eventPane draws the newest events of what the list shows. What a busy row does all the
// time is one line for each stretch of time, so that the losses among it are seen; the
// screen of events has each.
func (m *model) eventPane(w, h int) []string {
	l := m.th.Line(w).Put(m.th.Heading, "EVENTS").Skip(1)
	if m.idx.filter.empty() {
		l.Put(m.th.Dim, "of all rows, newest first")
	} else {
		l.Put(m.th.Dim, "of what the filter shows, newest first")
	}
	if m.events.busy {
		l.Put(m.th.Dim, ", once a second")
	}
	news := m.news(h-1, func(e *sources.Event) bool {
		return e.Seq <= m.events.shown && loud(e) && m.idx.filter.event(e)
	})
	events := make([]*sources.Event, len(news))
	for i := range news {
		events[i] = news[i].event
	}
	names := nameWidth(events, w)
	lines := []string{l.Done()}
	for i := range news {
		l := m.th.Line(w)
		if n := &news[i]; n.more == 0 {
			m.eventLine(l, n.event, names)
		} else {
			m.newsLine(l, n, names)
		}
		lines = append(lines, l.Done())
	}
	if len(news) == 0 {
		lines = append(lines, m.th.Line(w).Put(m.th.Dim, "nothing has changed since "+paint.TimeOfDay(m.started, m.now)).Done())
	}
	return m.th.Box(lines, w, h)
}

// news is an event, and what else its row did in the same stretch of time.
type news struct {
	event      *sources.Event // the newest
	first      time.Time      // when the oldest happened
	more       int            // how many others there are
	took, gone int            // owners that came and went, of all of them
}

// newsStretch is over what time the chatter of a row is one line: from one multiple of it
// to the next, so that the lines of what is past stand still.
const newsStretch = 10 * time.Second

// chatter says whether an event is what a row does all the time: who takes turns on a lock,
// and whose permits come and go. Elections are news each time.
func chatter(e *sources.Event) bool {
	if e.RefKind == sources.KindElection || e.Ref.Name == "" {
		return false
	}
	switch e.Kind {
	case sources.EventAcquired, sources.EventProclaimed:
		return true
	case sources.EventReleased, sources.EventOwnerChanged:
		return e.Cause == sources.CauseReleased || e.Cause == sources.CauseUnknown
	}
	return false
}

// news finds at most n lines' worth of the newest events that pass.
func (m *model) news(n int, pass func(*sources.Event) bool) []news {
	type stretch struct {
		ref sources.Ref
		at  time.Time
	}
	var list []news
	lines := map[stretch]int{}
	for i := len(m.events.list) - 1; i >= 0; i-- {
		e := &m.events.list[i]
		if !pass(e) {
			continue
		}
		key := stretch{e.Ref, e.At.Truncate(newsStretch)}
		at, known := lines[key]
		if !chatter(e) || !known {
			if len(list) == n {
				break
			}
			at = len(list)
			list = append(list, news{event: e, more: -1})
			if chatter(e) {
				lines[key] = at
			}
		}
		list[at].add(e)
	}
	return list
}

func (n *news) add(e *sources.Event) {
	n.first = e.At
	n.more++
	if e.Kind.BeginsOwner() {
		n.took++
	}
	if e.Kind.EndsOwner() {
		n.gone++
	}
}

// newsLine writes a line that stands for several events: of permits how many came and went,
// else the newest with the number of the others.
func (m *model) newsLine(l *paint.Line, n *news, names int) {
	l.Cell(m.th.Dim, " "+n.event.At.In(m.now.Location()).Format("15:04:05.0"), eventTime).Skip(1)
	l.Cell("", m.th.FitName(eventName(n.event), names), names).Skip(1)
	over := ""
	if d := n.event.At.Sub(n.first); d > 0 {
		over = " in " + format.Precise(d)
	}
	if n.event.RefKind == sources.KindSemaphore {
		var counts []string
		for _, c := range []struct {
			n    int
			text string
		}{{n.took, " took"}, {n.gone, " gone"}, {n.more + 1 - n.took - n.gone, " said"}} {
			if c.n > 0 {
				counts = append(counts, format.Count(c.n)+c.text)
			}
		}
		l.Skip(2).Put("", strings.Join(counts, ", ")).Put(m.th.Dim, over)
		return
	}
	tail := ", " + format.Count(n.more) + " more" + over
	for _, p := range m.eventText(n.event) {
		l.Put(p.Style, m.th.Cut(p.Text, l.Width-len(tail)-l.X))
	}
	l.Put(m.th.Dim, tail)
}
