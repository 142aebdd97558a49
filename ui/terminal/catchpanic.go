package terminal

import tea "charm.land/bubbletea/v2"

// Recovering wraps a model and recovers its panics, because Bubble Tea would print their stack over
// the screen.
type Recovering struct {
	tea.Model
	Try   func(f func()) (whole bool) // calls f; false: it panicked, which ends the program
	Drawn func()                      // called for each frame that may differ from the last one; may be nil

	shown  string // the content of the last frame
	ticked bool   // the last message reported that time has passed, which can only change the content
}

// Update updates the model; after a panic the last frame stays until the program has quit.
func (r *Recovering) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg.(type) {
	case WakeMsg, SecondMsg, ColumnMsg:
		r.ticked = true
	default:
		r.ticked = false
	}
	var cmd tea.Cmd
	if !r.Try(func() { r.Model, cmd = r.Model.Update(msg) }) {
		return frozen{r.View()}, nil
	}
	return r, r.tried(cmd)
}

// View returns the frame of the model.
func (r *Recovering) View() tea.View {
	v := r.Model.View()
	if r.Drawn != nil && (v.Content != r.shown || !r.ticked) {
		r.shown = v.Content
		defer r.Drawn()
	}
	return v
}

// tried wraps a command, and the commands that it returns, so that a panic becomes a nil message.
func (r *Recovering) tried(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		r.Try(func() { msg = cmd() })
		if several, ok := msg.(tea.BatchMsg); ok {
			for i, one := range several {
				several[i] = r.tried(one)
			}
		}
		return msg
	}
}

// frozen replaces a model that panicked, until the program has quit.
type frozen struct{ frame tea.View }

// Init does nothing.
func (f frozen) Init() tea.Cmd { return nil }

// Update ignores all messages.
func (f frozen) Update(tea.Msg) (tea.Model, tea.Cmd) { return f, nil }

// View returns the last frame.
func (f frozen) View() tea.View { return f.frame }
