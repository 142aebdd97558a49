package ui

import (
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/ui/keys"
	"coordtop/ui/terminal"
)

// disarm ends writing.
func (d *driver) disarm(op *testOperator) {
	op.Change(func(s *action.Status) { s.Always = false })
	d.send(terminal.WakeMsg{})
}

// waits is a board that waits for a, and holds b.
func waits(t *testing.T) (*driver, *testOperator) {
	t.Helper()
	a, b, _ := three()
	d, op := armed(a, b)
	holding(op, d, b, true)
	op.Change(func(s *action.Status) {
		s.Holdings = append(s.Holdings, action.Holding{Ref: a.Ref, Waiting: true, Since: noon()})
	})
	d.send(terminal.WakeMsg{})
	return d, op
}

// calledOff reports whether writing was ended.
func calledOff(op *testOperator) bool { return slices.Contains(op.Called(), "disarm") }

func TestEndingWritingAsksAboutClaimsThatWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key string
		off bool
	}{{"y", true}, {"n", false}, {"enter", false}, {"esc", false}, {"x", false}, {"W", false}} {
		d, op := waits(t)
		d.press("W")
		d.says(t, "End writing in prod-eu and call off 1 claim?")
		d.says(t, "a leases waiting for 0s")
		d.says(t, "What we hold (1) is kept and renewed.")
		if calledOff(op) {
			t.Fatal("writing has ended before the question was answered")
		}
		d.press(c.key)
		if calledOff(op) != c.off || d.acting.CanWrite() == c.off {
			t.Errorf("%s: writing ended %v", c.key, !c.off)
		}
		if c.off {
			d.shows(t, "writing is off; we go on holding 1")
			d.shows(t, " HOLDING 1 ")
			d.showsNot(t, "READ-ONLY")
		}
	}
}

func TestTheQuestionAboutClaimsThatWaitIsAnsweredByWhatHappens(t *testing.T) {
	t.Parallel()
	d, op := waits(t)
	d.press("W")
	op.Change(func(s *action.Status) { s.Holdings[1].Waiting = false })
	d.await(d.send(terminal.WakeMsg{}))
	if d.acting.Open() || !calledOff(op) {
		t.Errorf("nothing waits, and writing has not ended: %v", op.Called())
	}
	d, op = waits(t)
	d.press("W")
	op.Change(func(s *action.Status) { s.Always, s.Armed = false, time.Time{} })
	d.send(terminal.WakeMsg{})
	if d.acting.Open() || calledOff(op) {
		t.Errorf("writing has ended, and is asked about: %v", op.Called())
	}
}

func TestEndingWritingWhileNothingWaitsAsksNothing(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	holding(op, d, a, true)
	d.press("W")
	if d.acting.Open() || !calledOff(op) {
		t.Errorf("called %v", op.Called())
	}
	d.shows(t, " HOLDING 1 ")
	d.press("W", "y")
	d.shows(t, " WRITE ")
	d.shows(t, "we hold 1")
	op.Change(func(s *action.Status) { s.Holdings = nil })
	d.send(terminal.WakeMsg{})
	d.press("W")
	d.shows(t, "read-only again")
	d.shows(t, " READ-ONLY ")
}

func TestTheQuestionFromTheMenuGoesBackToIt(t *testing.T) {
	t.Parallel()
	for _, k := range []string{"y", "n"} {
		d, _ := waits(t)
		d.press("a", "W")
		d.says(t, "call off 1 claim?")
		d.press(k)
		if d.keyContext() != keys.InMenu {
			t.Errorf("%s: the menu is gone", k)
		}
	}
}

// Nothing of ours acts under a badge that says READ-ONLY: leases are renewed, and a claim that
// is being called off may yet be granted.
func TestTheBadgeNeverSaysReadOnlyWhileSomethingOfOursGoesOn(t *testing.T) {
	t.Parallel()
	d, op := waits(t)
	op.Change(func(s *action.Status) { s.Always, s.Armed = false, noon().Add(2*time.Second) })
	d.pass(1)
	d.shows(t, " WRITE 1s ")
	d.pass(1)
	d.shows(t, " HOLDING 1  6s left  in 1 queue")
	d.pause()
	op.Change(func(s *action.Status) { s.Holdings = s.Holdings[1:] })
	d.send(terminal.WakeMsg{})
	d.shows(t, " CALLING OFF 1 ")
	d.showsNot(t, "READ-ONLY")
	op.Change(func(s *action.Status) { s.Holdings = nil })
	d.send(terminal.WakeMsg{})
	d.shows(t, " READ-ONLY ")
	small, _, b := three()
	d, op = armed(small, b)
	holding(op, d, b, true)
	d.disarm(op)
	d.send(tea.WindowSizeMsg{Width: 24, Height: 10})
	d.shows(t, " HOLDING 1 ")
}

func TestWhatIsOursIsGivenUpFromTheMenuWhileWritingIsOff(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	op.Offer = []action.Choice{{Verb: action.Resign}, {Verb: action.Proclaim}}
	holding(op, d, a, true)
	d.disarm(op)
	d.act("a")
	d.says(t, "resign: give it up")
	d.says(t, "proclaim: writing is off")
	d.act("r")
	d.shows(t, "y resign")
	d.act("y")
	if got := op.Begun(); len(got) != 1 || got[0].Verb != action.Resign {
		t.Errorf("begun %+v", got)
	}
}
