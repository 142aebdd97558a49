package ui

import (
	"cmp"
	"coordtop/sources"
	"coordtop/ui/filter"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
)

// search moves the cursor to the next row, or the one before, that the filter or, where
// there is none, the last one fits.
func (m *model) search(step int) {
	f := m.Rows.Filter
	if f.Expr.Empty() {
		f.Expr = m.filtering.sought
	}
	n := m.Locks.Len()
	if f.Expr.Empty() || n == 0 {
		m.Say("nothing to look for: " + m.Keys.KeyOf(keys.Filter) + " takes words")
		return
	}
	for d := 1; d <= n; d++ {
		at := ((m.Locks.Pos()+step*d)%n + n) % n
		h := m.Rows.Handles[at]
		if row, v := m.Rows.At(h); row != nil && f.Passes(row, v) {
			if (at-m.Locks.Pos())*step <= 0 {
				m.Say("went on from the other end")
			}
			m.Locks.Move(at - m.Locks.Pos())
			return
		}
	}
	m.Say("no row fits " + m.filtering.typed() + ": " + m.Keys.KeyOf(keys.Filter) + " takes other words")
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
	m.Locks.Move(1)
}

// unmark clears all marks.
func (m *model) unmark() {
	m.Say(paint.Count(len(m.Marks), "mark") + " cleared")
	clear(m.Marks)
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
	m.switchTo(screen.Locks)
	if m.filtering.byOwner != "" && m.Rows.Filter.Text == m.filtering.byOwner {
		m.setFilter(m.filtering.beforeOwner)
		m.filtering.byOwner = ""
		return
	}
	row, _ := m.Selected()
	if row == nil || len(row.Owners) == 0 {
		m.Say("nobody is known to own this row: choose one that has an owner")
		return
	}
	owner := cmp.Or(row.Owners[0].Label, row.Owners[0].ID)
	m.filtering.beforeOwner = m.Rows.Filter.Text
	m.Locks.Move(0) // the cursor stays on this row
	m.setFilter("owner=" + filter.Quote(paint.Clean(owner)))
	m.filtering.byOwner = m.Rows.Filter.Text
}

// order orders the list; the same order again is reversed.
func (m *model) order(s rows.Order) {
	m.Rows.Reverse = m.Rows.Order == s && !m.Rows.Reverse
	m.Rows.Order = s
	m.switchTo(screen.Locks)
	m.relist()
}

// holdOrder notes that the person works with the rows as they stand.
func (m *model) holdOrder(i keys.Intent) {
	switch i {
	case keys.Up, keys.Down, keys.HalfUp, keys.HalfDown, keys.PageUp, keys.PageDown, keys.Top, keys.Bottom, keys.Mark, keys.Next, keys.Previous, keys.Back:
		if m.Shown.Listed() && m.Locks.Moved() {
			m.Rows.Held, m.heldUntil = true, m.Clock.Add(screen.HoldTime)
		}
	}
}
