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

// Terminal is what a program reads and writes. Where its output is no terminal, as in tests,
// it writes there directly.
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
// terminal, output nil standard output. gone is called when the terminal is gone; ctx only
// says who is told of a panic. The caller must close it.
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
		t.size = newSizer(f)
	}
	return t
}

// Size is the part of the terminal that is drawn on; false: its output has no size.
func (t *Terminal) Size() (width, height int, ok bool) {
	if t.size == nil {
		return 0, 0, false
	}
	size := t.size.last.Load()
	return size.Width, size.Height, true
}

// Slow reports whether the terminal takes long to read a frame.
func (t *Terminal) Slow() bool { return t.gate != nil && t.gate.slow.Load() }

// Typed receives after something was read from the terminal; one message stands for any number of keys.
func (t *Terminal) Typed() <-chan struct{} { return t.typed }

// Writing reports whether a frame is being written.
func (t *Terminal) Writing() bool { return t.gate != nil && t.gate.writing.Load() }

// Options are those of a program that ends with ctx and is shown here, in so many cells where
// the output has no size.
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

// Scroll lets all lines scroll again, after the program.
func (t *Terminal) Scroll() {
	if t.size != nil {
		_, _ = io.WriteString(t.output, wholeScreen) // that it fails, the gate knows
	}
}

// Leave writes what was shown at the end to the terminal that has been given back.
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

// Close gives the terminal back, when nobody writes any more.
func (t *Terminal) Close() {
	if t.gate != nil {
		t.gate.close()
	}
}

// quitPatience is how long a program may take to quit by itself when ctx ends, before
// its terminal is given up: it quits between two messages, and a terminal that does not
// read can hold one up for ever.
const quitPatience = 500 * time.Millisecond

// killPatience is how long it may take in all before it is killed, for which no cause is
// known: Bubble Tea then closes its input under the goroutine that reads it.
const killPatience = 2 * time.Second

// Quit asks the program to quit when ctx ends. When it has not done so in time, it gives
// up the terminal, which frees a program that waits for it, and kills it in the end. ended
// ends with the program.
func (t *Terminal) Quit(ctx, ended context.Context, ask, kill func()) {
	quit(ctx, ended, ask, t.giveUp, kill)
}

func (t *Terminal) giveUp() {
	if t.gate != nil {
		t.gate.giveUp()
	}
}

func quit(ctx, ended context.Context, ask, giveUp, kill func()) {
	select {
	case <-ended.Done():
		return
	case <-ctx.Done():
	}
	defer spawn.After(ctx, quitPatience, giveUp).Stop()
	defer spawn.After(ctx, killPatience, kill).Stop()
	ask() // returns when the program has taken it, or has ended
	<-ended.Done()
}

// Environ is what the environment says about the terminal: "NAME=value" each.
type Environ []string

// Get returns the value of a variable, of the last one where there are several.
func (e Environ) Get(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// ASCII reports whether the terminal is not known to draw more than ASCII. A locale that
// is not set says nothing: containers have none.
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
