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

// hands is the part of the model that acts: what the operator is doing, and the dialog
// in which the person decides.
type hands struct {
	op     Operator                // nil: this board is read-only
	phases map[uint64]action.Phase // of the runs that were told of last
	ask    asker
	do     doer

	dialog   dialog      // stands over the board and takes the keys; nil: none
	pressing bool        // a key is being acted on
	cursor   *tea.Cursor // in the dialog; nil: it has none
	quiet    time.Time   // keys before this are ignored: the dialog came without one
	leaving  time.Time   // when the person last asked to quit
	pending  []tea.Cmd   // what heed has asked for, until the end of the update
}

// quietTime is how long a dialog that no key opened ignores keys: they were meant for
// something else.
const quietTime = 400 * time.Millisecond

func newHands(op Operator) hands {
	h := hands{op: op, phases: map[uint64]action.Phase{}}
	h.ask, h.do = askIn(context.Background(), op, new(sync.WaitGroup)), doIn(context.Background())
	return h
}

// heed takes in what the operator has done, and lets the dialog look at the rows again.
// It does not wait for a paused picture.
func (m *model) heed() {
	if m.hands.op != nil {
		if s := m.hands.op.Status(); s != m.Status {
			m.Status = s
			m.Remeasure() // what is ours is called so, which is longer
		}
		m.announce()
	}
	if m.hands.dialog != nil {
		m.hands.dialog.heed(m)
	}
}

// ask puts a dialog over the board.
func (m *model) ask(d dialog) {
	m.hands.dialog, m.hands.quiet = d, time.Time{}
	if !m.hands.pressing {
		m.hush()
	}
}

// later has a command carried out at the end of the update: what is looked at again may ask
// the operator.
func (m *model) later(cmd tea.Cmd) {
	if cmd != nil {
		m.hands.pending = append(m.hands.pending, cmd)
	}
}

// hush makes the dialog ignore keys for a moment: they were meant for what it showed before.
func (m *model) hush() { m.hands.quiet = m.feed.Now().Add(quietTime) }

// shut takes the dialog away.
func (m *model) shut() { m.hands.dialog = nil }

// canWrite says whether anything may be changed now.
func (m *model) canWrite() bool { return m.hands.op != nil && m.Status.CanWrite(m.feed.Now()) }

// live is a row as it is now, also while the picture is held; nil: it does not exist.
func (m *model) live(ref sources.Ref) *sources.Row {
	return m.feed.Row(m.feed.State(), ref)
}

// act carries out the intents that change more than the picture; false: i is none.
func (m *model) act(i keys.Intent) (tea.Cmd, bool) {
	switch i {
	case keys.Quit:
		return m.quit(), true
	case keys.Redraw, keys.Suspend, keys.Abort:
		return nil, false
	}
	if m.hands.dialog != nil {
		return m.hands.dialog.do(m, i), true
	}
	switch i {
	case keys.Arm:
		return m.arm(), true
	case keys.Actions:
		m.openMenu()
	case keys.Crash:
		return m.crash(), true
	default:
		return nil, false
	}
	return nil, true
}

// resultTime is how long the end of an action stands in the footer.
const resultTime = 8 * time.Second

// announce says in the footer how far our actions have come.
func (m *model) announce() {
	runs := m.Status.Runs
	now := make(map[uint64]action.Phase, len(runs))
	for i := range runs {
		r := &runs[i]
		now[r.ID] = r.Phase
		if before, known := m.hands.phases[r.ID]; !known || before != r.Phase {
			m.say(screen.RunText(r))
			if r.Phase.Over() {
				m.until = m.Clock.Add(resultTime)
			}
		}
	}
	m.hands.phases = now
}
