package ui

import (
	"strings"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// detail draws the pane of the row under the cursor: what matters first, because the
// pane may be five lines high.
func (m *model) detail(w, h int) []string {
	row, v := m.selected()
	if row == nil {
		return m.th.Blank(w, h)
	}
	lines := []string{m.detailTitle(row, v, w)}
	gap := m.th.Line(w).Done()
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
	return m.th.Box(lines, w, h)
}

// detailTitle names the row, what it is, where it is, and its state as a word. Of a row
// that is stale it says up to when it is known.
func (m *model) detailTitle(row *sources.Row, v rows.Verdict, w int) string {
	l := m.th.Line(w).Skip(1)
	state := stateText(v) + m.pendingText(row.Ref)
	if v.Status == sources.StatusStale {
		state += ", as of " + paint.TimeOfDay(row.KnownAt(m.st, m.now), m.now)
	}
	room := w - 5 - len(state)
	first, second := paint.Clean(row.Name), m.alias(row)
	if second != "" && paint.Numeric(first) {
		first, second = second, first
	}
	l.Put(m.th.Strong, m.th.Cut(first, room)).Skip(2)
	if l.X+format.Width(second)+len(state)+4 <= w && second != "" {
		l.Put(m.th.Dim, second).Skip(2)
	}
	return l.Put(m.th.SeverityText(v.Severity), state).Skip(2).Put(m.th.Dim, strings.Join(m.place(row), " "+m.th.Dot+" ")).Done()
}

// place says what a row is and where.
func (m *model) place(row *sources.Row) []string {
	place := []string{row.Kind.String(), paint.Clean(row.Source)}
	address := ""
	for i := range m.st.Sources {
		if s := &m.st.Sources[i]; s.Name == row.Source {
			address = paint.Clean(s.Address)
			place = append(place, address)
		}
	}
	if space := paint.Clean(row.Space); space != "" && !strings.HasSuffix(address, "/"+space) && space != address {
		place = append(place, space)
	}
	return place
}

// stateText is a row's state in words.
func stateText(v rows.Verdict) string {
	text := v.Status.String()
	if v.Flapping {
		text += ", flapping: " + paint.Count(int(v.Changes), "change") + " in 1 h"
	}
	if v.Waiting {
		text += ", long wait"
	}
	return text
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
		l := m.th.Line(w).Skip(2).Put(m.th.OwnerLetter(t.Hue), paint.Letter(t.Hue)).Skip(1).Put("", paint.CleanLabel(t.Owner.Label)).Skip(2)
		l.Put(m.th.Dim, m.th.Roughly(t.Start)+paint.TimeOfDay(t.Start.At, m.now)+" to "+m.th.Roughly(t.End)+paint.TimeOfDay(t.End.At, m.now)).Skip(2)
		l.Put("", m.th.TermLength(t)).Skip(2).Put(m.th.Dim, m.th.Cause(t.Cause, t.How))
		lines = append(lines, l.Done())
	}
	if len(lines) == 0 {
		return nil
	}
	head := m.th.Line(w).Skip(2).Put(m.th.Dim, "BEFORE")
	if g := row.Gaps(m.st, m.now, rows.ChangesSpan); g.Count > 0 {
		head.Skip(2).Put(m.th.Dim, "nobody "+paint.Count(g.Count, "time")+" in 1 h, "+paint.IntervalText(g.Sum)+" in all, longest "+paint.IntervalText(g.Longest))
	}
	return append([]string{head.Done()}, lines...)
}
