package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/table"
	"coordtop/ui/terminal"
)

// do carries out an intent.
func (m *model) do(i keys.Intent) tea.Cmd {
	if cmd, done := m.act(i); done {
		return cmd
	}
	switch i {
	case keys.Up, keys.Down, keys.HalfUp, keys.HalfDown, keys.PageUp, keys.PageDown, keys.Top, keys.Bottom:
		m.move(i)
	case keys.Open:
		m.openRow()
	case keys.Pane:
		if m.lay.split > 0 || m.lay.stacked > 0 {
			m.say("both panes are shown")
			return nil
		}
		m.pane = paneDetail + paneEvents - m.pane
	case keys.Back:
		m.leave()
	case keys.Filter:
		m.typing = true
		m.input.CursorEnd()
		return m.input.Focus()
	case keys.Keep:
		m.typing = false
		m.input.Blur()
	case keys.Complete:
		if m.line.scope == keys.InCommand {
			m.line.offer.next(&m.line.input, m.completeLine)
		} else {
			m.complete()
		}
	case keys.Clear:
		m.clearFilter()
	case keys.Problems:
		m.idx.Problems = !m.idx.Problems
		m.relist()
	case keys.Kind:
		m.idx.Kind = (m.idx.Kind + 1) % (sources.KindSemaphore + 1)
		m.relist()
	case keys.Locks, keys.Events, keys.Sources, keys.Caps:
		m.show(i)
	case keys.Sort:
		m.menu = keys.InSort
	case keys.Pause:
		m.pause()
	case keys.Refresh:
		m.refresh()
	case keys.Help:
		m.help()
	case keys.Redraw:
		return tea.ClearScreen
	case keys.Suspend:
		if terminal.NoJobControl() {
			m.say("no shell waits for this program: there is nobody to wake it again")
			return nil
		}
		return tea.Suspend
	case keys.Abort:
		return m.aborting
	default:
		return m.doLine(i)
	}
	return nil
}

// move moves the cursor of the list, or scrolls what is shown instead of it.
func (m *model) move(i keys.Intent) {
	switch m.view {
	case viewList:
		moveIn(&m.tbl, i)
	case viewEvents:
		moveIn(&m.told, i)
	case viewHelp:
		m.helpAt = moveHelp(&m.scene, m.line.input.Value(), m.helpAt, i)
	default:
		m.scroll = scrolled(m.scroll, i, m.lay.body())
	}
}

// moveIn moves the cursor of a list.
func moveIn[K comparable](t *table.Table[K], i keys.Intent) {
	switch i {
	case keys.Up:
		t.Move(-1)
	case keys.Down:
		t.Move(1)
	case keys.HalfUp:
		t.Page(-1, true)
	case keys.HalfDown:
		t.Page(1, true)
	case keys.PageUp:
		t.Page(-1, false)
	case keys.PageDown:
		t.Page(1, false)
	case keys.Top:
		t.First()
	case keys.Bottom:
		t.Last()
	}
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
