package ui

import tea "charm.land/bubbletea/v2"

// solid is the model as Bubble Tea runs it, whose panics it keeps from it: Bubble Tea would
// print their stack over the screen.
type solid struct {
	*model
	try func(f func()) (whole bool) // calls f; false: it panicked, which ends the program
}

// Update is the model's.
func (s *solid) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	if !s.try(func() { _, cmd = s.model.Update(msg) }) {
		return frozen{s.frame}, nil
	}
	return s, s.tried(cmd)
}

// tried is a command in whose place nothing comes if it panics.
func (s *solid) tried(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		s.try(func() { msg = cmd() })
		if several, ok := msg.(tea.BatchMsg); ok {
			for i, one := range several {
				several[i] = s.tried(one)
			}
		}
		return msg
	}
}

// frozen is what is left of a model that panicked, until the program has quit.
type frozen struct{ frame tea.View }

// Init does nothing.
func (f frozen) Init() tea.Cmd { return nil }

// Update ignores what happens.
func (f frozen) Update(tea.Msg) (tea.Model, tea.Cmd) { return f, nil }

// View is the last frame.
func (f frozen) View() tea.View { return f.frame }
