package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/dialog"
	"coordtop/ui/keys"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// armed drives a board of 80x24 over hand-made rows with an operator that offers all.
func armed(prims ...*sources.Primitive) (*driver, *testOperator) {
	op := newTestOperator()
	op.Offer = []action.Choice{{Verb: action.Campaign}, {Verb: action.Resign, Not: "not ours"}}
	op.Effect = action.Effect{Lines: []string{"We would lead it.", "It is kept until we resign."}, Call: "SET a us NX PX 15000"}
	return drive(newTestFeed(uitest.State(noon(), prims...)), Options{Width: 80, Height: 24, Operator: op}), op
}

// armedOne drives the board of one election, that of host-1.
func armedOne() (*driver, *testOperator, *sources.Primitive) {
	a, _, _ := three()
	d, op := armed(a)
	return d, op, a
}

// act presses keys and lets what they asked for be answered.
func (d *driver) act(keys ...string) {
	for _, k := range keys {
		d.await(d.send(key(k)))
	}
}

func (d *driver) await(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			d.await(c)
		}
	case dialog.DoneMsg:
		d.await(d.send(msg))
	}
}

// quits reports whether a key ends the program.
func (d *driver) quits(k string) bool {
	quit := false
	var look func(tea.Cmd)
	look = func(cmd tea.Cmd) {
		if cmd == nil {
			return
		}
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			for _, c := range msg {
				look(c)
			}
		case tea.QuitMsg:
			quit = true
		}
	}
	look(d.send(key(k)))
	return quit
}

// holding makes the operator hold a lease on a led election.
func holding(op *testOperator, d *driver, p *sources.Primitive, runsOut bool) {
	op.Change(func(s *action.Status) {
		h := action.Holding{Ref: p.Ref, Owner: p.Owners[0].ID, Since: noon(), RunsOut: runsOut, Data: []byte("az=a")}
		if runsOut {
			h.Until = noon().Add(8 * time.Second)
		}
		s.Holdings = append(s.Holdings, h)
	})
	d.send(terminal.WakeMsg{})
}

func TestABoardWithoutAnOperatorIsReadOnlyAndSaysSo(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := hand(a)
	d.press("W")
	d.shows(t, "read-only: this board can change nothing")
	d.shows(t, " READ-ONLY ")
	d.press("a")
	d.shows(t, "acquire, campaign")
	d.shows(t, ": read-only: this board can change nothing")
	d.press("enter", "a", "esc", "X")
	if d.acting.Open() {
		t.Error("a dialog is left")
	}
}

func TestWritingIsArmedByAQuestionAndEndsByTheSameKey(t *testing.T) {
	t.Parallel()
	d, op, _ := armedOne()
	d.disarm(op)
	d.shows(t, " READ-ONLY ")
	for _, no := range []string{"n", "enter", "esc"} {
		d.press("W", no)
		if d.acting.Open() || len(op.Called()) > 0 {
			t.Fatalf("after %s: %v", no, op.Called())
		}
	}
	d.press("W")
	d.shows(t, "Arm writing in  prod-eu  for 5 minutes?")
	d.press("x", "y")
	if !slices.Equal(op.Called(), []string{"arm leases "}) {
		t.Errorf("called %v", op.Called())
	}
	d.shows(t, " WRITE ")
	op.Change(func(s *action.Status) { s.Always, s.Armed = false, noon().Add(292*time.Second) })
	d.send(terminal.WakeMsg{})
	d.shows(t, " WRITE 4m52s ")
	d.pass(2)
	d.shows(t, " WRITE 4m50s ")
	d.press("W")
	d.shows(t, " READ-ONLY ")
}

func TestAProtectedSourceIsArmedByItsName(t *testing.T) {
	t.Parallel()
	d, op, _ := armedOne()
	d.disarm(op)
	op.Protected, op.ArmErr = "leases", errors.New("leases is protected: type its name")
	d.press("W", "y")
	d.shows(t, "leases is protected: type its name")
	d.typed("lease")
	d.press("enter")
	d.shows(t, "leases is protected") // still
	d.press("s", "enter")
	if got := op.Called(); !slices.Equal(got, []string{"arm leases ", "arm leases lease", "arm leases leases"}) {
		t.Errorf("called %q", got)
	}
	d.shows(t, " WRITE ")
}

