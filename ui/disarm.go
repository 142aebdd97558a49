package ui

import (
	tea "charm.land/bubbletea/v2"

	"coordtop/internal/format"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// disarm ends writing. What waits is called off with it.
func (m *model) disarm() tea.Cmd {
	return m.await(func() error { m.hands.op.Disarm(); return nil }, func(error) {
		m.heed()
		holding, _, _ := screen.Held(&m.Scene)
		switch {
		case m.canWrite():
			m.say("writing stays armed: somebody armed it again")
		case holding > 0:
			m.say("writing is off; we go on holding " + format.Count(holding) + ", and " + m.Keys.KeyOf(keys.Actions) + " gives it up")
		default:
			m.say("read-only again")
		}
	})
}

// disarming is the question whether writing is to end although claims wait.
type disarming struct {
	back    dialog // what it was asked from; nil: the board
	writing bool   // the operator was told, and has not answered
}

func (d *disarming) scope() keys.Scope { return keys.InQuestion }

func (d *disarming) do(m *model, i keys.Intent) tea.Cmd {
	if d.writing {
		return nil
	}
	switch i {
	case keys.Yes:
		d.writing = true
		m.hands.dialog = d.back
		return m.disarm()
	case keys.Cancel, keys.No:
		m.hands.dialog = d.back
		m.say("writing stays armed")
	}
	return nil
}

func (d *disarming) edit(*model, tea.Msg) tea.Cmd { return nil }

// heed goes away when the question is answered by what happens: the time for writing ends, or
// the last claim does, and then nothing keeps writing from ending as the person wished.
func (d *disarming) heed(m *model) {
	_, waiting, _ := screen.Held(&m.Scene)
	switch {
	case !m.canWrite():
		m.hands.dialog = d.back
	case waiting == 0:
		m.hands.dialog = d.back
		m.later(m.disarm())
	}
}

func (d *disarming) picture(m *model, w, h int) screen.Picture {
	w = min(w, 70)
	p := screen.Picture{Danger: true}
	add := func(l *paint.Line) { p.Lines = append(p.Lines, l.Done()) }
	holding, waiting, _ := screen.Held(&m.Scene)
	add(m.Theme.Line(w).Put(m.Theme.Strong, "End writing in ").Put(m.Theme.Title, " "+m.Title+" ").Put(m.Theme.Strong, " and call off "+paint.Count(waiting, "claim")+"?"))
	add(m.Theme.Line(w))
	shown, room := 0, max(h-6, 1)
	for i := range m.Status.Holdings {
		if one := &m.Status.Holdings[i]; one.Waiting && shown < room {
			drawHolding(&m.Scene, m.Theme.Line(w).Skip(2), one, add)
			shown++
		}
	}
	if more := waiting - shown; more > 0 {
		add(m.Theme.Line(w).Skip(2).Put(m.Theme.Dim, format.Count(more)+" more"))
	}
	if holding > 0 {
		add(m.Theme.Line(w).Skip(2).Put(m.Theme.Dim, "What we hold ("+format.Count(holding)+") is kept and renewed."))
	}
	add(m.Theme.Line(w))
	p.Lines = append(p.Lines, yesNo(&m.Scene, w, "call off", "stay armed"))
	return p
}
