package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"coordtop/ui/keys"
	"coordtop/ui/screen"
)

// typeHelp takes words for the help: what is typed there and is no key.
func (m *model) typeHelp(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	if m.line.context == 0 {
		k, ok := msg.(tea.KeyPressMsg)
		if !ok || k.Text == "" || k.Text == " " {
			return nil
		}
		cmd = m.line.begin(keys.InHelpText, "")
		if k.Text == "/" {
			return cmd
		}
	}
	m.line.edit(msg)
	m.HelpAt, m.Scroll = 1, 0
	return cmd
}

// runHelp runs the line under the cursor, on the screen that the help was opened from.
func (m *model) runHelp() tea.Cmd {
	line := screen.HelpLineAt(&m.Scene, m.line.input.Value(), m.HelpAt)
	b := line.Binding
	if line.Topic == "" && b.Intent == "" {
		m.Say("a sign is not carried out: the lines with keys are")
		return nil
	}
	m.line.leave()
	if line.Topic != "" {
		m.openTopic(line)
		return nil
	}
	if b.Intent == keys.Help {
		m.leave()
		return nil
	}
	for _, c := range keys.Commands() {
		if c.Intent == b.Intent && c.Argument != "" {
			m.leave()
			return m.line.begin(keys.InCommand, c.Name+" ")
		}
	}
	if b.Context&(keys.InViews|keys.InCommand) == 0 || b.Context&keys.InViews != 0 && b.Context&screen.Behind(&m.Scene) == 0 {
		m.Say("that does not work here: " + b.Help)
		return nil
	}
	m.leave()
	return m.do(b.Intent)
}

// openTopic shows a topic of the reference, with the cursor on a line of it.
func (m *model) openTopic(line screen.HelpLine) {
	m.Topic, m.Scroll = line.Topic, 0
	all := screen.HelpLines(&m.Scene, "")
	m.HelpAt = max(1, slices.IndexFunc(all, func(l screen.HelpLine) bool { return l.Text == line.Text }))
}

// run runs the line that is typed, or the one of the help under the cursor.
func (m *model) run() tea.Cmd {
	if m.line.context == keys.InCommand {
		return m.runLine()
	}
	return m.runHelp()
}
