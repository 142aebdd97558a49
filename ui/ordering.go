package ui

import (
	"time"

	"coordtop/ui/rows"
)

func orderOf(i intent) (rows.Order, bool) {
	s, ok := map[intent]rows.Order{doByProblems: rows.ByProblems, doByName: rows.ByName, doBySource: rows.BySource, doByKind: rows.ByKind, doByOwner: rows.ByOwner,
		doBySince: rows.BySince, doByLease: rows.ByLease, doByWait: rows.ByWait, doByChanges: rows.ByChanges}[i]
	return s, ok
}

// order orders the list; the same order again is reversed.
func (m *model) order(s rows.Order) {
	m.idx.Reverse = m.idx.Order == s && !m.idx.Reverse
	m.idx.Order = s
	m.switchTo(viewList)
	m.relist()
}

// holdTime is how long rows keep their places after the cursor was last used: nobody
// should act on a row that moved in under the eye.
const holdTime = 5 * time.Second

// used notes that the person works with the rows as they stand.
func (m *model) used(i intent) {
	switch i {
	case doUp, doDown, doHalfUp, doHalfDown, doPageUp, doPageDown, doTop, doBottom, doMark, doNext, doPrevious, doBack:
		if m.view == viewList && m.tbl.Moved() {
			m.idx.Held, m.heldUntil = true, m.clock.Add(holdTime)
		}
	}
}

// release lets the rows move again when the cursor was not used for a while.
func (m *model) release() {
	if m.idx.Held && !m.clock.Before(m.heldUntil) {
		m.idx.Held = false
	}
}
