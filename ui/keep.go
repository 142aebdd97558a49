package ui

import (
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// quitKeeping quits, and has what is shown left behind as text.
func (m *model) quitKeeping() tea.Cmd {
	lines := m.screen()
	m.kept = lines[:max(len(lines)-1, 0)] // the hints would be about keys of another program
	return m.quit()
}

// aborting is the command that does what ctrl-\ does to a program whose terminal is not raw.
func (m *model) aborting() tea.Msg {
	if m.abort != nil {
		m.abort()
	}
	return nil
}

// leaveScreen writes what was shown at the end to the terminal that has been given back.
func leaveScreen(w io.Writer, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(ansi.Strip(line), " "))
		b.WriteByte('\n')
	}
	if _, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n"); err != nil {
		return fmt.Errorf("leaving the screen behind: %w", err)
	}
	return nil
}
