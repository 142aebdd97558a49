package dialog

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/spawn"
)

// doer does something that takes its time in a goroutine of its own.
type doer func(func(context.Context) error) <-chan error

// describePatience bounds how long a description may take.
const describePatience = 5 * time.Second

// AskIn returns a doer for what the operator is asked. Its goroutines end with ctx, or when they have
// taken too long, and are counted in running.
func AskIn(ctx context.Context, running *sync.WaitGroup) doer {
	return func(f func(context.Context) error) <-chan error {
		got := make(chan error, 1) // nobody may be there to take it
		spawn.Go(ctx, running, func() {
			ctx, cancel := context.WithTimeout(ctx, describePatience)
			defer cancel()
			got <- spawn.Call(ctx, func() error { return f(ctx) })
		})
		return got
	}
}

// DoIn returns a doer for what waits for a disk. Nobody here waits for its goroutines, for a disk may
// keep them for seconds and the terminal has to be given back: they end with what the operator bounds.
func DoIn(ctx context.Context) doer {
	return func(f func(context.Context) error) <-chan error {
		got := make(chan error, 1) // as above
		spawn.Go(ctx, nil, func() { got <- spawn.Call(ctx, func() error { return f(ctx) }) })
		return got
	}
}

// DoneMsg brings the answer of what a doer did.
type DoneMsg struct {
	then func(error)
	err  error
}

// Await calls f, which may wait for a disk, while the board goes on, and then calls then with its
// error.
func (a *Acting) Await(f func() error, then func(error)) tea.Cmd {
	return a.await(a.Doer, func(context.Context) error { return f() }, then)
}

func (a *Acting) await(do doer, f func(context.Context) error, then func(error)) tea.Cmd {
	got := do(f)
	return func() tea.Msg { return DoneMsg{then, <-got} }
}
