package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"coordtop/internal/spawn"
	"coordtop/sources"
)

// Options says what to show and where. The zero value of each field but Feed is fine.
type Options struct {
	Feed       Feed
	Title      string // the environment: first in the header; "": coordtop
	TitleColor string // red, green, yellow, blue, magenta, cyan, black; "": magenta
	ASCII      bool   // no character beyond ASCII; also without a UTF-8 locale and on TERM=linux or dumb
	NoColor    bool   // no colours; also where NO_COLOR is set to anything

	Theme string // "dark" or "light"; "" and "auto": what the terminal says its background is

	// Keys are the names of actions, as the help has them, with the keys that they have
	// instead of their own. CheckKeys must find nothing wrong with them.
	Keys map[string][]string

	// Export writes rows for use elsewhere, and Command is the command line that shows one
	// row, without secrets. Where one is nil, the person is told that there is none.
	Export  Exporter
	Command func(*sources.Row) string

	// Abort does what ctrl-\ does where a terminal makes a signal of it. nil: nothing.
	Abort func()

	// Operator carries out what the person decides. nil: the board is read-only.
	Operator Operator

	Input         io.Reader // nil: the terminal
	Output        io.Writer // nil: standard output
	Environ       []string  // nil: os.Environ
	Width, Height int       // of an Output that is no terminal

	slow    func() bool           // of the gate; nil: there is none
	size    *sizer                // of the terminal; nil: Output is none
	profile *colorprofile.Profile // of a terminal's colours
}

// quitPatience is how long the program may take to quit by itself when ctx ends, before
// its terminal is given up: it quits between two messages, and a terminal that does not
// read can hold one up for ever.
const quitPatience = 500 * time.Millisecond

// killPatience is how long it may take in all before it is killed, for which no cause is
// known: Bubble Tea then closes its input under the goroutine that reads it.
const killPatience = 2 * time.Second

// Run shows the board until the person quits, then returns nil. When ctx ends it
// restores the terminal and returns the cause, in little more than a second also where the
// terminal does not read. A terminal that is gone is an error. It handles no signals:
// whoever owns the process ends ctx on them. Every goroutine it starts is joined, but for
// timers of Bubble Tea that end by themselves 300 ms after an esc and, after a terminal
// that did not read, one in the write that was given up and Bubble Tea's own that holds a
// key which nobody took.
func Run(ctx context.Context, o Options) error {
	if o.Feed == nil {
		return errors.New("running the board: no feed")
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	// A program whose context ends is killed, so it has one of its own: quit asks it first.
	programCtx, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	pumpCtx, stop := context.WithCancelCause(ctx)
	giveUp, done := o.guard(ctx, func(err error) { stop(fmt.Errorf("%w: %w", errGone, err)) })
	defer done()
	m := newModel(o)
	try := func(f func()) (whole bool) {
		err := spawn.Call(pumpCtx, func() error { f(); return nil })
		if err != nil {
			stop(err)
		}
		return err == nil
	}
	p := tea.NewProgram(&solid{m, try}, programOptions(programCtx, o)...)
	var beside sync.WaitGroup // joined below
	m.hands.ask, m.hands.do = askIn(pumpCtx, o.Operator, &beside), doIn(pumpCtx)
	spawn.Go(pumpCtx, &beside, func() {
		stop(spawn.Call(pumpCtx, func() error { return pump(pumpCtx, o.Feed, wakeOf(o.Operator), p.Send, o.slow) }))
	})
	spawn.Go(pumpCtx, &beside, func() { quit(pumpCtx, programCtx, p.Quit, giveUp, kill) })
	if o.size != nil {
		spawn.Go(pumpCtx, &beside, func() { o.size.follow(pumpCtx, p.Send) })
	}
	_, err := p.Run()
	if o.size != nil {
		_, _ = io.WriteString(o.Output, wholeScreen) // that it fails, the gate knows
	}
	kill()
	stop(nil)
	beside.Wait()
	if err := outcome(ctx, context.Cause(pumpCtx), err); err != nil {
		return err
	}
	return leaveScreen(o.Output, m.kept)
}

// outcome is what Run returns: why its parts were ended comes before what Bubble Tea made
// of it, and that somebody wanted the end before that the terminal went away with them.
func outcome(ctx context.Context, cause, err error) error {
	switch {
	case errors.Is(cause, spawn.ErrPanic):
		return fmt.Errorf("running the board: %w", cause)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(cause, errGone):
		return fmt.Errorf("running the board: %w", cause)
	case err != nil:
		return fmt.Errorf("running the board: %w", err)
	}
	return nil
}

// guard puts a keyboard and a gate between the program and its terminal. gone is told
// when the terminal is gone; giveUp gives up the gate; done closes it.
func (o *Options) guard(ctx context.Context, gone func(error)) (giveUp, done func()) {
	o.Input = watched(o.Input, gone)
	if o.Output == nil {
		o.Output = os.Stdout
	}
	f, ok := o.Output.(term.File)
	if !ok {
		return func() {}, func() {}
	}
	g := newGate(ctx, f, gone)
	// Without its methods of a terminal Bubble Tea does not ask for the size by itself.
	o.Output, o.slow = struct{ io.Writer }{g}, g.slow.Load
	profile := colorprofile.Detect(f, o.Environ)
	o.profile = &profile
	if term.IsTerminal(f.Fd()) {
		o.size = newSizer(f)
		size := o.size.last.Load()
		o.Width, o.Height = size.Width, size.Height
	}
	return g.giveUp, g.close
}

// quit asks the program to quit when ctx ends. When it has not done so in time, it gives
// up the terminal, which frees a program that waits for it, and kills it in the end. ended
// ends with the program.
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

func programOptions(ctx context.Context, o Options) []tea.ProgramOption {
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler(), tea.WithOutput(o.Output)}
	if o.Input != nil {
		options = append(options, tea.WithInput(o.Input))
	}
	if o.Width > 0 && o.Height > 0 {
		options = append(options, tea.WithWindowSize(o.Width, o.Height))
	}
	if o.profile != nil {
		options = append(options, tea.WithColorProfile(*o.profile))
	}
	if o.size != nil {
		options = append(options, tea.WithFilter(o.size.onlyTrue))
	}
	return options
}

// environ reads what the environment says about the terminal.
type environ []string

func (e environ) get(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// ascii says whether the terminal is not known to draw more than ASCII. A locale that
// is not set says nothing: containers have none.
func (e environ) ascii() bool {
	if t := e.get("TERM"); t == "linux" || t == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(e.get(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}

// remote says whether keys come over ssh.
func (e environ) remote() bool { return e.get("SSH_TTY") != "" || e.get("SSH_CONNECTION") != "" }
