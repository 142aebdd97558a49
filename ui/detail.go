package ui

import (
	"strings"

	"coordtop/internal/format"
	"coordtop/sources"
)

// detail draws the pane of the row under the cursor: what matters first, because the
// pane may be five lines high.
func (m *model) detail(w, h int) []string {
	row, v := m.selected()
	if row == nil {
		return m.th.blank(w, h)
	}
	lines := []string{m.detailTitle(row, v, w)}
	gap := m.th.line(w).done()
	if h >= 9 {
		lines = append(lines, gap)
	}
	sections := [][]string{m.owners(row, v, w, h >= 9), m.waiters(row, v, w, false), m.ourActions(row, w), m.ifReleased(row, v, w)}
	if h >= 14 {
		sections = append(sections, m.sawtooth(row, v, w))
	}
	sections = append(sections, m.former(row, w), m.candidates(row, w, false))
	for i, section := range sections {
		if i > 0 && len(section) > 0 && h >= 9 {
			lines = append(lines, gap)
		}
		lines = append(lines, section...)
	}
	return m.th.box(lines, w, h)
}

// detailTitle names the row, what it is, where it is, and its state as a word. Of a row
// that is stale it says up to when it is known.
func (m *model) detailTitle(row *sources.Row, v verdict, w int) string {
	l := m.th.line(w).skip(1)
	state := stateText(v) + m.pendingText(row.Ref)
	if v.status == sources.StatusStale {
		state += ", as of " + m.timeOfDay(row.KnownAt(m.st, m.now))
	}
	room := w - 5 - len(state)
	first, second := clean(row.Name), m.alias(row)
	if second != "" && numeric(first) {
		first, second = second, first
	}
	l.put(m.th.strong, m.th.cut(first, room)).skip(2)
	if l.x+format.Width(second)+len(state)+4 <= w && second != "" {
		l.put(m.th.dim, second).skip(2)
	}
	return l.put(m.th.severityText(v.sev), state).skip(2).put(m.th.dim, strings.Join(m.place(row), " "+m.th.dot+" ")).done()
}

// place says what a row is and where.
func (m *model) place(row *sources.Row) []string {
	place := []string{row.Kind.String(), clean(row.Source)}
	address := ""
	for i := range m.st.Sources {
		if s := &m.st.Sources[i]; s.Name == row.Source {
			address = clean(s.Address)
			place = append(place, address)
		}
	}
	if space := clean(row.Space); space != "" && !strings.HasSuffix(address, "/"+space) && space != address {
		place = append(place, space)
	}
	return place
}

// stateText is a row's state in words.
func stateText(v verdict) string {
	text := v.status.String()
	if v.flapping {
		text += ", flapping: " + count(int(v.changes), "change") + " in 1 h"
	}
	if v.waiting {
		text += ", long wait"
	}
	return text
}

// severityText is the style of a state's word.
func (t *theme) severityText(s severity) style {
	if s == sevWell {
		return t.good
	}
	return t.severity(s)
}

// formerTerms is how many terms before the running one are listed.
const formerTerms = 3

// former lists who owned it before and why they do not any more.
func (m *model) former(row *sources.Row, w int) []string {
	var lines []string
	for i := len(row.Terms) - 1; i >= 0 && len(lines) < formerTerms; i-- {
		t := &row.Terms[i]
		if t.End.At.IsZero() {
			continue
		}
		l := m.th.line(w).skip(2).put(m.th.ownerLetter(t.Hue), letter(t.Hue)).skip(1).put("", cleanLabel(t.Owner.Label)).skip(2)
		l.put(m.th.dim, m.roughly(t.Start)+m.timeOfDay(t.Start.At)+" to "+m.roughly(t.End)+m.timeOfDay(t.End.At)).skip(2)
		l.put("", m.termLength(t)).skip(2).put(m.th.dim, m.cause(t.Cause, t.How))
		lines = append(lines, l.done())
	}
	if len(lines) == 0 {
		return nil
	}
	head := m.th.line(w).skip(2).put(m.th.dim, "BEFORE")
	if g := row.Gaps(m.st, m.now, changesSpan); g.Count > 0 {
		head.skip(2).put(m.th.dim, "nobody "+count(g.Count, "time")+" in 1 h, "+intervalText(g.Sum)+" in all, longest "+intervalText(g.Longest))
	}
	return append([]string{head.done()}, lines...)
}

// roughly is the sign of an instant that lies between two looks, was there before the
// first, cannot have been earlier, or is the owner's word.
func (m *model) roughly(s sources.Stamp) string {
	switch {
	case s.How == sources.AtLeast:
		return m.th.atMost
	case s.How == sources.Bound:
		return m.th.atLeast
	case s.How == sources.Claimed || ranged(s):
		return m.th.about
	}
	return ""
}

// termLength is how long a term lasted that is over: "≥" where it began before we looked,
// "≤" where it cannot have begun earlier.
func (m *model) termLength(t *sources.Term) string {
	text := format.Age(t.End.At.Sub(t.Start.At))
	switch {
	case t.Start.How == sources.AtLeast:
		return m.th.atLeast + format.Age(t.Held().Min)
	case t.Start.How == sources.Bound:
		return m.th.atMost + text
	case m.roughly(t.Start) != "" || m.roughly(t.End) != "":
		return m.th.about + text
	}
	return text
}
