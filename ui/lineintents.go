package ui

import (
	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/filter"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// keys.Line carries out the intents of lines, menus and marks.
func (m *model) doLine(i keys.Intent) tea.Cmd {
	switch i {
	case keys.Command:
		return m.prompt(keys.InCommand, "")
	case keys.Run:
		if m.line.scope == keys.InCommand {
			return m.runLine()
		}
		return m.runHelp()
	case keys.GiveUp:
		m.line.leave()
	case keys.Earlier:
		m.line.recall(-1)
	case keys.Later:
		m.line.recall(+1)
	case keys.Next:
		m.search(+1)
	case keys.Previous:
		m.search(-1)
	case keys.Mark:
		m.mark()
	case keys.Unmark:
		m.say(paint.Count(len(m.marks), "mark") + " cleared")
		clear(m.marks)
	case keys.SameOwner:
		m.sameOwner()
	case keys.Width:
		m.shape = (m.shape + 1) % shapes
		m.say(m.shape.String())
		m.scene.arrange(m.w, m.h)
	case keys.Mouse:
		m.mouse = !m.mouse
		if m.mouse {
			m.say("mouse on: the wheel moves, a click selects; " + m.table.KeyOf(keys.Mouse) + " turns it off")
		} else {
			m.say("mouse off: the terminal selects text")
		}
	case keys.UTC:
		m.utc = !m.utc
		m.second()
	case keys.Copy:
		m.menu = keys.InCopy
	case keys.Export:
		m.menu = keys.InExport
	case keys.KeepScreen:
		m.menu = keys.InKeep
	case keys.QuitText:
		return m.quitKeeping()
	case keys.CopyName, keys.CopyOwner, keys.CopyJSON, keys.CopyCommand:
		return m.copy(i)
	case keys.ExportText:
		return m.write(FormText)
	case keys.ExportJSON:
		return m.write(FormJSON)
	case keys.ExportCSV:
		return m.write(FormCSV)
	case keys.ExportMarkdown:
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
		m.say("nothing to look for: " + m.table.KeyOf(keys.Filter) + " takes words")
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
	m.say("no row fits " + m.typed() + ": " + m.table.KeyOf(keys.Filter) + " takes other words")
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
