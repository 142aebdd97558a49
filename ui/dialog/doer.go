package dialog

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/spawn"
)

// doer does something that waits for a disk, in a goroutine of its own.
type doer func(func() error) <-chan error

// DoIn returns a doer. Nobody here waits for its goroutines, for a disk may keep them for
// seconds and the terminal has to be given back: they end with what the operator bounds.
func DoIn(ctx context.Context) doer {
	return func(f func() error) <-chan error {
		got := make(chan error, 1) // nobody may be there to take it
		spawn.Go(ctx, nil, func() { got <- spawn.Call(ctx, f) })
		return got
	}
}

// DoneMsg brings the answer of what a doer did.
type DoneMsg struct {
	then func(error)
	err  error
}

// Await calls f while the board goes on, and then calls then with its error.
func (a *Acting) Await(f func() error, then func(error)) tea.Cmd {
	got := a.Doer(f)
	return func() tea.Msg { return DoneMsg{then, <-got} }
}
