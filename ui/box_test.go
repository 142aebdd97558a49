package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// boxed opens the box of a campaign for an election that host-1 leads.
func boxed(t *testing.T, effect action.Effect) (*driver, *testOperator, *sources.Primitive) {
	t.Helper()
	a, _, _ := three()
	a.Owners[0].Fence = 7
	d, op := armed(a)
	op.Effect = effect
	d.act("a", "a")
	if _, ok := d.acting.Target(); !ok {
		t.Fatalf("no box:\n%s", d.text())
	}
	return d, op, a
}

// effect is one that asks for no more than the button.
func effect() action.Effect {
	return action.Effect{Lines: []string{"We would lead a.", "It is kept until we resign."}, Call: "SET a <nonce> NX PX 30000", Next: "us"}
}

func TestTheBoxShowsTargetEffectAndCall(t *testing.T) {
	t.Parallel()
	d, _, _ := boxed(t, effect())
	for _, want := range []string{"Campaign for a in leases, prod-eu", "host-1", "fence 7", "this backend tells no queue", "We would lead a.",
		"• It is kept until we resign.", "runs      SET a <nonce> NX PX 30000", "next      us", "Cancel", "Campaign"} {
		d.shows(t, want)
	}
}

func TestTheRowOfAnOpenBoxStaysTheOneThatIsLookedAt(t *testing.T) {
	t.Parallel()
	d, _, a := boxed(t, effect())
	d.rowList.cursorRow = sources.Ref{} // the cursor has lost its row
	d.pass(1)
	if _, selected, _ := d.feed.Focused(); selected != a.Ref {
		t.Errorf("the feed is told of %v, the box is about %v", selected, a.Ref)
	}
	waited := *a
	waited.Queue = sources.Queue{How: sources.Inferred, Len: 3, Waiters: []sources.Waiter{{Label: "s1", Turn: 1}, {Label: "s2", Turn: 1}, {Label: "x", Turn: 2}}}
	d.feed.Set(uitest.State(noon(), &waited))
	d.pass(1)
	d.shows(t, "3: s1 and 1 more")
	d.shows(t, "probably first, together (inferred)")
}

func TestCancelIsFocusedAndEnterDoesNotConfirm(t *testing.T) {
	t.Parallel()
	d, op, _ := boxed(t, effect())
	d.press("enter")
	if d.acting.Open() || len(op.Begun()) > 0 {
		t.Errorf("enter began %v", op.Begun())
	}
	d.act("a", "a", "y", "a", "c", "space", "esc") // no letter confirms either
	if d.acting.Open() || len(op.Begun()) > 0 {
		t.Errorf("letters began %v", op.Begun())
	}
	d.act("a", "a", "tab", "enter")
	if len(op.Begun()) != 1 {
		t.Errorf("the button began %v", op.Begun())
	}
}

func TestEnterInAFieldGoesOnAndNeverConfirms(t *testing.T) {
	t.Parallel()
	d, op, _ := boxed(t, effect())
	d.press("shift+tab") // the reason
	d.typed("INC-4411")
	d.press("enter", "enter")
	if len(op.Begun()) > 0 {
		t.Fatal("enter after a field acted") // it had gone on to Cancel
	}
	d.act("a", "a", "shift+tab")
	d.typed("INC-4411")
	d.press("tab", "tab", "enter")
	if got := op.Begun(); len(got) != 1 || got[0].Reason != "INC-4411" {
		t.Errorf("begun %+v", got)
	}
}

