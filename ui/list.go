package ui

import (
	"strconv"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/timeline"
)

// list draws the heading and the visible rows of the table, or why there are none.
func (m *model) list(w, rows int) []string {
	win := m.stripWindow()
	lines := append(make([]string, 0, rows+1), m.heading(w, win))
	if m.tbl.Len() == 0 {
		return m.th.Box(append(lines, m.empty(w)...), w, rows+1)
	}
	selected, _ := m.tbl.Selected()
	for _, h := range m.tbl.Visible() {
		row, v := m.idx.At(h)
		if row == nil {
			continue
		}
		lines = append(lines, m.row(w, row, v, h == selected, win))
	}
	return m.th.Box(lines, w, rows+1)
}

func (m *model) heading(w int, win timeline.Window) string {
	c, l, dim := &m.columns, m.th.Line(w), m.th.Dim
	l.Skip(markWidth).Cell(dim, "NAME", c[colName])
	head := func(col column, text string, right bool) {
		if c[col] == 0 {
			return
		}
		l.Skip(columnGap[col])
		if right {
			l.Right(dim, text, c[col])
			return
		}
		l.Cell(dim, text, c[col])
	}
	head(colSource, "SOURCE", false)
	head(colKind, "KIND", false)
	head(colOwner, "  OWNER", false)
	head(colSince, "SINCE", true)
	head(colLease, "LEASE", false)
	head(colWait, "WAIT", true)
	head(colChanges, "CHG", true)
	if c[colStrip] > 0 {
		l.Skip(columnGap[colStrip])
		l.Axis(win, m.now.Location())
	}
	return l.Done()
}

// row draws one row of the list.
func (m *model) row(w int, row *sources.Row, v rows.Verdict, selected bool, win timeline.Window) string {
	c, l := &m.columns, m.th.Line(w)
	plain := paint.Style("")
	if v.Severity == paint.Blind {
		plain = m.th.Dim
	}
	cursor := " "
	if selected {
		l.Over, cursor = m.th.Selected, m.th.Cursor
	}
	mark, st := m.th.Marks[v.Severity], m.th.Severity(v.Severity)
	under := m.under(row.Ref) != nil
	l.Put("", cursor)
	if selected && v.Severity.Problem() {
		l.Over += st // reverse video would hide which trouble it is
	}
	l.Put(st, mark)
	if selected {
		l.Over = m.th.Selected
	}
	switch {
	case under:
		l.Put(m.th.Accent, m.th.Pending)
	case m.marks[row.Ref]:
		l.Put(m.th.Accent, m.th.Marked)
	default:
		l.Skip(1)
	}
	m.name(l, row, c[colName])
	m.put(l, colSource, m.th.Dim, paint.Clean(row.Source))
	m.put(l, colKind, m.th.Dim, row.Kind.String())
	l.Skip(columnGap[colOwner])
	m.owner(l, row, v, plain, under)
	m.putRight(l, colSince, plain, m.since(row, v))
	if c[colLease] > 0 {
		l.Skip(columnGap[colLease])
		m.lease(l, row, v)
	}
	wait, st := m.wait(row, v)
	m.putRight(l, colWait, st, wait)
	st = m.th.Dim
	if v.Flapping && v.Severity != paint.Blind {
		st = m.th.Warn
	}
	m.putRight(l, colChanges, st, changesText(v))
	l.Over = ""
	if c[colStrip] > 0 {
		l.Skip(columnGap[colStrip])
		m.strip(l, row, win)
	}
	return l.Done()
}

func (m *model) put(l *paint.Line, col column, st paint.Style, text string) {
	if n := m.columns[col]; n > 0 {
		l.Skip(columnGap[col]).Cell(st, text, n)
	}
}

func (m *model) putRight(l *paint.Line, col column, st paint.Style, text string) {
	if n := m.columns[col]; n > 0 {
		l.Skip(columnGap[col]).Right(st, text, n)
	}
}

// owner draws who owns the row, or the word for nobody.
func (m *model) owner(l *paint.Line, row *sources.Row, v rows.Verdict, plain paint.Style, under bool) {
	w := m.columns[colOwner]
	word := func(st paint.Style, text string) { l.Skip(2).Cell(st, text, w-2) }
	switch {
	case row.Note != "":
		word(m.th.Dim, paint.Clean(row.Note))
	case len(row.Owners) == 1 || len(row.Terms) > 0 && len(row.Owners) > 1:
		m.oneOwner(l, row, plain, w)
	case len(row.Owners) > 1:
		word(plain, paint.Count(len(row.Owners), "owner"))
	case row.Taken > 0: // a count is all that is told
		word(plain, "taken by ?")
	case under:
		word(m.th.Accent, "pending")
	case v.Severity == paint.Bad:
		word(m.th.Bad, v.Status.String())
	default:
		word(m.th.Dim, v.Status.String())
	}
}

// oneOwner draws the owner of the running term, as the strip does, and how many there are
// besides.
func (m *model) oneOwner(l *paint.Line, row *sources.Row, plain paint.Style, w int) {
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
		l.Put(m.th.OwnerLetter(hue), paint.Letter(hue)).Skip(1)
	} else {
		l.Skip(2)
	}
	end := l.X + w - 2
	room := w - 2 - len(others)
	l.Put(plain, m.th.FitWords(m.ownerLabel(row.Ref, o, room), room)).Put(m.th.Dim, others).To(end)
}

// name draws what a row is called in w cells. Where the name is only a number, what people
// call it stands first; elsewhere the other name stands behind if there is room.
func (m *model) name(l *paint.Line, row *sources.Row, w int) {
	name, alias := paint.Clean(row.Name), m.alias(row)
	room := w - format.Width(name) - 2
	end := l.X + w
	switch {
	case alias != "" && paint.Numeric(name) && room >= minAlias:
		l.Put("", m.th.Cut(alias, room)).Skip(2).Put(m.th.Dim, name).To(end)
	case alias != "" && room >= format.Width(alias):
		l.Put("", name).Skip(2).Put(m.th.Dim, alias).To(end)
	default:
		l.Cell("", m.th.FitName(name, w), w)
	}
}

// alias is the other name of a row; one that is only likely has a sign before it.
func (m *model) alias(row *sources.Row) string {
	if row.Alias != "" && row.AliasHow == sources.Inferred {
		return m.th.About + paint.Clean(row.Alias)
	}
	return paint.Clean(row.Alias)
}

// minAlias is how many cells an alias takes at least beside a number.
const minAlias = 6

func (m *model) wait(row *sources.Row, v rows.Verdict) (string, paint.Style) {
	switch {
	case row.Queue.How == sources.Unknown:
		return "?", m.th.Dim
	case v.Waiting:
		return strconv.Itoa(row.Queue.Len), m.th.Warn
	case row.Queue.Len == 0 || v.Severity == paint.Blind:
		return strconv.Itoa(row.Queue.Len), m.th.Dim
	}
	return strconv.Itoa(row.Queue.Len), ""
}

func changesText(v rows.Verdict) string {
	if v.Status == sources.StatusNotObserved {
		return "?"
	}
	return strconv.Itoa(int(v.Changes))
}
