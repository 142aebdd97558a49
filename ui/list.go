package ui

import (
	"strconv"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/timeline"
)

// drawList draws the heading and the visible rows of the table, or why there are none.
func drawList(sc *scene, w, rows int) []string {
	win := stripWindow(sc)
	lines := append(make([]string, 0, rows+1), listHeading(sc, w, win))
	if sc.tbl.Len() == 0 {
		return sc.th.Box(append(lines, emptyList(sc, w)...), w, rows+1)
	}
	selected, _ := sc.tbl.Selected()
	for _, h := range sc.tbl.Visible() {
		row, v := sc.idx.At(h)
		if row == nil {
			continue
		}
		lines = append(lines, drawRow(sc, w, row, v, h == selected, win))
	}
	return sc.th.Box(lines, w, rows+1)
}

func listHeading(sc *scene, w int, win timeline.Window) string {
	c, l, dim := &sc.columns, sc.th.Line(w), sc.th.Dim
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
		l.Axis(win, sc.now.Location())
	}
	return l.Done()
}

// drawRow draws one row of the list.
func drawRow(sc *scene, w int, row *sources.Row, v rows.Verdict, selected bool, win timeline.Window) string {
	c, l := &sc.columns, sc.th.Line(w)
	plain := paint.Style("")
	if v.Severity == paint.Blind {
		plain = sc.th.Dim
	}
	cursor := " "
	if selected {
		l.Over, cursor = sc.th.Selected, sc.th.Cursor
	}
	mark, st := sc.th.Marks[v.Severity], sc.th.Severity(v.Severity)
	under := runUnder(sc, row.Ref) != nil
	l.Put("", cursor)
	if selected && v.Severity.Problem() {
		l.Over += st // reverse video would hide which trouble it is
	}
	l.Put(st, mark)
	if selected {
		l.Over = sc.th.Selected
	}
	switch {
	case under:
		l.Put(sc.th.Accent, sc.th.Pending)
	case sc.marks[row.Ref]:
		l.Put(sc.th.Accent, sc.th.Marked)
	default:
		l.Skip(1)
	}
	drawName(sc, l, row, c[colName])
	putCell(sc, l, colSource, sc.th.Dim, paint.Clean(row.Source))
	putCell(sc, l, colKind, sc.th.Dim, row.Kind.String())
	l.Skip(columnGap[colOwner])
	drawOwner(sc, l, row, v, plain, under)
	putRightCell(sc, l, colSince, plain, sinceText(sc, row, v))
	if c[colLease] > 0 {
		l.Skip(columnGap[colLease])
		drawLease(sc, l, row, v)
	}
	wait, st := waitText(sc, row, v)
	putRightCell(sc, l, colWait, st, wait)
	st = sc.th.Dim
	if v.Flapping && v.Severity != paint.Blind {
		st = sc.th.Warn
	}
	putRightCell(sc, l, colChanges, st, changesText(v))
	l.Over = ""
	if c[colStrip] > 0 {
		l.Skip(columnGap[colStrip])
		drawStrip(sc, l, row, win)
	}
	return l.Done()
}

func putCell(sc *scene, l *paint.Line, col column, st paint.Style, text string) {
	if n := sc.columns[col]; n > 0 {
		l.Skip(columnGap[col]).Cell(st, text, n)
	}
}

func putRightCell(sc *scene, l *paint.Line, col column, st paint.Style, text string) {
	if n := sc.columns[col]; n > 0 {
		l.Skip(columnGap[col]).Right(st, text, n)
	}
}

// drawOwner draws who owns the row, or the word for nobody.
func drawOwner(sc *scene, l *paint.Line, row *sources.Row, v rows.Verdict, plain paint.Style, under bool) {
	w := sc.columns[colOwner]
	word := func(st paint.Style, text string) { l.Skip(2).Cell(st, text, w-2) }
	switch {
	case row.Note != "":
		word(sc.th.Dim, paint.Clean(row.Note))
	case len(row.Owners) == 1 || len(row.Terms) > 0 && len(row.Owners) > 1:
		drawOneOwner(sc, l, row, plain, w)
	case len(row.Owners) > 1:
		word(plain, paint.Count(len(row.Owners), "owner"))
	case row.Taken > 0: // a count is all that is told
		word(plain, "taken by ?")
	case under:
		word(sc.th.Accent, "pending")
	case v.Severity == paint.Bad:
		word(sc.th.Bad, v.Status.String())
	default:
		word(sc.th.Dim, v.Status.String())
	}
}

// drawOneOwner draws the owner of the running term, as the strip does, and how many there are
// besides.
func drawOneOwner(sc *scene, l *paint.Line, row *sources.Row, plain paint.Style, w int) {
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
		l.Put(sc.th.OwnerLetter(hue), paint.Letter(hue)).Skip(1)
	} else {
		l.Skip(2)
	}
	end := l.X + w - 2
	room := w - 2 - len(others)
	l.Put(plain, sc.th.FitWords(ownerLabel(sc, row.Ref, o, room), room)).Put(sc.th.Dim, others).To(end)
}

// drawName draws what a row is called in w cells. Where the name is only a number, what people
// call it stands first; elsewhere the other name stands behind if there is room.
func drawName(sc *scene, l *paint.Line, row *sources.Row, w int) {
	name, alias := paint.Clean(row.Name), aliasOf(sc, row)
	room := w - format.Width(name) - 2
	end := l.X + w
	switch {
	case alias != "" && paint.Numeric(name) && room >= minAlias:
		l.Put("", sc.th.Cut(alias, room)).Skip(2).Put(sc.th.Dim, name).To(end)
	case alias != "" && room >= format.Width(alias):
		l.Put("", name).Skip(2).Put(sc.th.Dim, alias).To(end)
	default:
		l.Cell("", sc.th.FitName(name, w), w)
	}
}

// aliasOf is the other name of a row; one that is only likely has a sign before it.
func aliasOf(sc *scene, row *sources.Row) string {
	if row.Alias != "" && row.AliasHow == sources.Inferred {
		return sc.th.About + paint.Clean(row.Alias)
	}
	return paint.Clean(row.Alias)
}

// minAlias is how many cells an alias takes at least beside a number.
const minAlias = 6

func waitText(sc *scene, row *sources.Row, v rows.Verdict) (string, paint.Style) {
	switch {
	case row.Queue.How == sources.Unknown:
		return "?", sc.th.Dim
	case v.Waiting:
		return strconv.Itoa(row.Queue.Len), sc.th.Warn
	case row.Queue.Len == 0 || v.Severity == paint.Blind:
		return strconv.Itoa(row.Queue.Len), sc.th.Dim
	}
	return strconv.Itoa(row.Queue.Len), ""
}

func changesText(v rows.Verdict) string {
	if v.Status == sources.StatusNotObserved {
		return "?"
	}
	return strconv.Itoa(int(v.Changes))
}
