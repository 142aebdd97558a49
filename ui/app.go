package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/internal/diagnose"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/history"
	"coordtop/internal/objective"
	"coordtop/sources"
	"coordtop/ui/dialog"
	"coordtop/ui/terminal"
)

// Operator carries out what a person decides in a dialog.
type Operator interface {
	dialog.Operator
	// Wake receives after there is a new Status. Wake-ups are merged.
	Wake() <-chan struct{}
}

// Options configure a board. The zero value of each field but Feed is fine.
type Options struct {
	Feed       Feed            // nil: there is only a recording
	Player     *history.Player // what was recorded; nil: nothing. Without a Feed it has shown a state
	Title      string          // the environment: first in the header; "": coordtop
	TitleColor string          // red, green, yellow, blue, magenta, cyan, black; "": magenta
	ASCII      bool            // no character beyond ASCII; also without a UTF-8 locale and on TERM=linux or dumb
	NoColor    bool            // no colours; also where NO_COLOR is set to anything

	Greeting string // what the footer says first; "": nothing
	Trouble  bool   // the Trouble screen is shown first
	Start    Start  // the first screen otherwise

	Theme string // "dark" or "light"; "" and "auto": what the terminal says its background is

	// Keys are the names of actions, as the help has them, with the keys that they have
	// instead of their own. keys.Check must find nothing wrong with them.
	Keys map[string][]string

	// Export writes rows for use elsewhere, and Command is the command line about one row that
	// begins with words, such as get, without secrets. Where one is nil, the person is told so.
	Export      Exporter
	Picture     Picture                                           // of the Timeline
	ExportTable func(w io.Writer, f Form, table [][]string) error // as Export, of the table of the Audit screen
	Command     func(r *sources.Row, words ...string) string
	URL         func(*sources.Row) string // as of diagnose.Input

	// AuditEntries reads the newest actions of the audit, oldest first; it may wait for a disk. nil: there is
	// no audit.
	AuditEntries func() ([]action.AuditEntry, error)

	// Note writes a note of the person about a moment; it may wait for a disk. After an error, only
	// this board has the note. nil: no notes are taken.
	Note func(text string, about time.Time) error

	// Recording returns a sentence about what is unusual in the recording, or whose it is, and whether it stopped for
	// what is unusual; "": nothing is. nil: nothing is recorded.
	Recording func() (text string, stopped bool)

	// Seen returns who saw what is shown and how old that is, and whether it is too old to count as the present. nil:
	// this program sees it itself.
	Seen func() (text string, old bool)

	// Notified returns a sentence about notifications that were not delivered; "": all were. nil: nobody is told.
	Notified func() string

	// Alert selects the signal of the terminal to a person while it has no focus: "off", "bell" or "osc"; "": off.
	Alert string

	// History reads what was recorded before. nil: nothing is known from before what the rows keep.
	History history.Reader

	// Abort does what ctrl-\ does where a terminal makes a signal of it. nil: nothing.
	Abort func()

	// Demo is set for the demo's servers: the board then begins on a leader, with a text about what
	// there is to try, and names the key that crashes an owner's process.
	Demo bool

	// Mutes keeps what the person mutes. nil: nothing can be muted.
	Mutes Muter

	// Runbooks are the URLs of the config, by the pattern of a finding.
	Runbooks map[diagnose.Pattern]string

	// Objectives of the config are shown by Pulse.
	Objectives []objective.Objective

	// Operator carries out what the person decides. nil: the board is read-only.
	Operator Operator

	Input         io.Reader // nil: the terminal
	Output        io.Writer // nil: standard output
	Environ       []string  // nil: os.Environ
	Width, Height int       // of an Output that is no terminal

	slow func() bool // reports whether the terminal is slow; nil: it is not
}

// Start is the first screen of a board.
type Start string

// The first screens. StartAuto is Pulse if something needs a person at the first complete look within two seconds and no
// key was pressed until then, else Locks; of a recording always Locks.
const (
	StartLocks Start = "locks" // also a Start of ""
	StartPulse Start = "pulse"
	StartAuto  Start = "auto"
)