func TestTheMenuShowsWhatIsPossibleFirstAndWhyTheRestIsNot(t *testing.T) {
	t.Parallel()
	d, op, _ := armedOne()
	op.Offer = []action.Choice{{Verb: action.Resign, Not: "not ours"}, {Verb: action.Campaign}, {Verb: action.Acquire, Not: "an election is led"}}
	d.press("a")
	text := d.text()
	campaign, resign := strings.Index(text, "campaign: wait to lead"), strings.Index(text, "resign: not ours")
	if campaign < 0 || resign < campaign {
		t.Errorf("campaign at %d, resign at %d:\n%s", campaign, resign, text)
	}
	d.press("r")
	d.shows(t, "not possible: not ours")
	if d.keyContext() != keys.InMenu {
		t.Error("the menu went away")
	}
	d.act("a")
	d.shows(t, "Campaign for a in leases")
}

func TestTheMenuSaysThatWritingIsOffAndArmsIt(t *testing.T) {
	t.Parallel()
	d, op, _ := armedOne()
	d.disarm(op)
	d.act("a", "a")
	d.shows(t, "campaign: writing is off")
	d.shows(t, "esc cancels")
	d.shows(t, "writing is off: W makes it possible")
	if len(op.Begun()) > 0 {
		t.Fatal("something was begun")
	}
	d.act("W", "y")
	d.shows(t, "campaign: wait to lead") // back in the menu
	d.act("a")
	d.shows(t, "Campaign for a")
}

func TestTheMenuIsPinnedToItsRowAndOwner(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	a.Owners[0].Fence, a.Owners[0].Guard = 7, "v1"
	d, op := armed(a, b, c)
	d.press("a")
	d.show(uitest.State(noon(), lost("z"), a, b, c)) // another row is at the top now
	d.act("a", "tab", "enter")
	want := action.Target{Ref: a.Ref, Kind: sources.KindElection, Owner: "host-1", Label: "host-1", Fence: 7, Guard: "v1", Used: "a/host-1"}
	if got := op.Begun(); len(got) != 1 || got[0].Target != want || got[0].Verb != action.Campaign {
		t.Errorf("begun %+v", got)
	}
}

func TestWhatWeOwnIsMarkedAsOurs(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	d, op := armed(a, b, uitest.Led("c", "host-1", noon())) // not everything of that name is held by us
	d.showsNot(t, "(us)")
	holding(op, d, a, true)
	if got := strings.Count(d.text(), "host-1 (us)"); got != 2 { // in the list and in the detail
		t.Errorf("marked %d times:\n%s", got, d.text())
	}
	d.showsNot(t, "host-2 (us)")
	d.shows(t, "we hold 1  8s left")
	d.pass(3)
	d.shows(t, "we hold 1  5s left")
}

func TestTheHeaderShowsTheShortestTrust(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d, op := armed(a, b, c)
	holding(op, d, a, true)
	holding(op, d, b, false)
	op.Change(func(s *action.Status) {
		s.Holdings = append(s.Holdings, action.Holding{Ref: c.Ref, Waiting: true, Since: noon()})
		s.Holdings = append(s.Holdings, action.Holding{Ref: c.Ref, Until: noon().Add(3 * time.Second)})
	})
	d.send(terminal.WakeMsg{})
	d.shows(t, "we hold 3  3s left")
	d.shows(t, "in 1 queue")
}

func TestARowThatWeActOnIsPending(t *testing.T) {
	t.Parallel()
	a := lost("a")
	d, op := armed(a)
	d.act("a", "a", "tab", "enter")
	d.shows(t, "!◌a")
	d.shows(t, "pending")
	d.shows(t, "campaign a: sending")
	begun := op.Begun()[0]
	op.Change(func(s *action.Status) {
		s.Runs = []action.Run{{ID: 1, Request: begun, Phase: action.Waiting, Place: 2}}
	})
	d.send(terminal.WakeMsg{})
	d.shows(t, "no leader, pending: campaign waiting, place 2")
	op.Change(func(s *action.Status) {
		s.Runs = []action.Run{{ID: 1, Request: begun, Phase: action.Seen, Started: noon().Add(-27 * time.Second), Changed: noon(), Text: "we lead \x1b[31mit"}}
	})
	d.send(terminal.WakeMsg{})
	d.showsNot(t, "pending")
	d.shows(t, `campaign a: we lead \x1b[31mit`)
	d.pass(20)
	d.shows(t, `11:59:33  campaign done after 27 s, we lead`) // in the pane of the row
	d.press("a")
	d.shows(t, "OUR LAST ACTIONS")
}

func TestAQueueIsLeftFromTheMenu(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	op.Offer = []action.Choice{{Verb: action.Resign}}
	op.Change(func(s *action.Status) {
		s.Runs = []action.Run{{ID: 4, Phase: action.Waiting, Place: 3, AtMost: true, Request: action.Request{Verb: action.Campaign, Target: action.Target{Ref: a.Ref}}}}
	})
	d.send(terminal.WakeMsg{})
	d.press("a")
	d.shows(t, "leave the queue: campaign a: waiting, place 3 or before")
	d.showsNot(t, "resign")
	d.press("l")
	if !slices.Equal(op.Called(), []string{"call off"}) {
		t.Errorf("called %v", op.Called())
	}
}

