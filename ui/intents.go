package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/cursor"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
	"coordtop/ui/terminal"
)

// nextPane changes what stands below the list where there is room for one pane.
func (m *model) nextPane() {
	if m.Layout.Split > 0 || m.Layout.Stacked > 0 {
		m.Say("both panes are shown")
		return
	}
	m.Pane = screen.DetailPane + screen.EventPane - m.Pane
}

func (m *model) nextShape() {
	m.Shape = (m.Shape + 1) % screen.Shapes
	m.Say(m.Shape.String())
	m.Scene.Arrange(m.w, m.h)
}

func (m *model) switchMouse() {
	m.mouse = !m.mouse
	if m.mouse {
		m.Say("mouse on: the wheel moves, a click selects; " + m.Keys.KeyOf(keys.Mouse) + " turns it off")
	} else {
		m.Say("mouse off: the terminal selects text")
	}
}

// suspend stops the program until a shell wakes it.
func (m *model) suspend() tea.Cmd {
	if terminal.NoJobControl() {
		m.Say("no shell waits for this program: there is nobody to wake it again")
		return nil
	}
	m.acting.Suspending()
	return tea.Suspend
}

// move moves the cursor of the list, or scrolls what is shown instead of it.
func (m *model) move(i keys.Intent) {
	switch m.Shown {
	case screen.Pulse:
		moveIn(&m.Pulse.List, i)
	case screen.Locks:
		moveIn(&m.Locks, i)
	case screen.Timeline:
		m.timeline.moveLane(i)
	case screen.Owners:
		moveIn(&m.Owners.List, i)
	case screen.Events:
		moveIn(&m.EventList, i)
	case screen.Audit:
		moveIn(&m.AuditList, i)
	case screen.Trouble:
		m.trouble.move(i)
	case screen.Help:
		m.HelpAt = screen.MoveHelp(&m.Scene, m.line.input.Value(), m.HelpAt, i)
	default:
		m.Scroll = screen.Scroll(m.Scroll, i, m.Layout.Body())
	}
}

// next moves the cursor to the next row that is looked for, or the one before; on Pulse to the next problem.
func (m *model) next(step int) {
	if m.Shown != screen.Pulse {
		m.rowList.search(step)
		return
	}
	l := &m.Pulse.List
	if n := l.Len(); n > 0 {
		l.Move((l.Pos()+step+n)%n - l.Pos())
	}
}

// moveIn moves the cursor of a list.
func moveIn[K comparable](l *cursor.List[K], i keys.Intent) {
	l.Move(screen.Scroll(l.Pos(), i, l.Height()) - l.Pos())
}

// openRow shows all there is to know about the row under the cursor.
func (m *model) openRow() {
	switch m.Shown {
	case screen.Pulse:
		m.pulse.goTo(screen.Locks)
		return
	case screen.Trouble:
		m.trouble.goTo()
		return
	case screen.Owners:
		if m.Owners.Selected() != nil {
			m.open(screen.Party)
		}
		return
	}
	if m.Shown == screen.Events && !m.pickEvent() || m.Shown == screen.Audit && !m.audit.pick() {
		return
	}
	if row, _ := m.Selected(); row != nil {
		m.open(screen.Detail)
		m.Locks.Move(0) // the row is chosen now: the cursor stays on it
	} else if lane, _ := m.Time.Lanes.Selected(); m.Shown == screen.Timeline && lane.Recorded() {
		m.Say("only the recording knows it: there is no more than this lane")
	}
}

// sameOwner shows only the rows of the owner under the cursor.
func (m *model) sameOwner() {
	if m.Shown == screen.Owners || m.Shown == screen.Party {
		m.owners.rows()
		return
	}
	m.rowList.sameOwner()
}

func (m *model) help() {
	if m.Shown == screen.Help {
		m.leave()
		return
	}
	m.open(screen.Help)
	m.HelpAt, m.Topic = 1, ""
}

// clearFilter ends the typing and removes the words of the filter. Without words, it takes back one other choice: the
// focus, the screen, the past, or the kind and the list of problems.
func (m *model) clearFilter() {
	if !m.rowList.filtering.typing {
		m.rowList.keepRow()
		if m.Rows.Filter.Text == "" && m.rowList.unfocus() {
			m.switchTo(screen.Pulse)
			return
		}
	}
	if !m.rowList.filtering.typing && m.Rows.Filter.Empty() {
		if m.Shown.Filtered() && m.Rows.Kind == sources.KindUnknown {
			m.leave()
			return
		}
		if m.feeds.replaying() && m.feeds.live != nil && !m.Rows.Problems && m.Rows.Kind == sources.KindUnknown {
			m.replay.toNow()
			return
		}
		m.Rows.Problems, m.Rows.Kind = m.Rows.Problems && m.Shown.Filtered(), sources.KindUnknown
		m.rowList.relist()
	}
	m.rowList.filtering.end()
	m.rowList.setFilter("")
}

// pause freezes the picture, or updates it to the present and lets it run.
func (m *model) pause() {
	if m.Paused.IsZero() {
		m.Paused = m.feeds.shown().Now()
		return
	}
	m.Paused = time.Time{}
	m.second()
}

func (m *model) refresh() {
	if m.Shown == screen.Audit {
		m.audit.at = time.Time{}
		m.Say("reading the audit again")
		return
	}
	r, ok := m.feeds.shown().(sources.Refresher)
	if !ok {
		m.Say("this is a recording: there is nothing to read again")
		return
	}
	r.Refresh()
	m.Say("asked " + paint.Count(len(m.State.Sources), "source") + " to look again")
}
