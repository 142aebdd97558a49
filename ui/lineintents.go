package ui

import (
	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/filter"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
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
		m.Say(paint.Count(len(m.Marks), "mark") + " cleared")
		clear(m.Marks)
	case keys.SameOwner:
		m.sameOwner()
	case keys.Width:
		m.Shape = (m.Shape + 1) % screen.Shapes
		m.Say(m.Shape.String())
		m.Scene.Arrange(m.w, m.h)
	case keys.Mouse:
		m.mouse = !m.mouse
		if m.mouse {
			m.Say("mouse on: the wheel moves, a click selects; " + m.Keys.KeyOf(keys.Mouse) + " turns it off")
		} else {
			m.Say("mouse off: the terminal selects text")
		}
	case keys.UTC:
		m.utc = !m.utc
		m.second()
	case keys.Copy:
		m.Menu = keys.InCopy
	case keys.Export:
		m.Menu = keys.InExport
	case keys.KeepScreen:
		m.Menu = keys.InKeep
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
	f := m.Rows.Filter
	if f.Expr.Empty() {
		f.Expr = m.sought
	}
	n := m.List.Len()
	if f.Expr.Empty() || n == 0 {
		m.Say("nothing to look for: " + m.Keys.KeyOf(keys.Filter) + " takes words")
		return
	}
	for d := 1; d <= n; d++ {
		at := ((m.List.Pos()+step*d)%n + n) % n
		h := m.Rows.Handles[at]
		if row, v := m.Rows.At(h); row != nil && f.Passes(row, v) {
			if (at-m.List.Pos())*step <= 0 {
				m.Say("went on from the other end")
			}
			m.List.Move(at - m.List.Pos())
			return
		}
	}
	m.Say("no row fits " + m.typed() + ": " + m.Keys.KeyOf(keys.Filter) + " takes other words")
}

// mark marks the row under the cursor, or takes its mark away, and goes to the next.
func (m *model) mark() {
	row, _ := m.Selected()
	if row == nil {
		return
	}
	if m.Marks[row.Ref] {
		delete(m.Marks, row.Ref)
	} else {
		m.Marks[row.Ref] = true
	}
	m.List.Move(1)
}

// chosen are the rows that were marked and still are there, in the order of the list's
// source, or, without marks, the row under the cursor.
func (m *model) chosen() []*sources.Row {
	var rows []*sources.Row
	for _, r := range m.State.Rows {
		if len(m.Marks) > 0 && r != nil && m.Marks[r.Ref] {
			rows = append(rows, r)
		}
	}
	if row, _ := m.Selected(); len(rows) == 0 && row != nil {
		rows = append(rows, row)
	}
	return rows
}

// sameOwner shows only the rows of this row's owner; a second time, what was shown
// before.
func (m *model) sameOwner() {
	m.switchTo(screen.List)
	if m.byOwner != "" && m.Rows.Filter.Text == m.byOwner {
		m.setFilter(m.beforeOwner)
		m.byOwner = ""
		return
	}
	row, _ := m.Selected()
	if row == nil || len(row.Owners) == 0 {
		m.Say("nobody is known to own this row: choose one that has an owner")
		return
	}
	owner := row.Owners[0].Label
	if owner == "" {
		owner = row.Owners[0].ID
	}
	m.beforeOwner = m.Rows.Filter.Text
	m.List.Move(0) // the cursor stays on this row
	m.setFilter("owner=" + filter.Quote(paint.Clean(owner)))
	m.byOwner = m.Rows.Filter.Text
}