// Run shows the board until the person quits, then returns nil. When ctx ends it
// restores the terminal and returns the cause, in little more than a second also where the
// terminal does not read. A terminal that is gone is an error. It handles no signals:
// whoever owns the process ends ctx on them. Every goroutine it starts is joined, but for
// timers of Bubble Tea that end by themselves 300 ms after an esc and, after a terminal
// that did not read, one in the write that was given up and Bubble Tea's own that holds a
// key which nobody took.
func Run(ctx context.Context, o Options) error {
	if o.Feed == nil && o.Player == nil {
		return errors.New("running the board: no feed")
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	// A program whose context ends is killed, so it has one of its own: quit asks it first.
	programCtx, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	pumpCtx, stop := context.WithCancelCause(ctx)
	t := terminal.Open(ctx, o.Input, o.Output, o.Environ, func(err error) { stop(fmt.Errorf("%w: %w", terminal.ErrGone, err)) })
	defer t.Close()
	if w, h, ok := t.Size(); ok {
		o.Width, o.Height = w, h
	}
	o.slow = t.Slow
	m := newModel(o)
	try := func(f func()) (whole bool) {
		err := spawn.Call(pumpCtx, func() error { f(); return nil })
		if err != nil {
			stop(err)
		}
		return err == nil
	}
	recovering := &terminal.Recovering{Model: m, Try: try}
	p := tea.NewProgram(recovering, t.Options(programCtx, o.Width, o.Height)...)
	frames := terminal.FramesOf(pumpCtx, p, t.Writing)
	defer frames.Close()
	recovering.Drawn = frames.Drawn
	var beside sync.WaitGroup // joined below
	m.past.askIn(pumpCtx)
	m.acting.Describer, m.acting.Doer = dialog.AskIn(pumpCtx, &beside), dialog.DoIn(pumpCtx)
	pump := pumpOf(o, m.feeds, p.Send, t.Typed())
	spawn.Go(pumpCtx, &beside, func() { m.feeds.merge(pumpCtx) })
	spawn.Go(pumpCtx, &beside, func() {
		stop(spawn.Call(pumpCtx, func() error { return pump.Run(pumpCtx) }))
	})
	spawn.Go(pumpCtx, &beside, func() { t.Quit(pumpCtx, programCtx, p.Quit, kill) })
	t.Follow(pumpCtx, &beside, p.Send)
	_, err := p.Run()
	t.Scroll()
	kill()
	stop(nil)
	beside.Wait()
	if err := outcome(ctx, context.Cause(pumpCtx), err); err != nil {
		return err
	}
	return t.Leave(m.acting.Kept)
}

// pumpOf is the pump of a board's feed and operator.
func pumpOf(o Options, f *feeds, send func(tea.Msg), typed <-chan struct{}) *terminal.Pump {
	p := &terminal.Pump{Wake: f.Wake, Now: f.tick, Revision: func() uint64 { return f.shown().State().Rev }, Send: send, Slow: o.slow, Typed: typed, Soon: f.soon.Load}
	if o.Operator != nil {
		p.Acts = o.Operator.Wake()
	}
	return p
}

// outcome returns the error of Run: why its parts were ended comes before what Bubble Tea made
// of it, and that somebody wanted the end before that the terminal went away with them.
func outcome(ctx context.Context, cause, err error) error {
	switch {
	case errors.Is(cause, spawn.ErrPanic):
		return fmt.Errorf("running the board: %w", cause)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(cause, terminal.ErrGone):
		return fmt.Errorf("running the board: %w", cause)
	case err != nil:
		return fmt.Errorf("running the board: %w", err)
	}
	return nil
}

// Feed is the source of everything on the board: live sources, or a recording that is
// played. The program's loop and the pump call it, State and Now both of them; no method
// may block.
//
// A Feed may also have the methods of sources.Focuser, which is told which rows are on
// screen whenever that changes, of sources.Refresher, which is called when the
// person asks for a new look, of Publisher, and of Looker.
type Feed interface {
	// State returns the latest state, never nil. It is not changed afterwards.
	State() *sources.State
	// Now is the time that ages are counted to, in the zone in which times are shown.
	Now() time.Time
	// Wake receives after there is a new state or a new event. Wake-ups are merged.
	Wake() <-chan struct{}
	// Events returns at most max events (max <= 0: all) that were not returned before, oldest
	// first, and how many were dropped before they could be.
	Events(max int) (events []sources.Event, missed uint64)
	// Row returns the row of ref in s, a State of this feed; nil: there is none in it.
	Row(s *sources.State, ref sources.Ref) *sources.Row
}

// Looker is a Feed of what another program sees. A dialog reads rows from Own, which asks the servers itself before
// anything is sent to them.
type Looker interface{ Own() dialog.Latest }

// Publisher is a Feed that may hold something back for a second. Publish lets its State have it: once a second ages
// and what is left of leases are drawn, and would be those of before the last renewals.
type Publisher interface{ Publish() }
