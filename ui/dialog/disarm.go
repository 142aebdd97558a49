package dialog

import (
	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/internal/format"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// disarm ends writing. Actions that wait are called off.
func (a *Acting) disarm() tea.Cmd {
	return a.Await(func() error { a.op.Disarm(); return nil }, func(error) {
		a.Receive()
		holding, _, _ := screen.Held(a.Scene)
		switch {
		case a.CanWrite():
			a.host.Say("writing stays armed: somebody armed it again")
		case holding > 0:
			a.host.Say("writing is off; we go on holding " + format.Count(holding) + ", and " + a.Keys.KeyOf(keys.Actions) + " gives it up")
		default:
			a.host.Say("read-only again")
		}
	})
}

// disarming is the question whether writing is to end although claims wait.
type disarming struct {
	back Dialog // what it was asked from; nil: the board
}

func (d *disarming) keyContext() keys.Context { return keys.InQuestion }

func (d *disarming) do(a *Acting, i keys.Intent) tea.Cmd {
	switch i {
	case keys.Yes:
		a.dialog = d.back
		return a.disarm()
	case keys.Cancel, keys.No:
		a.dialog = d.back
		a.host.Say("writing stays armed")
	}
	return nil
}

// update goes away when the question is answered by what happens: the time for writing ends, or
// the last claim does, and then nothing keeps writing from ending as the person wished.
func (d *disarming) update(a *Acting) {
	_, waiting, _ := screen.Held(a.Scene)
	switch {
	case !a.CanWrite():
		a.dialog = d.back
	case waiting == 0:
		a.dialog = d.back
		a.later(a.disarm())
	}
}

func (d *disarming) picture(a *Acting, w, h int) screen.Picture {
	w = min(w, 70)
	p := screen.Picture{Danger: true}
	holding, waiting, _ := screen.Held(a.Scene)
	p.Add(a.Theme.Line(w).Put(a.Theme.Strong, "End writing in ").Put(a.Theme.Title, " "+a.Title+" ").Put(a.Theme.Strong, " and call off "+paint.Count(waiting, "claim")+"?"))
	p.Add(a.Theme.Line(w))
	drawHoldings(a.Scene, &p, w, max(h-6, 1), func(h action.Holding) bool { return h.Waiting })
	if holding > 0 {
		p.Add(a.Theme.Line(w).Skip(2).Put(a.Theme.Dim, "What we hold ("+format.Count(holding)+") is kept and renewed."))
	}
	p.Add(a.Theme.Line(w))
	p.Lines = append(p.Lines, yesNo(a.Scene, w, "call off", "stay armed"))
	return p
}
