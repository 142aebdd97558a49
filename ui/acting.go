package ui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/screen"
)

// host is the board under the dialogs, which shows messages in its last line.
type host interface {
	Say(text string)
	SayFor(d time.Duration, text string)
}

// latest is where rows are looked up as they are now, also while the picture is held.
type latest interface {
	State() *sources.State
	Now() time.Time
	Row(st *sources.State, ref sources.Ref) *sources.Row
}

// acting is the part of a board that acts: what the operator is doing, and the dialog in
// which the person decides.
type acting struct {
	*screen.Scene
	host host
	feed latest

	op        Operator                // nil: this board is read-only
	phases    map[uint64]action.Phase // of the runs that were announced last
	describer asker
	doer      doer

	dialog   dialog      // stands over the board and takes the keys; nil: none
	pressing bool        // a key is being acted on
	cursor   *tea.Cursor // in the dialog; nil: it has none
	quiet    time.Time   // keys before this are ignored: the dialog came without one
	leaving  time.Time   // when the person last asked to quit
	pending  []tea.Cmd   // what heed has asked for, until the end of the update
	kept     []string    // what is to be left behind as text at the end; nil: nothing
}

// quietTime is how long a dialog that no key opened ignores keys: they were meant for
// something else.
const quietTime = 400 * time.Millisecond

func newActing(sc *screen.Scene, h host, feed latest, op Operator) acting {
	a := acting{Scene: sc, host: h, feed: feed, op: op, phases: map[uint64]action.Phase{}}
	a.describer, a.doer = askIn(context.Background(), op, new(sync.WaitGroup)), doIn(context.Background())
	sc.Status = &action.Status{}
	if op != nil {
		sc.Acts, sc.Abilities, sc.Status = true, op.Caps, op.Status()
	}
	return a
}

// heed takes in what the operator has done, and lets the dialog look at the rows again.
// It does not wait for a paused picture.
func (a *acting) heed() {
	if a.op != nil {
		if s := a.op.Status(); s != a.Status {
			a.Status = s
			a.Remeasure() // what is ours is called so, which is longer
		}
		a.announce()
	}
	if a.dialog != nil {
		a.dialog.heed(a)
	}
}

// show puts a dialog over the board.
func (a *acting) show(d dialog) {
	a.dialog, a.quiet = d, time.Time{}
	if !a.pressing {
		a.hush()
	}
}

// listens reports whether keys are acted on now.
func (a *acting) listens() bool { return a.dialog == nil || !a.feed.Now().Before(a.quiet) }

// taken returns what is to be carried out at the end of an update.
func (a *acting) taken() []tea.Cmd {
	cmds := a.pending
	a.pending = nil
	return cmds
}

// later has a command carried out at the end of the update: what is looked at again may ask
// the operator.
func (a *acting) later(cmd tea.Cmd) {
	if cmd != nil {
		a.pending = append(a.pending, cmd)
	}
}

// hush makes the dialog ignore keys for a moment: they were meant for what it showed before.
func (a *acting) hush() { a.quiet = a.feed.Now().Add(quietTime) }

// shut takes the dialog away.
func (a *acting) shut() { a.dialog = nil }

// canWrite says whether anything may be changed now.
func (a *acting) canWrite() bool { return a.op != nil && a.Status.CanWrite(a.feed.Now()) }

// live is a row as it is now, also while the picture is held; nil: it does not exist.
func (a *acting) live(ref sources.Ref) *sources.Row {
	return a.feed.Row(a.feed.State(), ref)
}

// act carries out the intents that change more than the picture; false: i is none.
func (a *acting) act(i keys.Intent) (tea.Cmd, bool) {
	switch i {
	case keys.Quit:
		return a.quit(), true
	case keys.Redraw, keys.Suspend, keys.Abort:
		return nil, false
	}
	if a.dialog != nil {
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
func (a *acting) announce() {
	runs := a.Status.Runs
	now := make(map[uint64]action.Phase, len(runs))
	for i := range runs {
		r := &runs[i]
		now[r.ID] = r.Phase
		if before, known := a.phases[r.ID]; !known || before != r.Phase {
			if r.Phase.Over() {
				a.host.SayFor(resultTime, screen.RunText(r))
			} else {
				a.host.Say(screen.RunText(r))
			}
		}
	}
	a.phases = now
}
