package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/table"
	"coordtop/ui/terminal"
)

// do carries out an intent.
func (m *model) do(i intent) tea.Cmd {
	if cmd, done := m.act(i); done {
		return cmd
	}
	switch i {
	case doUp, doDown, doHalfUp, doHalfDown, doPageUp, doPageDown, doTop, doBottom:
		m.move(i)
	case doOpen:
		m.openRow()
	case doPane:
		if m.lay.split > 0 || m.lay.stacked > 0 {
			m.say("both panes are shown")
			return nil
		}
		m.pane = paneDetail + paneEvents - m.pane
	case doBack:
		m.leave()
	case doFilter:
		m.typing = true
		m.input.CursorEnd()
		return m.input.Focus()
	case doKeep:
		m.typing = false
		m.input.Blur()
	case doComplete:
		if m.line.scope == inCommand {
			m.line.offer.next(&m.line.input, m.completeLine)
		} else {
			m.complete()
		}
	case doClear:
		m.clearFilter()
	case doProblems:
		m.idx.Problems = !m.idx.Problems
		m.relist()
	case doKind:
		m.idx.Kind = (m.idx.Kind + 1) % (sources.KindSemaphore + 1)
		m.relist()
	case doLocks:
		m.switchTo(viewList)
	case doEvents:
		m.switchTo(viewEvents)
	case doSources:
		m.switchTo(viewSources)
	case doCaps:
		if m.view != viewCaps {
			m.open(viewCaps)
		}
	case doSort:
		m.menu = inSort
	case doPause:
		m.pause()
	case doRefresh:
		m.refresh()
	case doHelp:
		m.help()
	case doRedraw:
		return tea.ClearScreen
	case doSuspend:
		if terminal.NoJobControl() {
			m.say("no shell waits for this program: there is nobody to wake it again")
			return nil
		}
		return tea.Suspend
	case doAbort:
		return m.aborting
	default:
		return m.doLine(i)
	}
	return nil
}

// move moves the cursor of the list, or scrolls what is shown instead of it.
func (m *model) move(i intent) {
	switch m.view {
	case viewList:
		moveIn(&m.tbl, i)
	case viewEvents:
		moveIn(&m.told, i)
	case viewHelp:
		m.moveHelp(i)
	default:
		m.scroll = scrolled(m.scroll, i, m.lay.body())
	}
}

// moveIn moves the cursor of a list.
func moveIn[K comparable](t *table.Table[K], i intent) {
	switch i {
	case doUp:
		t.Move(-1)
	case doDown:
		t.Move(1)
	case doHalfUp:
		t.Page(-1, true)
	case doHalfDown:
		t.Page(1, true)
	case doPageUp:
		t.Page(-1, false)
	case doPageDown:
		t.Page(1, false)
	case doTop:
		t.First()
	case doBottom:
		t.Last()
	}
}

// scrollEnd is further than any text goes; drawing brings it back to the last page.
const scrollEnd = 1 << 20

func scrolled(at int, i intent, page int) int {
	switch i {
	case doUp:
		at--
	case doDown:
		at++
	case doHalfUp:
		at -= page / 2
	case doHalfDown:
		at += page / 2
	case doPageUp:
		at -= page - 1
	case doPageDown:
		at += page - 1
	case doTop:
		at = 0
	case doBottom:
		at = scrollEnd
	}
	return min(max(at, 0), scrollEnd)
}

// openRow shows all there is to know about the row under the cursor.
func (m *model) openRow() {
	if m.view == viewEvents && !m.pickEvent() {
		return
	}
	if row, _ := m.selected(); row != nil {
		m.open(viewDetail)
		m.tbl.Move(0) // the row is chosen now: the cursor stays on it
	}
}

func (m *model) help() {
	if m.view == viewHelp {
		m.leave()
		return
	}
	m.open(viewHelp)
	m.helpAt = 1
}

// clearFilter ends the typing and takes the words away; where there are none, it shows
// more than problems again.
func (m *model) clearFilter() {
	if !m.typing && m.idx.Filter.Empty() {
		if m.view == viewEvents && m.idx.Kind == sources.KindUnknown {
			m.leave()
			return
		}
		m.idx.Problems, m.idx.Kind = m.idx.Problems && m.view == viewEvents, sources.KindUnknown
		m.relist()
	}
	m.typing = false
	m.input.Blur()
	m.setFilter("")
}

// pause holds the picture, or lets it go on from what is known now.
func (m *model) pause() {
	if m.paused.IsZero() {
		m.paused = m.feed.Now()
		return
	}
	m.paused = time.Time{}
	m.second()
}

func (m *model) refresh() {
	r, ok := m.feed.(sources.Refresher)
	if !ok {
		m.say("this is a recording: there is nothing to read again")
		return
	}
	r.Refresh()
	m.say("asked " + paint.Count(len(m.st.Sources), "source") + " to look again")
}
