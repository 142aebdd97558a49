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

// Host is the board under the dialogs. It shows messages in its last line.
type Host interface {
	Say(text string)
	SayFor(d time.Duration, text string)
}

// Latest returns the rows as they are now, even while the picture is held.
type Latest interface {
	State() *sources.State
	Now() time.Time
	Row(st *sources.State, ref sources.Ref) *sources.Row
}

// Acting is the part of a board that acts: the actions of the operator, and the open dialog.
type Acting struct {
	*screen.Scene
	host Host
	feed Latest

	op        Operator                // nil: this board is read-only
	phases    map[uint64]action.Phase // of the runs that were announced last
	Describer doer
	Doer      doer

	dialog   Dialog      // nil: none is open
	pressing bool        // a key is being handled
	Cursor   *tea.Cursor // in the dialog; nil: it has none
	quiet    time.Time   // keys before this are ignored: no key opened the dialog
	decided  time.Time   // when the dialog was opened or last decided
	small    bool        // a part of the dialog is not on the screen
	leaving  time.Time   // when the person last asked to quit
	pending  []tea.Cmd   // commands for the end of the update
	Kept     []string    // the screen, to be left as text at the end; nil: nothing is left
}

// quietTime is the time for which a dialog that no key opened ignores keys, which were meant for
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

// Receive reads the operator's status and updates the dialog from the rows. It does so even while
// the picture is held.
func (a *Acting) Receive() {
	if a.op != nil {
		if s := a.op.Status(); s != a.Status {
			a.Status = s
			a.Remeasure() // the names of our rows become longer
		}
		a.announce()
	}
	if a.dialog != nil {
		a.dialog.update(a)
	}
	if b, ok := a.dialog.(*box); ok && b.focus == len(b.fields)+buttonAct {
		withheld(a, keys.Press) // a box that is too old moves the focus to Cancel now, not at the key
	}
}

// show puts a dialog over the board.
func (a *Acting) show(d Dialog) {
	a.dialog, a.quiet, a.decided = d, time.Time{}, a.feed.Now()
	if !a.pressing {
		a.ignoreKeys()
	}
}

// Open reports whether a dialog is open.
func (a *Acting) Open() bool { return a.dialog != nil }

// Deciding reports whether a dialog is open whose keys matter more than any message. Dialogs with the
// keys of the menu show messages themselves.
func (a *Acting) Deciding() bool { return a.dialog != nil && a.dialog.keyContext() != keys.InMenu }

// KeyContext returns the context of the open dialog.
func (a *Acting) KeyContext() keys.Context { return a.dialog.keyContext() }

// Edit passes a paste, or a key without a binding, to a dialog with text fields.
func (a *Acting) Edit(msg tea.Msg) tea.Cmd {
	d, ok := a.dialog.(interface {
		edit(a *Acting, msg tea.Msg) tea.Cmd
	})
	if ok {
		return d.edit(a, msg)
	}
	return nil
}

// Draw draws the dialog, if one is open, over the lines of a screen, and sets Cursor.
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

// Target returns the row of the open box; false: no box is open.
func (a *Acting) Target() (ref sources.Ref, ok bool) {
	if b, ok := a.dialog.(*box); ok {
		return b.request.Target.Ref, true
	}
	return sources.Ref{}, false
}

// Press calls act, which handles keys: a dialog that it opens was opened by a key.
func (a *Acting) Press(act func()) {
	if a.dialog != nil && a.feed.Now().Before(a.quiet) {
		return
	}
	a.pressing = true
	defer func() { a.pressing = false }()
	act()
}

// Answer passes the answer of the operator to the function that waits for it.
func (a *Acting) Answer(msg DoneMsg) { msg.then(msg.err) }

// Later returns the commands for the end of an update.
func (a *Acting) Later() []tea.Cmd {
	cmds := a.pending
	a.pending = nil
	return cmds
}

// later adds a command for the end of the update: dialogs that are updated may ask the operator.
func (a *Acting) later(cmd tea.Cmd) {
	if cmd != nil {
		a.pending = append(a.pending, cmd)
	}
}

// ignoreKeys makes the dialog ignore keys for a moment: they were meant for its previous contents.
func (a *Acting) ignoreKeys() { a.quiet = a.feed.Now().Add(quietTime) }

// close closes the dialog.
func (a *Acting) close() { a.dialog = nil }

// CanWrite reports whether writing is possible now.
func (a *Acting) CanWrite() bool { return a.op != nil && a.Status.CanWrite(a.feed.Now()) }

// live returns a row as it is now, even while the picture is held; nil: it does not exist.
func (a *Acting) live(ref sources.Ref) *sources.Row {
	return a.feed.Row(a.feed.State(), ref)
}

// Do carries out an intent of the dialog, or one that acts; false: i is neither.
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
		return nil, true
	case keys.Crash:
		return a.crash(), true
	}
	return nil, false
}

// resultTime is the time for which the footer shows the end of an action.
const resultTime = 8 * time.Second

// announce shows the new phases of our actions in the footer.
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

// Dialog stands over the board and receives the keys while it is open. A dialog that can do harm
// is opened by a key only.
type Dialog interface {
	keyContext() keys.Context
	// do carries out an intent of its context.
	do(a *Acting, i keys.Intent) tea.Cmd
	// update reads its row, or the operator's status, again.
	update(a *Acting)
	// picture draws it within w x h cells, without its frame.
	picture(a *Acting, w, h int) screen.Picture
}

// doer runs a function that may block in a goroutine of its own.
type doer func(func(context.Context) error) <-chan error

// describePatience bounds the time of a description.
const describePatience = 5 * time.Second

// AskIn returns a doer for questions to the operator. Its goroutines end with ctx or after
// describePatience, and are counted in running.
func AskIn(ctx context.Context, running *sync.WaitGroup) doer {
	return func(f func(context.Context) error) <-chan error {
		got := make(chan error, 1) // maybe nobody receives it
		spawn.Go(ctx, running, func() {
			ctx, cancel := context.WithTimeout(ctx, describePatience)
			defer cancel()
			got <- spawn.Call(ctx, func() error { return f(ctx) })
		})
		return got
	}
}

// DoIn returns a doer for calls that wait for a disk. Nobody joins its goroutines, because a disk may
// block them for seconds while the terminal must be given back. The operator bounds their time.
func DoIn(ctx context.Context) doer {
	return func(f func(context.Context) error) <-chan error {
		got := make(chan error, 1) // as above
		spawn.Go(ctx, nil, func() { got <- spawn.Call(ctx, func() error { return f(ctx) }) })
		return got
	}
}

// DoneMsg reports the result of a doer.
type DoneMsg struct {
	then func(error)
	err  error
}

// Await calls f, which may wait for a disk, in a goroutine, and then calls then with its error.
func (a *Acting) Await(f func(context.Context) error, then func(error)) tea.Cmd {
	return a.await(a.Doer, f, then)
}

func (a *Acting) await(do doer, f func(context.Context) error, then func(error)) tea.Cmd {
	got := do(f)
	return func() tea.Msg { return DoneMsg{then, <-got} }
}
