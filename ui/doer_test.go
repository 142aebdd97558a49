package ui

import (
	"context"
	"errors"
	"testing"

	"coordtop/internal/action"
)

// slowly is a driver whose operator's answers wait until they are let come.
func (d *driver) slowly() (answer func(error)) {
	got := make(chan error, 1)
	d.acting.Doer = func(func(context.Context) error) <-chan error { return got }
	return func(err error) { got <- err }
}

func TestTheBoardGoesOnWhileTheAuditIsWritten(t *testing.T) {
	t.Parallel()
	d, op, _ := armedOne()
	d.act("a", "a")
	d.shows(t, "Campaign for a")
	answer := d.slowly()
	d.press("tab")
	written := d.send(key("enter"))
	d.shows(t, "(writing the audit)")
	d.press("esc", "enter", "x")
	d.pass(1)
	d.shows(t, "(writing the audit)") // it cannot be taken back, nor sent twice
	answer(errors.New("no audit: disk full"))
	d.await(written)
	d.shows(t, "no audit: disk full")
	d.showsNot(t, "(writing the audit)")
	written = d.send(key("enter"))
	d.shows(t, "(writing the audit)")
	d.showsNot(t, "disk full")
	op.Change(func(s *action.Status) { s.Runs = []action.Run{{ID: 1, Request: action.Request{Verb: action.Campaign}}} })
	answer(nil)
	d.await(written)
	if d.acting.Open() {
		t.Error("the box is left")
	}
}

func TestArmingSaysThatItWaitsForTheAudit(t *testing.T) {
	t.Parallel()
	d, op, _ := armedOne()
	d.disarm(op)
	answer := d.slowly()
	d.press("W")
	written := d.send(key("y"))
	d.shows(t, "writing the audit")
	d.press("n", "esc")
	d.shows(t, "Arm writing in  prod-eu  for 5 minutes?")
	answer(nil)
	d.await(written)
	if d.acting.Open() {
		t.Error("the question is left")
	}
}

func TestAQuestionSaysThatItWaitsForTheAudit(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	op.Offer = []action.Choice{{Verb: action.Resign}}
	holding(op, d, a, true)
	d.act("a", "r")
	d.slowly()
	d.showsNot(t, "writing the audit")
	d.send(key("y"))
	d.shows(t, "writing the audit")
}
