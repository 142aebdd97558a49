package ui

import (
	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/filter"
	"coordtop/ui/paint"
)

// doLine carries out the intents of lines, menus and marks.
func (m *model) doLine(i intent) tea.Cmd {
	switch i {
	case doCommand:
		return m.prompt(inCommand, "")
	case doRun:
		if m.line.scope == inCommand {
			return m.runLine()
		}
		return m.runHelp()
	case doGiveUp:
		m.line.leave()
	case doEarlier:
		m.line.recall(-1)
	case doLater:
		m.line.recall(+1)
	case doNext:
		m.search(+1)
	case doPrevious:
		m.search(-1)
	case doMark:
		m.mark()
	case doUnmark:
		m.say(paint.Count(len(m.marks), "mark") + " cleared")
		clear(m.marks)
	case doSameOwner:
		m.sameOwner()
	case doWidth:
		m.shape = (m.shape + 1) % shapes
		m.say(m.shape.String())
		m.arrange()
	case doMouse:
		m.mouse = !m.mouse
		if m.mouse {
			m.say("mouse on: the wheel moves, a click selects; " + m.keyOf(doMouse) + " turns it off")
		} else {
			m.say("mouse off: the terminal selects text")
		}
	case doUTC:
		m.utc = !m.utc
		m.second()
	case doCopy:
		m.menu = inCopy
	case doExport:
		m.menu = inExport
	case doKeepScreen:
		m.menu = inKeep
	case doQuitText:
		return m.quitKeeping()
	case doCopyName, doCopyOwner, doCopyJSON, doCopyCommand:
		return m.copy(i)
	case doExportText:
		return m.write(FormText)
	case doExportJSON:
		return m.write(FormJSON)
	case doExportCSV:
		return m.write(FormCSV)
	case doExportMarkdown:
		return m.write(FormMarkdown)
	default:
		if s, ok := orderOf(i); ok {
			m.order(s)
		}
	}
	return nil
}

// search moves the cursor to the next row, or the one before, that the filter or, where
// there is none, the last one fits.
func (m *model) search(step int) {
	f := m.idx.Filter
	if f.Expr.Empty() {
		f.Expr = m.sought
	}
	n := m.tbl.Len()
	if f.Expr.Empty() || n == 0 {
		m.say("nothing to look for: " + m.keyOf(doFilter) + " takes words")
		return
	}
	for d := 1; d <= n; d++ {
		at := ((m.tbl.Pos()+step*d)%n + n) % n
		h := m.idx.Handles[at]
		if row, v := m.idx.At(h); row != nil && f.Passes(row, v) {
			if (at-m.tbl.Pos())*step <= 0 {
				m.say("went on from the other end")
			}
			m.tbl.Move(at - m.tbl.Pos())
			return
		}
	}
	m.say("no row fits " + m.typed() + ": " + m.keyOf(doFilter) + " takes other words")
}

// mark marks the row under the cursor, or takes its mark away, and goes to the next.
func (m *model) mark() {
	row, _ := m.selected()
	if row == nil {
		return
	}
	if m.marks[row.Ref] {
		delete(m.marks, row.Ref)
	} else {
		m.marks[row.Ref] = true
	}
	m.tbl.Move(1)
}

// chosen are the rows that were marked and still are there, in the order of the list's
// source, or, without marks, the row under the cursor.
func (m *model) chosen() []*sources.Row {
	var rows []*sources.Row
	for _, r := range m.st.Rows {
		if len(m.marks) > 0 && r != nil && m.marks[r.Ref] {
			rows = append(rows, r)
		}
	}
	if row, _ := m.selected(); len(rows) == 0 && row != nil {
		rows = append(rows, row)
	}
	return rows
}

// sameOwner shows only the rows of this row's owner; a second time, what was shown
// before.
func (m *model) sameOwner() {
	m.switchTo(viewList)
	if m.byOwner != "" && m.idx.Filter.Text == m.byOwner {
		m.setFilter(m.beforeOwner)
		m.byOwner = ""
		return
	}
	row, _ := m.selected()
	if row == nil || len(row.Owners) == 0 {
		m.say("nobody is known to own this row: choose one that has an owner")
		return
	}
	owner := row.Owners[0].Label
	if owner == "" {
		owner = row.Owners[0].ID
	}
	m.beforeOwner = m.idx.Filter.Text
	m.tbl.Move(0) // the cursor stays on this row
	m.setFilter("owner=" + filter.Quote(paint.Clean(owner)))
	m.byOwner = m.idx.Filter.Text
}