func TestTheButtonNeedsTheNameAndTheReason(t *testing.T) {
	t.Parallel()
	e := effect()
	e.NeedsName, e.NeedsReason, e.Danger = "a", true, true
	d, op, _ := boxed(t, e)
	d.shows(t, "(needs a reason)")
	d.press("tab") // passes over the button, which is off, to the first field: how long to wait
	d.press("tab")
	d.typed("why")
	d.shows(t, "(needs the name)")
	d.press("tab")
	d.typed("b")
	d.shows(t, "(needs the name)")
	d.press("tab", "tab", "enter") // Cancel, and round again: the button cannot be reached
	if len(op.Begun()) > 0 {
		t.Fatal("begun without the name")
	}
	d.press("shift+tab", "shift+tab")
	d.press("tab", "tab", "tab") // to the name
	d.press("backspace")
	d.typed("a")
	d.showsNot(t, "(needs")
	d.shows(t, "(tab 2 times goes here)") // Cancel is before it
	d.press("tab")
	d.shows(t, "(tab goes here)")
	d.press("tab", "enter")
	want := action.Request{Verb: action.Campaign, Reason: "why", Typed: "a"}
	if got := op.Begun(); len(got) != 1 || got[0].Reason != want.Reason || got[0].Typed != want.Typed {
		t.Errorf("begun %+v", got)
	}
}

func TestARefusalIsShownAndNothingTypedIsLost(t *testing.T) {
	t.Parallel()
	d, op, _ := boxed(t, effect())
	op.Refuse = errors.New("the audit cannot be written: disk full\x1b[2J")
	d.press("shift+tab")
	d.typed("INC-4411")
	d.press("tab", "tab", "enter")
	d.shows(t, `the audit cannot be written: disk full\x1b[2J`)
	d.shows(t, "INC-4411")
	op.Refuse = nil
	d.press("enter")
	if got := op.Begun(); len(got) != 1 || got[0].Reason != "INC-4411" {
		t.Errorf("begun %+v", got)
	}
}

func TestABoxWaitsForItsDescriptionAndSaysSo(t *testing.T) {
	t.Parallel()
	d, op, _ := armedOne()
	op.Hold = make(chan struct{})
	d.press("a")
	cmd := d.send(key("a"))
	d.shows(t, "asking leases what this would do")
	d.shows(t, "(asking the server)")
	d.press("tab", "tab", "y")
	if len(op.Begun()) > 0 {
		t.Fatal("begun before it was known what it would do")
	}
	close(op.Hold)
	d.await(cmd)
	d.shows(t, "We would lead it.")
	d.press("esc")
	op.Hold, op.DescribeErr = nil, errors.New("no answer\a in 5 s")
	d.act("a", "a")
	d.shows(t, `cannot say what this would do: no answer\a in 5 s`)
	d.shows(t, "(not known what it would do)")
	d.press("tab", "enter")
	if len(op.Begun()) > 0 {
		t.Error("begun though it is not known what it would do")
	}
}

func TestADescriptionThatComesTooLateIsForNobody(t *testing.T) {
	t.Parallel()
	d, _, _ := armedOne()
	d.press("a")
	cmd := d.send(key("a"))
	d.press("esc")
	d.await(cmd)
	if d.acting.Open() {
		t.Error("it opened something")
	}
}

func TestProclaimEditsTheDataThatIsThere(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	op.Offer = []action.Choice{{Verb: action.Proclaim}}
	op.Effect = action.Effect{Lines: []string{"Replaces the data."}, TakesData: true, DataMax: 12}
	holding(op, d, a, true)
	d.act("a", "p")
	d.shows(t, "Proclaim as leader of a")
	d.shows(t, "data      az=a")
	d.press("tab", "tab") // the button, the data
	d.typed(" v=2")
	d.press("enter")
	d.typed("x")
	if d.View().Cursor == nil {
		t.Error("the cursor is not shown")
	}
	d.press("tab", "tab", "tab", "enter")
	if got := op.Begun(); len(got) != 1 || string(got[0].Data) != "az=a v=2\nx" {
		t.Fatalf("begun %+v", got)
	}
	d.act("a", "p", "tab", "tab")
	d.typed("0123456789")
	d.shows(t, "data: 14 of at most 12 bytes")
}

