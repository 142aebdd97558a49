package ui

import (
	"strconv"
	"strings"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/timeline"
)

// list draws the heading and the visible rows of the table, or why there are none.
func (m *model) list(w, rows int) []string {
	win := m.stripWindow()
	lines := append(make([]string, 0, rows+1), m.heading(w, win))
	if m.tbl.Len() == 0 {
		return m.th.box(append(lines, m.empty(w)...), w, rows+1)
	}
	selected, _ := m.tbl.Selected()
	for _, h := range m.tbl.Visible() {
		row, v := m.idx.at(h)
		if row == nil {
			continue
		}
		lines = append(lines, m.row(w, row, v, h == selected, win))
	}
	return m.th.box(lines, w, rows+1)
}

func (m *model) heading(w int, win timeline.Window) string {
	c, l, dim := &m.columns, m.th.line(w), m.th.dim
	l.skip(markWidth).cell(dim, "NAME", c[colName])
	head := func(col column, text string, right bool) {
		if c[col] == 0 {
			return
		}
		l.skip(columnGap[col])
		if right {
			l.right(dim, text, c[col])
			return
		}
		l.cell(dim, text, c[col])
	}
	head(colSource, "SOURCE", false)
	head(colKind, "KIND", false)
	head(colOwner, "  OWNER", false)
	head(colSince, "SINCE", true)
	head(colLease, "LEASE", false)
	head(colWait, "WAIT", true)
	head(colChanges, "CHG", true)
	if c[colStrip] > 0 {
		l.skip(columnGap[colStrip])
		m.axis(l, win)
	}
	return l.done()
}

// row draws one row of the list.
func (m *model) row(w int, row *sources.Row, v verdict, selected bool, win timeline.Window) string {
	c, l := &m.columns, m.th.line(w)
	plain := style("")
	if v.sev == sevBlind {
		plain = m.th.dim
	}
	cursor := " "
	if selected {
		l.over, cursor = m.th.selected, m.th.cursor
	}
	mark, st := m.th.marks[v.sev], m.th.severity(v.sev)
	under := m.under(row.Ref) != nil
	l.put("", cursor)
	if selected && v.sev.problem() {
		l.over += st // reverse video would hide which trouble it is
	}
	l.put(st, mark)
	if selected {
		l.over = m.th.selected
	}
	switch {
	case under:
		l.put(m.th.accent, m.th.pending)
	case m.marks[row.Ref]:
		l.put(m.th.accent, m.th.marked)
	default:
		l.skip(1)
	}
	m.name(l, row, c[colName])
	m.put(l, colSource, m.th.dim, clean(row.Source))
	m.put(l, colKind, m.th.dim, row.Kind.String())
	l.skip(columnGap[colOwner])
	m.owner(l, row, v, plain, under)
	m.putRight(l, colSince, plain, m.since(row, v))
	if c[colLease] > 0 {
		l.skip(columnGap[colLease])
		m.lease(l, row, v)
	}
	wait, st := m.wait(row, v)
	m.putRight(l, colWait, st, wait)
	st = m.th.dim
	if v.flapping && v.sev != sevBlind {
		st = m.th.warn
	}
	m.putRight(l, colChanges, st, changesText(v))
	l.over = ""
	if c[colStrip] > 0 {
		l.skip(columnGap[colStrip])
		m.strip(l, row, win)
	}
	return l.done()
}

func (m *model) put(l *line, col column, st style, text string) {
	if n := m.columns[col]; n > 0 {
		l.skip(columnGap[col]).cell(st, text, n)
	}
}

func (m *model) putRight(l *line, col column, st style, text string) {
	if n := m.columns[col]; n > 0 {
		l.skip(columnGap[col]).right(st, text, n)
	}
}

// owner draws who owns the row, or the word for nobody.
func (m *model) owner(l *line, row *sources.Row, v verdict, plain style, under bool) {
	w := m.columns[colOwner]
	word := func(st style, text string) { l.skip(2).cell(st, text, w-2) }
	switch {
	case row.Note != "":
		word(m.th.dim, clean(row.Note))
	case len(row.Owners) == 1 || len(row.Terms) > 0 && len(row.Owners) > 1:
		m.oneOwner(l, row, plain, w)
	case len(row.Owners) > 1:
		word(plain, count(len(row.Owners), "owner"))
	case row.Taken > 0: // a count is all that is told
		word(plain, "taken by ?")
	case under:
		word(m.th.accent, "pending")
	case v.sev == sevBad:
		word(m.th.bad, v.status.String())
	default:
		word(m.th.dim, v.status.String())
	}
}

// oneOwner draws the owner of the running term, as the strip does, and how many there are
// besides.
func (m *model) oneOwner(l *line, row *sources.Row, plain style, w int) {
	o := &row.Owners[0]
	if n := len(row.Terms) - 1; n >= 0 {
		for i := range row.Owners {
			if row.Owners[i].ID == row.Terms[n].Owner.ID {
				o = &row.Owners[i]
			}
		}
	}
	others := ""
	if n := len(row.Owners) - 1; n > 0 {
		others = " +" + format.Count(n)
	}
	if hue, ok := termHue(row, o.ID); ok {
		l.put(m.th.ownerLetter(hue), letter(hue)).skip(1)
	} else {
		l.skip(2)
	}
	end := l.x + w - 2
	room := w - 2 - len(others)
	l.put(plain, m.th.fitWords(m.ownerLabel(row.Ref, o, room), room)).put(m.th.dim, others).to(end)
}

// name draws what a row is called in w cells. Where the name is only a number, what people
// call it stands first; elsewhere the other name stands behind if there is room.
func (m *model) name(l *line, row *sources.Row, w int) {
	name, alias := clean(row.Name), m.alias(row)
	room := w - format.Width(name) - 2
	end := l.x + w
	switch {
	case alias != "" && numeric(name) && room >= minAlias:
		l.put("", m.th.cut(alias, room)).skip(2).put(m.th.dim, name).to(end)
	case alias != "" && room >= format.Width(alias):
		l.put("", name).skip(2).put(m.th.dim, alias).to(end)
	default:
		l.cell("", m.th.fitName(name, w), w)
	}
}

// alias is the other name of a row; one that is only likely has a sign before it.
func (m *model) alias(row *sources.Row) string {
	if row.Alias != "" && row.AliasHow == sources.Inferred {
		return m.th.about + clean(row.Alias)
	}
	return clean(row.Alias)
}

// minAlias is how many cells an alias takes at least beside a number.
const minAlias = 6

// numeric says whether a name is only a number, or two.
func numeric(name string) bool {
	return name != "" && strings.Trim(name, "0123456789:-") == ""
}

func (m *model) wait(row *sources.Row, v verdict) (string, style) {
	switch {
	case row.Queue.How == sources.Unknown:
		return "?", m.th.dim
	case v.waiting:
		return strconv.Itoa(row.Queue.Len), m.th.warn
	case row.Queue.Len == 0 || v.sev == sevBlind:
		return strconv.Itoa(row.Queue.Len), m.th.dim
	}
	return strconv.Itoa(row.Queue.Len), ""
}

func changesText(v verdict) string {
	if v.status == sources.StatusNotObserved {
		return "?"
	}
	return strconv.Itoa(int(v.changes))
}
