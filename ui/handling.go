package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/filter"
)

// holdTime is how long rows keep their places after the cursor was last used: nobody
// should act on a row that moved in under the eye.
const holdTime = 5 * time.Second

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
		m.say(count(len(m.marks), "mark") + " cleared")
		clear(m.marks)
	case doSameOwner:
		m.sameOwner()
	case doWidth:
		m.width = (m.width + 1) % widths
		m.say(m.width.String())
		m.arrange()
	case doMouse:
		m.mouse = !m.mouse
		if m.mouse {
			m.say("mouse on: the wheel moves, a click selects; m turns it off")
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
	case doCopyName, doCopyOwner, doCopyJSON, doCopyCommand:
		return m.copy(i)
	case doExportText:
		return m.write(FormText)
	case doExportJSON:
		return m.write(FormJSON)
	default:
		if s, ok := orderOf(i); ok {
			m.order(s)
		}
	}
	return nil
}

func orderOf(i intent) (sortMode, bool) {
	s, ok := map[intent]sortMode{doByProblems: sortProblems, doByName: sortName, doBySource: sortSource, doByKind: sortKind, doByOwner: sortOwner,
		doBySince: sortSince, doByLease: sortLease, doByWait: sortWait, doByChanges: sortChanges}[i]
	return s, ok
}

// order orders the list; the same order again is reversed.
func (m *model) order(s sortMode) {
	m.idx.reverse = m.idx.sort == s && !m.idx.reverse
	m.idx.sort = s
	m.switchTo(viewList)
	m.relist()
}

// time is the feed's clock in the zone that times are shown in.
func (m *model) time() time.Time {
	if m.utc {
		return m.feed.Now().UTC()
	}
	return m.feed.Now()
}

// used notes that the person works with the rows as they stand.
func (m *model) used(i intent) {
	switch i {
	case doUp, doDown, doHalfUp, doHalfDown, doPageUp, doPageDown, doTop, doBottom, doMark, doNext, doPrevious, doBack:
		if m.view == viewList && m.tbl.Moved() {
			m.idx.held, m.heldUntil = true, m.clock.Add(holdTime)
		}
	}
}

// release lets the rows move again when the cursor was not used for a while.
func (m *model) release() {
	if m.idx.held && !m.clock.Before(m.heldUntil) {
		m.idx.held = false
	}
}

// search moves the cursor to the next row, or the one before, that the filter or, where
// there is none, the last one fits.
func (m *model) search(step int) {
	f := m.idx.filter
	if f.expr.Empty() {
		f.expr = m.sought
	}
	n := m.tbl.Len()
	if f.expr.Empty() || n == 0 {
		m.say("nothing to look for: / takes words")
		return
	}
	for d := 1; d <= n; d++ {
		at := ((m.tbl.Pos()+step*d)%n + n) % n
		h := m.idx.order[at]
		if row, v := m.idx.at(h); row != nil && f.passes(row, v) {
			if (at-m.tbl.Pos())*step <= 0 {
				m.say("went on from the other end")
			}
			m.tbl.Move(at - m.tbl.Pos())
			return
		}
	}
	m.say("no row fits")
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
	if m.byOwner != "" && m.idx.filter.text == m.byOwner {
		m.setFilter(m.beforeOwner)
		m.byOwner = ""
		return
	}
	row, _ := m.selected()
	if row == nil || len(row.Owners) == 0 {
		m.say("nobody is known to own this row")
		return
	}
	owner := row.Owners[0].Label
	if owner == "" {
		owner = row.Owners[0].ID
	}
	m.beforeOwner = m.idx.filter.text
	m.tbl.Move(0) // the cursor stays on this row
	m.setFilter("owner=" + filter.Quote(clean(owner)))
	m.byOwner = m.idx.filter.text
}

// pointed takes what the mouse does.
func (m *model) pointed(msg tea.MouseMsg) {
	mouse := msg.Mouse()
	if m.hands.dialog != nil {
		return // what a dialog asks is answered with keys
	}
	switch msg.(type) {
	case tea.MouseWheelMsg:
		i := doDown
		if mouse.Button == tea.MouseWheelUp {
			i = doUp
		}
		for range wheelRows {
			m.move(i)
		}
		m.used(i)
	case tea.MouseClickMsg:
		at := mouse.Y - m.lay.rowsAt()
		if visible := m.tbl.Visible(); m.scope() == inList && mouse.Button == tea.MouseLeft && at >= 0 && at < len(visible) {
			m.tbl.Select(visible[at])
			m.used(doUp)
		}
	}
}

// wheelRows is how far a notch of the wheel goes.
const wheelRows = 3

// rowsAt is the line of the screen in which the first row stands.
func (l layout) rowsAt() int {
	if l.rules > 0 {
		return l.header + l.trouble + 2
	}
	return l.header + 1
}

// widths is how the columns share the screen.
type width uint8

const (
	widthNormal width = iota
	widthWide         // whole names instead of the strip
	widthNarrow       // a long strip instead of all columns
	widths
)

func (w width) String() string {
	return [...]string{"columns as they fit", "wide: names and owners in full, no strip", "narrow: fewer columns, a long strip"}[w]
}

// shaped gives the cells of some columns to others.
func (c columns) shaped(width width) columns {
	give := func(from column, left int) int {
		if c[from] == 0 {
			return 0
		}
		spare := max(c[from]-left, 0)
		if c[from] -= spare; c[from] == 0 {
			spare += columnGap[from]
		}
		return spare
	}
	switch width {
	case widthWide:
		spare := give(colStrip, 0)
		c[colName] += (spare + 1) / 2
		c[colOwner] += spare / 2
	case widthNarrow:
		if c[colStrip] == 0 {
			return c
		}
		for _, col := range []column{colSource, colKind, colLease, colChanges} {
			if c[col] > 0 {
				c[colStrip] += give(col, 0)
			}
		}
	}
	return c
}