func TestResigningWhatIsOursIsAYesOrNo(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	op.Offer = []action.Choice{{Verb: action.Resign}}
	holding(op, d, a, true)
	for _, no := range []string{"n", "enter", "esc"} {
		d.act("a", "r")
		d.shows(t, "Resign a in leases")
		d.shows(t, "y resign")
		d.press(no)
		if d.acting.Open() || len(op.Begun()) > 0 {
			t.Fatalf("%s: begun %v", no, op.Begun())
		}
	}
	d.act("a", "r", "y")
	if got := op.Begun(); len(got) != 1 || got[0].Verb != action.Resign || got[0].Target.Owner != "host-1" {
		t.Errorf("begun %+v", got)
	}
}

func TestResigningNeedsSomethingOfOurs(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	op.Offer = []action.Choice{{Verb: action.Resign}}
	holding(op, d, a, true)
	d.act("a", "r")
	op.Change(func(s *action.Status) { s.Holdings = nil })
	d.send(terminal.WakeMsg{})
	d.shows(t, "changed: it is not ours any more; nothing will be sent")
	d.press("y", "enter")
	if len(op.Begun()) > 0 {
		t.Error("begun")
	}
}

func TestAPasteGoesToTextFieldsOnly(t *testing.T) {
	t.Parallel()
	d, op, _ := boxed(t, effect())
	paste := tea.PasteMsg{Content: "y\x1b[31m\r\nenter\n"}
	d.send(paste)
	d.press("tab")
	d.send(paste) // on the button
	if len(op.Begun()) > 0 || !d.acting.Open() {
		t.Fatal("a paste acted")
	}
	d.press("shift+tab", "shift+tab")
	d.send(paste)
	d.shows(t, `reason    y\x1b[31m`)
	d.press("esc", "a")
	d.send(paste)
	if d.keyContext() != keys.InMenu {
		t.Error("a paste acted on the menu")
	}
}

func TestHowLongToWaitAndHowManyPermitsAreChecked(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	a.Kind = sources.KindSemaphore
	a.Limit = 10
	d, op := armed(a)
	op.Offer = []action.Choice{{Verb: action.Acquire}}
	d.act("a", "a", "tab", "tab")
	d.typed("x")
	d.shows(t, "permits is a number from 1")
	d.press("backspace", "3", "tab")
	d.typed("5")
	d.shows(t, "write 30s, 1h30m or 7d, or forever")
	d.press("m", "tab", "tab", "tab", "enter")
	if got := op.Begun(); len(got) != 1 || got[0].Permits != 3 || got[0].Wait != 5*time.Minute {
		t.Errorf("begun %+v", got)
	}
}

func TestDialogsFitOnAnyScreen(t *testing.T) {
	t.Parallel()
	e := effect()
	e.NeedsName, e.NeedsReason, e.Danger, e.TakesData = strings.Repeat("long/", 30), true, true, true
	for range 12 {
		e.Lines = append(e.Lines, "It would do "+strings.Repeat("one thing after another ", 5)+"界界")
	}
	for _, size := range [][2]int{{160, 48}, {100, 30}, {80, 24}, {60, 15}, {20, 5}, {3, 2}, {1, 1}} {
		for _, keys := range [][]string{{"a"}, {"a", "a"}, {"a", "a", "tab", "tab", "pgdown", "pgdown"}, {"q"}, {"W"}} {
			a, b, _ := three()
			d, op := armed(a, b)
			op.Effect = e
			holding(op, d, a, true)
			op.Change(func(s *action.Status) { s.Always = keys[0] != "W" })
			d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			d.act(keys...)
			exact(t, d)
			if c := d.View().Cursor; c != nil && (c.X >= size[0] || c.Y >= size[1]) {
				t.Errorf("%v: the cursor is at %d %d", size, c.X, c.Y)
			}
		}
	}
	d, _, _ := boxed(t, e)
	d.shows(t, "Cancel")
	d.shows(t, "more lines")
	for range 12 {
		d.press("pgdown")
	}
	d.shows(t, "next      us")
}

func TestTheCallIsShownWithWhatWasTyped(t *testing.T) {
	t.Parallel()
	d, op, _ := boxed(t, effect())
	op.Effect.Call = "SET a az=b"
	d.act("shift+tab", "x", "tab")
	d.shows(t, "runs      SET a az=b")
	d.shows(t, "reason    x")
}
