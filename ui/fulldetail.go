package ui

import (
	"slices"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/timeline"
)

// rowEvents is how many of a row's events its own screen lists.
const rowEvents = 200

// fullDetail is all there is to know about the row under the cursor.
func (m *model) fullDetail(w int) []string {
	row, v := m.selected()
	gap := m.th.Line(w).Done()
	if row == nil {
		return []string{gap, m.th.Line(w).Skip(1).Put(m.th.Dim, "this row does not exist any more").Done()}
	}
	lines := []string{gap, m.detailTitle(row, v, w)}
	for _, section := range [][]string{m.owners(row, v, w, false), m.ownerFacts(row, w), m.sawtooth(row, v, w), m.waiters(row, v, w, true), m.ourActions(row, w),
		m.candidates(row, w, true), m.ifReleased(row, v, w), m.wideStrip(row, w), m.former(row, w), m.data(row, w),
		m.labelFacts(row, w), m.rowEvents(row, w)} {
		if len(section) > 0 {
			lines = append(append(lines, gap), section...)
		}
	}
	return lines
}

// wideStrip is the row's strip over the whole width.
func (m *model) wideStrip(row *sources.Row, w int) []string {
	if len(row.Terms) == 0 && row.Nobody.At.IsZero() && row.Kind != sources.KindSemaphore {
		return nil
	}
	win := timeline.Fit(m.now, m.span(w-4), w-4)
	what := "OWNERS"
	if row.Kind == sources.KindSemaphore {
		what = "PERMITS TAKEN"
	}
	head := m.th.Line(w).Skip(2).Put(m.th.Dim, what+" in the last "+format.Age(win.Span())+", 1 column = "+format.Age(win.Step))
	axis, strip := m.th.Line(w).Skip(2), m.th.Line(w).Skip(2)
	axis.Axis(win, m.now.Location())
	m.strip(strip, row, win)
	return []string{head.Done(), axis.Done(), strip.Done()}
}

// Short data of one of several owners is not said again where the table of owners has room
// for it: bytes, and cells of the screen.
const (
	shortData     = 40
	tableWithData = 120
)

// data is the values that belong to the row, over as many lines as they need.
func (m *model) data(row *sources.Row, w int) []string {
	var lines []string
	show := func(title string, b sources.Blob) {
		if b.Len == 0 {
			return
		}
		l := m.th.Line(w).Skip(2).Put(m.th.Dim, title+", "+paint.Count(b.Len, "byte"))
		if b.Len > len(b.Head) {
			l.Put(m.th.Dim, ", the first "+format.Count(len(b.Head)))
		}
		lines = append(lines, l.Done())
		for _, s := range paint.BlobLines(b, w-4) {
			lines = append(lines, m.th.Line(w).Skip(2).Put("", s).Done())
		}
	}
	show("DATA", row.Data)
	for i := range row.Owners {
		if len(row.Owners) > 1 && w >= tableWithData && row.Owners[i].Data.Len <= shortData {
			continue // it stands in the table of owners, and is no less legible there
		}
		show("DATA of "+paint.CleanLabel(row.Owners[i].Label), row.Owners[i].Data)
	}
	return lines
}

// ownerFacts is what the backend tells of each owner.
func (m *model) ownerFacts(row *sources.Row, w int) []string {
	if len(row.Owners) == 1 {
		o := &row.Owners[0]
		attrs := o.Attrs
		if session := paint.Clean(o.Session); m.shortSession(o.Session) != session {
			attrs = append(slices.Clone(attrs), sources.Attr{Key: "session", Value: session})
		}
		return m.titled("FACTS of "+paint.CleanLabel(o.Label), m.factColumns(attrs, w), w)
	}
	indent := 4
	for i := range row.Owners {
		indent = max(indent, 4+min(format.Width(paint.CleanLabel(row.Owners[i].Label)), factNames)+2)
	}
	var lines []string
	for i := range row.Owners {
		lines = append(lines, m.factsOf(paint.CleanLabel(row.Owners[i].Label), row.Owners[i].Attrs, w, indent)...)
	}
	return m.titled("FACTS", lines, w)
}

// titled puts a title over lines, if there are any.
func (m *model) titled(title string, lines []string, w int) []string {
	if len(lines) == 0 {
		return nil
	}
	return append([]string{m.th.Line(w).Skip(2).Put(m.th.Dim, title).Done()}, lines...)
}

// factNames is how many cells an owner's name may take before its facts.
const factNames = 24

// labelFacts are what the configuration says of the row.
func (m *model) labelFacts(row *sources.Row, w int) []string {
	return m.titled("LABELS", m.factColumns(row.Labels, w), w)
}

func (m *model) rowEvents(row *sources.Row, w int) []string {
	if w < 2 {
		return nil
	}
	events := m.eventLines(w-2, rowEvents, false, func(e *sources.Event) bool { return e.Ref == row.Ref })
	if len(events) == 0 {
		return nil
	}
	events = paint.Indented(paint.Indented(events))
	title := m.th.Line(w).Skip(2).Put(m.th.Dim, "EVENTS of this row, newest first").Done()
	return append([]string{title}, events...)
}
