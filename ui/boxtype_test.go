package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/sources"
)

func TestTextTypedOnAButtonGoesToTheFieldThatWaitsForIt(t *testing.T) {
	t.Parallel()
	e := effect()
	e.NeedsName, e.NeedsReason, e.Danger = "a", true, true
	d, op, _ := boxed(t, e)
	d.typed("why")
	d.shows(t, "reason    why")
	d.press("tab", "tab") // the name, Cancel
	d.typed("a")
	d.showsNot(t, "(needs")
	d.shows(t, "reason    why")
	d.press("enter") // to Cancel
	if len(op.Begun()) > 0 {
		t.Fatalf("begun %+v", op.Begun())
	}
	d.press("tab", "enter")
	if got := op.Begun(); len(got) != 1 || got[0].Reason != "why" || got[0].Typed != "a" {
		t.Errorf("begun %+v", got)
	}
}

func TestTextThatNoFieldWaitsForIsSaidToBeGone(t *testing.T) {
	t.Parallel()
	d, op, _ := boxed(t, effect())
	for _, button := range []string{"Cancel ", "Campaign "} {
		d.typed("y")
		d.shows(t, "what was typed is gone: no field waits for it")
		if focused := string(d.Theme.Selected) + d.Theme.Cursor + button; !strings.Contains(d.View().Content, focused) {
			t.Errorf("the focus is not on %s", button)
		}
		d.press("tab")
		d.showsNot(t, "is gone")
		d.send(tea.PasteMsg{Content: "y"})
	}
	if len(op.Begun()) > 0 {
		t.Errorf("begun %+v", op.Begun())
	}
	a, _, _ := three()
	d, op = armed(a)
	op.Hold = make(chan struct{})
	d.press("a")
	cmd := d.send(key("a"))
	d.typed("y")
	d.shows(t, "what was typed is gone")
	close(op.Hold)
	d.await(cmd)
}

func TestTheModeIsChosenWhereItCanBe(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	a.Kind = sources.KindMutex
	d, op := armed(a)
	op.Offer = []action.Choice{{Verb: action.Acquire}}
	d.act("a", "a")
	d.showsNot(t, "exclusive")
	d.press("esc")
	op.Effect.TakesMode = true
	d.act("a", "a", "tab", "tab") // the button, the mode
	d.shows(t, "mode      [exclusive] shared   space: the other one")
	op.Effect.Lines = []string{"We would share it."}
	cmd := d.send(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "})
	d.shows(t, "(asking anew)")
	d.shows(t, "mode       exclusive [shared]")
	d.press("shift+tab", "enter") // the button is off: Cancel was passed over
	if len(op.Begun()) > 0 {
		t.Fatal("begun before the effect of sharing was there to be read")
	}
	d.act("a", "a", "tab", "tab", "s")
	d.await(cmd) // of another box
	d.shows(t, "We would share it.")
	d.act("e", "s", "shift+tab", "enter")
	if got := op.Begun(); len(got) != 1 || got[0].Mode != sources.Shared {
		t.Errorf("begun %+v", got)
	}
}

func TestAnAnswerToAnOlderQuestionIsNotShown(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	a.Kind = sources.KindMutex
	d, op := armed(a)
	op.Offer, op.Effect.TakesMode = []action.Choice{{Verb: action.Acquire}}, true
	d.act("a", "a", "tab", "tab")
	op.Effect.Lines = []string{"We would share it."}
	older := d.send(key("s"))
	msg := older()
	op.Effect.Lines = []string{"We would own it."}
	d.act("e")
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, c := range batch {
			d.await(c)
		}
	} else {
		d.send(msg)
	}
	if text := d.text(); !strings.Contains(text, "We would own it.") || strings.Contains(text, "asking anew") {
		t.Errorf("it shows\n%s", text)
	}
}

func TestTextTypedOnAButtonGoesToTheOnlyField(t *testing.T) {
	t.Parallel()
	d, op, _ := stuck("host-1")
	op.Effect.NeedsName = ""
	d.act("a", "x")
	d.typed("app:lock")
	d.shows(t, "reason    app:lock")
	d.showsNot(t, "is gone")
	d.press("tab", "tab") // Cancel, the button
	d.typed(":stuck")
	d.shows(t, "reason    app:lock:stuck")
	d.press("enter", "enter") // to Cancel, which is pressed
	d.shows(t, "nothing was sent")
	if len(op.Begun()) > 0 || d.acting.Open() {
		t.Errorf("begun %+v", op.Begun())
	}
}

func TestTextTypedWhileTheAuditIsWrittenChangesNothing(t *testing.T) {
	t.Parallel()
	d, op, _ := stuck("host-1")
	op.Effect.NeedsName = ""
	d.act("a", "x")
	answer := d.slowly()
	d.press("tab")
	written := d.send(key("enter"))
	d.shows(t, "(writing the audit)")
	d.typed("late")
	d.showsNot(t, "late")
	answer(nil)
	d.await(written)
}
