package dialog

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/screen"
)

// Host is the board under the dialogs, which shows messages in its last line.
type Host interface {
	Say(text string)
	SayFor(d time.Duration, text string)
}

// Latest is where rows are looked up as they are now, also while the picture is held.
type Latest interface {
	State() *sources.State
	Now() time.Time
	Row(st *sources.State, ref sources.Ref) *sources.Row
}

// Acting is the part of a board that acts: what the operator is doing, and the dialog in
// which the person decides.
type Acting struct {
	*screen.Scene
	host Host
	feed Latest

	op        Operator                // nil: this board is read-only
	phases    map[uint64]action.Phase // of the runs that were announced last
	Describer doer
	Doer      doer

	dialog   Dialog      // stands over the board and takes the keys; nil: none
	pressing bool        // a key is being acted on
	Cursor   *tea.Cursor // in the dialog; nil: it has none
	quiet    time.Time   // keys before this are ignored: the dialog came without one
	decided  time.Time   // when the dialog was opened or decided anew
	small    bool        // the dialog is not on the screen whole
	leaving  time.Time   // when the person last asked to quit
	pending  []tea.Cmd   // what updates have asked for, until the end of the update
	Kept     []string    // what is to be left behind as text at the end; nil: nothing
}

// quietTime is how long a dialog that no key opened ignores keys: they were meant for
// something else.
const quietTime = 400 * time.Millisecond

// New returns the part of a board that acts. op nil: it is read-only. Describer and Doer start
// goroutines that nobody joins until the caller replaces them.
func New(sc *screen.Scene, h Host, feed Latest, op Operator) Acting {
	a := Acting{Scene: sc, host: h, feed: feed, op: op, phases: map[uint64]action.Phase{}}
	a.Describer, a.Doer = AskIn(context.Background(), new(sync.WaitGroup)), DoIn(context.Background())
	sc.Status = &action.Status{}
	if op != nil {
		sc.Acts, sc.Abilities, sc.Status = true, op.Caps, op.Status()
	}
	return a
}

// Receive takes in what the operator has done, and lets the dialog look at the rows again.
// It does not wait for a paused picture.
func (a *Acting) Receive() {
	if a.op != nil {
		if s := a.op.Status(); s != a.Status {
			a.Status = s
			a.Remeasure() // what is ours is called so, which is longer
		}
		a.announce()
	}
	if a.dialog != nil {
		a.dialog.update(a)
	}
	if b, ok := a.dialog.(*box); ok && b.focus == len(b.fields)+buttonAct {
		withheld(a, keys.Press) // too old, it goes back to Cancel where the person sees it
	}
}

// show puts a dialog over the board.
func (a *Acting) show(d Dialog) {
	a.dialog, a.quiet, a.decided = d, time.Time{}, a.feed.Now()
	if !a.pressing {
		a.ignoreKeys()
	}
}

// Open reports whether a dialog is.
func (a *Acting) Open() bool { return a.dialog != nil }

// Deciding reports whether a dialog is open whose keys matter more than any message. Those with the
// keys of the menu speak by messages themselves.
func (a *Acting) Deciding() bool { return a.dialog != nil && a.dialog.keyContext() != keys.InMenu }

// KeyContext is the context of the dialog that is open.
func (a *Acting) KeyContext() keys.Context { return a.dialog.keyContext() }

// Edit gives what is typed or pasted and is no key of its context to a dialog that takes text.
func (a *Acting) Edit(msg tea.Msg) tea.Cmd {
	d, ok := a.dialog.(interface {
		edit(a *Acting, msg tea.Msg) tea.Cmd
	})
	if !ok {
		return nil
	}
	return d.edit(a, msg)
}

// Draw puts the dialog, if one is open, over the lines of a screen, and notes where the cursor
// goes.
func (a *Acting) Draw(lines []string) []string {
	if a.dialog == nil {
		return lines
	}
	if len(lines) == 0 {
		shrink(a)
		return lines
	}
	_, alone := a.dialog.(*box)
	lines, a.Cursor = screen.Overlay(a.Scene, lines, alone, func(w, h int) screen.Picture { return whole(a, w, h) })
	return lines
}

// Target is the row that the open box is about.
func (a *Acting) Target() (ref sources.Ref, ok bool) {
	b, ok := a.dialog.(*box)
	if !ok {
		return sources.Ref{}, false
	}
	return b.request.Target.Ref, true
}

// Press has keys acted on: a dialog that is opened meanwhile was opened by one.
func (a *Acting) Press(act func()) {
	if a.dialog != nil && a.feed.Now().Before(a.quiet) {
		return
	}
	a.pressing = true
	defer func() { a.pressing = false }()
	act()
}

// Answer brings what the operator said to where it was asked.
func (a *Acting) Answer(msg DoneMsg) { msg.then(msg.err) }

// Later returns what is to be carried out at the end of an update.
func (a *Acting) Later() []tea.Cmd {
	cmds := a.pending
	a.pending = nil
	return cmds
}

// later has a command carried out at the end of the update: what is looked at again may ask
// the operator.
func (a *Acting) later(cmd tea.Cmd) {
	if cmd != nil {
		a.pending = append(a.pending, cmd)
	}
}

// ignoreKeys makes the dialog ignore keys for a moment: they were meant for what it showed before.
func (a *Acting) ignoreKeys() { a.quiet = a.feed.Now().Add(quietTime) }

// close takes the dialog away.
func (a *Acting) close() { a.dialog = nil }

// CanWrite reports whether anything may be changed now.
func (a *Acting) CanWrite() bool { return a.op != nil && a.Status.CanWrite(a.feed.Now()) }

// live is a row as it is now, also while the picture is held; nil: it does not exist.
func (a *Acting) live(ref sources.Ref) *sources.Row {
	return a.feed.Row(a.feed.State(), ref)
}

// Do carries out the intents that change more than the picture; false: i is none.
func (a *Acting) Do(i keys.Intent) (tea.Cmd, bool) {
	switch i {
	case keys.Quit:
		return a.Quit(), true
	case keys.Redraw, keys.Suspend, keys.Abort:
		return nil, false
	}
	if a.dialog != nil {
		if withheld(a, i) {
			return nil, true
		}
		return a.dialog.do(a, i), true
	}
	switch i {
	case keys.Arm:
		return a.arm(), true
	case keys.Actions:
		a.openMenu()
	case keys.Crash:
		return a.crash(), true
	default:
		return nil, false
	}
	return nil, true
}

// resultTime is how long the end of an action stands in the footer.
const resultTime = 8 * time.Second

// announce says in the footer how far our actions have come.
func (a *Acting) announce() {
	runs := a.Status.Runs
	now := make(map[uint64]action.Phase, len(runs))
	for i := range runs {
		r := &runs[i]
		now[r.ID] = r.Phase
		if before, known := a.phases[r.ID]; !known || before != r.Phase {
			if r.Phase.Over() {
				a.host.SayFor(resultTime, screen.RunText(a.Scene, r))
			} else {
				a.host.Say(screen.RunText(a.Scene, r))
			}
		}
	}
	a.phases = now
}

// Dialog stands over the board and takes the keys while it is open. One that can do harm
// is never opened by anything but a key.
type Dialog interface {
	keyContext() keys.Context
	// do carries out an intent of its context.
	do(a *Acting, i keys.Intent) tea.Cmd
	// update looks again at what it stands for.
	update(a *Acting)
	// picture draws it within so many cells, without its frame.
	picture(a *Acting, w, h int) screen.Picture
}

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
