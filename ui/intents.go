package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
	"coordtop/ui/table"
	"coordtop/ui/terminal"
)

// do carries out an intent.
func (m *model) do(i keys.Intent) tea.Cmd {
	if cmd, done := m.acting.Do(i); done {
		return cmd
	}
	switch i {
	case keys.Up, keys.Down, keys.HalfUp, keys.HalfDown, keys.PageUp, keys.PageDown, keys.Top, keys.Bottom:
		m.move(i)
	case keys.Open:
		m.openRow()
	case keys.Pane:
		if m.Layout.Split > 0 || m.Layout.Stacked > 0 {
			m.Say("both panes are shown")
			return nil
		}
		m.Pane = screen.DetailPane + screen.EventPane - m.Pane
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
		m.Rows.Problems = !m.Rows.Problems
		m.relist()
	case keys.Kind:
		m.Rows.Kind = (m.Rows.Kind + 1) % (sources.KindSemaphore + 1)
		m.relist()
	case keys.Locks, keys.Events, keys.Sources, keys.Caps:
		m.show(i)
	case keys.Sort:
		m.Menu = keys.InSort
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
			m.Say("no shell waits for this program: there is nobody to wake it again")
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
	switch m.Shown {
	case screen.List:
		moveIn(&m.List, i)
	case screen.Events:
		moveIn(&m.EventList, i)
	case screen.Help:
		m.HelpAt = screen.MoveHelp(&m.Scene, m.line.input.Value(), m.HelpAt, i)
	default:
		m.Scroll = screen.Scroll(m.Scroll, i, m.Layout.Body())
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
	if m.Shown == screen.Events && !m.pickEvent() {
		return
	}
	if row, _ := m.Selected(); row != nil {
		m.open(screen.Detail)
		m.List.Move(0) // the row is chosen now: the cursor stays on it
	}
}

func (m *model) help() {
	if m.Shown == screen.Help {
		m.leave()
		return
	}
	m.open(screen.Help)
	m.HelpAt = 1
}

// clearFilter ends the typing and takes the words away; where there are none, it shows
// more than problems again.
func (m *model) clearFilter() {
	if !m.typing && m.Rows.Filter.Empty() {
		if m.Shown == screen.Events && m.Rows.Kind == sources.KindUnknown {
			m.leave()
			return
		}
		m.Rows.Problems, m.Rows.Kind = m.Rows.Problems && m.Shown == screen.Events, sources.KindUnknown
		m.relist()
	}
	m.typing = false
	m.input.Blur()
	m.setFilter("")
}

// pause holds the picture, or lets it go on from what is known now.
func (m *model) pause() {
	if m.Paused.IsZero() {
		m.Paused = m.feed.Now()
		return
	}
	m.Paused = time.Time{}
	m.second()
}

func (m *model) refresh() {
	r, ok := m.feed.(sources.Refresher)
	if !ok {
		m.Say("this is a recording: there is nothing to read again")
		return
	}
	r.Refresh()
	m.Say("asked " + paint.Count(len(m.State.Sources), "source") + " to look again")
}
