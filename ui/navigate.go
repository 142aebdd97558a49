package ui

import (
	tea "charm.land/bubbletea/v2"

	"coordtop/ui/keys"
	"coordtop/ui/screen"
)

// switchTo goes to a screen, from which there is no way back but the screens.
func (m *model) switchTo(v screen.View) {
	m.Shown, m.Scroll, m.Trail = v, 0, m.Trail[:0]
}

// open shows a view from which leave comes back to this one.
func (m *model) open(v screen.View) {
	m.Trail = append(m.Trail, m.Shown)
	m.Shown, m.Scroll = v, 0
}

// show goes to a view.
func (m *model) show(v screen.View) {
	switch {
	case v.Tab():
		m.switchTo(v)
	case m.Shown != v:
		m.open(v)
	}
}

// leave goes back to where the view was opened; a screen goes back to the list, an open topic to the
// list of them.
func (m *model) leave() {
	if m.Shown == screen.Help && m.Topic != "" {
		m.Topic, m.HelpAt, m.Scroll = "", 1, 0
		return
	}
	m.Scroll, m.Shown = 0, screen.Locks
	if n := len(m.Trail); n > 0 {
		m.Shown, m.Trail = m.Trail[n-1], m.Trail[:n-1]
	}
}

// listEvents brings the list of the Events screen up to date, newest first. The cursor
// stays on its event.
func (m *model) listEvents() {
	keys := make([]uint64, 0, len(m.Events.List))
	for e := range m.Events.Newest {
		if screen.PassesEvent(&m.Scene, e) {
			keys = append(keys, e.Seq)
		}
	}
	m.EventList.SetKeys(keys)
}

// pickEvent moves the cursor of the list to the row of the event under the cursor, or shows
// the reason why it cannot. For an event without a row it opens Sources.
func (m *model) pickEvent() bool {
	seq, ok := m.EventList.Selected()
	e := m.Events.Find(seq)
	if !ok || e == nil {
		return false
	}
	if e.Ref.Name == "" {
		m.open(screen.Sources)
		return false
	}
	m.EventList.Move(0) // the event is chosen now: the cursor stays on it
	return m.rowList.pickRow(e.Ref)
}

// moveStrips lets the strips reach the time, and reports whether that moves them.
func (m *model) moveStrips() bool {
	window := screen.StripWindow
	if m.Shown == screen.Timeline {
		window = screen.TimeWindow
	}
	before := window(&m.Scene)
	m.Still = 0
	return window(&m.Scene) != before
}

// point takes what the mouse does.
func (m *model) point(msg tea.MouseMsg) {
	mouse := msg.Mouse()
	if m.acting.Open() {
		return // what a dialog asks is answered with keys
	}
	switch msg.(type) {
	case tea.MouseWheelMsg:
		i := keys.Down
		if mouse.Button == tea.MouseWheelUp {
			i = keys.Up
		}
		for range wheelRows {
			m.move(i)
		}
		m.rowList.holdOrder(i)
	case tea.MouseClickMsg:
		at := mouse.Y - m.Layout.RowsAt()
		if visible := m.Locks.Visible(); m.keyContext() == keys.InLocks && mouse.Button == tea.MouseLeft && at >= 0 && at < len(visible) {
			m.Locks.Select(visible[at])
			m.rowList.holdOrder(keys.Up)
		}
	}
}

// wheelRows are the rows by which a notch of the wheel moves.
const wheelRows = 3
