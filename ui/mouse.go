package ui

import (
	tea "charm.land/bubbletea/v2"

	"coordtop/ui/keys"
)

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
		m.holdOrder(i)
	case tea.MouseClickMsg:
		at := mouse.Y - m.Layout.RowsAt()
		if visible := m.Locks.Visible(); m.keyContext() == keys.InLocks && mouse.Button == tea.MouseLeft && at >= 0 && at < len(visible) {
			m.Locks.Select(visible[at])
			m.holdOrder(keys.Up)
		}
	}
}

// wheelRows is how far a notch of the wheel goes.
const wheelRows = 3
