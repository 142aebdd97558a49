package ui

import (
	tea "charm.land/bubbletea/v2"
)

// quitKeeping quits, and has what is shown left behind as text.
func (m *model) quitKeeping() tea.Cmd {
	lines := m.picture().Lines
	return m.acting.Keep(lines[:max(len(lines)-1, 0)]) // the hints would be about keys of another program
}

// aborting is the command that does what ctrl-\ does to a program whose terminal is not raw.
func (m *model) aborting() tea.Msg {
	if m.options.Abort != nil {
		m.options.Abort()
	}
	return nil
}
