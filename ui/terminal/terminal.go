package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"coordtop/internal/ground/spawn"
)

// Terminal is the input and output of a program. Output that is not a terminal, as in tests, is
// written directly.
type Terminal struct {
	input   io.Reader
	output  io.Writer
	environ []string

	gate    *gate                 // nil: the output is no terminal
	size    *sizer                // nil: the output has no size
	profile *colorprofile.Profile // of its colours

	typed chan struct{} // see Typed
}

// Open puts a keyboard and a gate between a program and its terminal. input nil is the
// terminal, output nil standard output. gone is called when the terminal is gone. Of ctx only the
// panic handler is used. The caller must close the Terminal.
func Open(ctx context.Context, input io.Reader, output io.Writer, environ []string, gone func(error)) *Terminal {
	t := &Terminal{output: output, environ: environ, typed: make(chan struct{}, 1)}
	t.input = watched(input, gone, t.typed)
	if t.output == nil {
		t.output = os.Stdout
	}
	f, ok := t.output.(term.File)
	if !ok {
		return t
	}
	t.gate = newGate(ctx, f, gone)
	// Without its methods of a terminal Bubble Tea does not ask for the size by itself.
	t.output = struct{ io.Writer }{t.gate}
	profile := colorprofile.Detect(f, environ)
	t.profile = &profile
	if term.IsTerminal(f.Fd()) {
		t.size = &sizer{f: f}
		t.size.look()
	}
	return t
}

// Size returns the size of the part of the terminal that is drawn on; false: the output has no size.
func (t *Terminal) Size() (width, height int, ok bool) {
	if t.size == nil {
		return 0, 0, false
	}
	size := t.size.last.Load()
	return size.Width, size.Height, true
}

// Slow reports whether the terminal takes long to read a frame.
func (t *Terminal) Slow() bool { return t.gate != nil && t.gate.slow.Load() }

// Typed returns a channel that receives after keys were read, one value for any number of them.
func (t *Terminal) Typed() <-chan struct{} { return t.typed }

// Writing reports whether a frame is being written.
func (t *Terminal) Writing() bool { return t.gate != nil && t.gate.writing.Load() }

// Options returns the options of a program that ends with ctx and is shown here. width and height
// are its size if the output has none.
func (t *Terminal) Options(ctx context.Context, width, height int) []tea.ProgramOption {
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithEnvironment(t.environ), tea.WithoutSignalHandler(), tea.WithOutput(t.output)}
	if t.input != nil {
		options = append(options, tea.WithInput(t.input))
	}
	if w, h, ok := t.Size(); ok {
		width, height = w, h
	}
	if width > 0 && height > 0 {
		options = append(options, tea.WithWindowSize(width, height))
	}
	if t.profile != nil {
		options = append(options, tea.WithColorProfile(*t.profile))
	}
	if t.size != nil {
		options = append(options, tea.WithFilter(t.size.onlyTrue))
	}
	return options
}

// Follow starts a goroutine, counted in running, that sends each new size until ctx ends.
func (t *Terminal) Follow(ctx context.Context, running *sync.WaitGroup, send func(tea.Msg)) {
	if t.size != nil {
		spawn.Go(ctx, running, func() { t.size.follow(ctx, send) })
	}
}

// Scroll makes all lines scroll again. It must be called after the program has ended.
func (t *Terminal) Scroll() {
	if t.size != nil {
		_, _ = io.WriteString(t.output, wholeScreen) // the gate reports errors
	}
}

// Leave writes the last screen as text. It must be called after Close.
func (t *Terminal) Leave(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(ansi.Strip(line), " "))
		b.WriteByte('\n')
	}
	if _, err := io.WriteString(t.output, strings.TrimRight(b.String(), "\n")+"\n"); err != nil {
		return fmt.Errorf("leaving the screen behind: %w", err)
	}
	return nil
}

// Close gives the terminal back. Nobody may write to it any more.
func (t *Terminal) Close() {
	if t.gate != nil {
		t.gate.close()
	}
}

const (
	// quitPatience bounds the time in which a program must quit after ctx ended, before its terminal
	// is given up: a program quits between two messages, and a terminal that does not read can
	// delay that for ever.
	quitPatience = 500 * time.Millisecond
	// killPatience bounds that time in all, before the program is killed. No case is known in which
	// that is needed: Bubble Tea then closes its input while a goroutine reads it.
	killPatience = 2 * time.Second
)

// Quit asks the program to quit when ctx ends. If it does not do so in time, Quit gives up the
// terminal, which frees a program that waits for it, and in the end kills the program. ended ends
// with the program.
func (t *Terminal) Quit(ctx, ended context.Context, ask, kill func()) {
	quit(ctx, ended, ask, func() {
		if t.gate != nil {
			t.gate.giveUp()
		}
	}, kill)
}

func quit(ctx, ended context.Context, ask, giveUp, kill func()) {
	select {
	case <-ended.Done():
		return
	case <-ctx.Done():
	}
	defer spawn.After(ctx, quitPatience, giveUp).Stop()
	defer spawn.After(ctx, killPatience, kill).Stop()
	ask() // returns when the program has received it, or has ended
	<-ended.Done()
}

// Environ is the environment of the program, as "NAME=value".
type Environ []string

// Get returns the value of a variable, the last one if it is set more than once.
func (e Environ) Get(name string) string { return tea.EnvMsg(e).Getenv(name) }

// ASCII reports whether the terminal may be unable to draw more than ASCII. An unset locale means
// nothing: containers have none.
func (e Environ) ASCII() bool {
	if t := e.Get("TERM"); t == "linux" || t == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(e.Get(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}

// Remote reports whether keys come over ssh.
func (e Environ) Remote() bool { return e.Get("SSH_TTY") != "" || e.Get("SSH_CONNECTION") != "" }