func TestTheDemoKeyEndsTheProcessOfTheOwner(t *testing.T) {
	t.Parallel()
	d, op, _ := armedOne()
	d.press("X")
	d.shows(t, "processes are crashed in coordtop demo only")
	op.Offer = append(op.Offer, action.Choice{Verb: action.Crash, Not: "nobody owns it"})
	d.press("X")
	d.shows(t, "not possible: nobody owns it")
	op.Offer[len(op.Offer)-1].Not = ""
	d.disarm(op)
	d.press("X")
	d.shows(t, "writing is off: W makes it possible")
	op.Change(func(s *action.Status) { s.Always = true })
	d.send(terminal.WakeMsg{})
	d.press("X")
	if got := op.Begun(); len(got) != 1 || got[0].Verb != action.Crash || got[0].Target.Owner != "host-1" {
		t.Errorf("begun %+v", got)
	}
	d.shows(t, "crash a: sending")
	d.press("a")
	d.showsNot(t, "crash: ")
}

func TestADialogThatNoKeyOpenedIgnoresKeysForAMoment(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	holding(op, d, a, true)
	d.acting.Quit()
	if d.quits("r") {
		t.Error("a key that was meant for something else resigned")
	}
	d.feed.Pass(399 * time.Millisecond)
	if d.quits("r") {
		t.Error("keys are ignored for a shorter time")
	}
	d.feed.Pass(time.Millisecond)
	if !d.quits("r") {
		t.Error("keys are ignored for longer")
	}
}

func TestABoxThatNoKeyOpenedIgnoresKeysForAMoment(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	op.Offer = []action.Choice{{Verb: action.Resign}}
	holding(op, d, a, true)
	open := func() {
		row, _ := d.Selected()
		d.await(d.acting.OpenBox(action.Request{Verb: action.Resign, Target: action.TargetOf(row, nil)}))
	}
	for _, k := range []string{"y", "esc", "n"} {
		open()
		d.feed.Pass(399 * time.Millisecond)
		d.act(k)
		if !d.acting.Open() || len(op.Begun()) > 0 {
			t.Errorf("%s, which was meant for something else, was obeyed", k)
		}
	}
	d.feed.Pass(time.Millisecond)
	d.act("y")
	if len(op.Begun()) != 1 {
		t.Error("keys are ignored for longer")
	}
	d.act("a", "r", "y") // the key that opens one is the last one that was meant for the board
	if len(op.Begun()) != 2 {
		t.Error("keys are ignored although one has opened it")
	}
}

func TestEveryKeyOfADialogDoesSomething(t *testing.T) {
	t.Parallel()
	for _, bound := range keys.DialogBindings() {
		if bound.Help == "" || len(bound.Keys) == 0 {
			t.Errorf("%s has no help or no key", bound.Intent)
		}
	}
	a, b, _ := three()
	opened := map[keys.Context][]string{keys.InMenu: {"a", "j"}, keys.InBox: {"a", "a"}, keys.InLeave: {"q"}, keys.InQuestion: {"W"}}
	for s, open := range opened {
		for _, bound := range keys.DialogBindings() {
			if bound.Context&s == 0 || bound.Intent == keys.PageUp || bound.Intent == keys.PageDown {
				continue
			}
			t.Run(fmt.Sprint(s, bound.Intent), func(t *testing.T) {
				t.Parallel()
				d, op := armed(a, b)
				op.Offer = []action.Choice{{Verb: action.Acquire}, {Verb: action.Try}, {Verb: action.Campaign}, {Verb: action.Proclaim}, {Verb: action.Resign},
					{Verb: action.Create}, {Verb: action.Update}, {Verb: action.Delete}, {Verb: action.CreateNode}, {Verb: action.Release}, {Verb: action.CancelWait}}
				holding(op, d, a, true)
				op.Change(func(s *action.Status) {
					s.Always = open[0] != "W"
					s.Runs = []action.Run{{ID: 1, Phase: action.Sending, Request: action.Request{Target: action.Target{Ref: a.Ref}}}}
				})
				d.send(terminal.WakeMsg{})
				d.act(open...)
				if got := d.keyContext(); got != s {
					t.Fatalf("the context is %d", got)
				}
				before, called := d.View(), len(op.Called())
				cmd := d.send(key(bound.Keys[0]))
				if cmd == nil && d.View().Content == before.Content && d.View().Cursor == before.Cursor && len(op.Called()) == called &&
					bound.Intent != keys.Up {
					t.Error("nothing happens")
				}
			})
		}
	}
}
