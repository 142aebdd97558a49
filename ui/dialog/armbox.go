package dialog

import (
	"context"
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// arm asks whether to arm writing; if it is armed, it ends that.
func (a *Acting) arm() tea.Cmd {
	if a.op == nil {
		a.host.Say(screen.ReadOnlyText)
		return nil
	}
	if a.CanWrite() {
		if _, waiting, _ := screen.Held(a.Scene); waiting > 0 {
			a.show(&disarming{back: a.dialog})
			return nil
		}
		return a.disarm()
	}
	a.show(&arming{source: a.sourceAtHand(), name: newField(fieldName, ""), back: a.dialog})
	return nil
}

// sourceAtHand returns the source for which writing is armed: that of the row or event under the
// cursor; on other screens the first one that is not protected.
func (a *Acting) sourceAtHand() string {
	switch a.Shown {
	case screen.Events:
		seq, _ := a.EventList.Selected()
		if e := a.Events.Find(seq); e != nil && e.Ref.Source != "" {
			return e.Ref.Source
		}
	case screen.Locks, screen.Detail:
		if row, _ := a.Selected(); row != nil {
			return row.Source
		}
	}
	able := a.op.Caps()
	for _, free := range []bool{true, false} {
		for i := range able {
			if able[i].Can() && able[i].Protect != free {
				return able[i].Source
			}
		}
	}
	if row, _ := a.Selected(); row != nil {
		return row.Source
	}
	return ""
}

// arming is the question whether to arm writing.
type arming struct {
	source  string // see sourceAtHand
	name    *field // of a protected source
	back    Dialog // the dialog before it; nil: the board
	refused string // why the operator refused; then the name is asked for
	typed   string // the name that was refused; "": none yet
	writing bool   // the operator has not answered
}

func (d *arming) keyContext() keys.Context {
	if d.refused != "" {
		return keys.InBox
	}
	return keys.InQuestion
}

func (d *arming) do(a *Acting, i keys.Intent) tea.Cmd {
	if d.writing {
		return nil
	}
	switch i {
	case keys.Yes, keys.Press:
		d.writing = true
		name := d.name.value()
		return a.Await(func(context.Context) error { return a.op.Arm(d.source, name) }, func(err error) { d.answered(a, name, err) })
	case keys.Cancel, keys.No:
		a.dialog = d.back
	}
	return nil
}

// answered handles the answer of the operator to a name.
func (d *arming) answered(a *Acting, name string, err error) {
	d.writing = false
	if err != nil {
		d.refused, d.typed = paint.Clean(err.Error()), name
		d.name.focus(true)
		return
	}
	if a.dialog == d {
		a.dialog = d.back
	}
	if d.back == nil {
		a.host.Say("writing is possible now: " + a.Keys.KeyOf(keys.Actions) + " shows what can be done")
	}
	a.Receive()
}

func (d *arming) edit(_ *Acting, msg tea.Msg) tea.Cmd {
	if d.refused != "" {
		d.name.edit(msg)
	}
	return nil
}

func (d *arming) update(*Acting) {}

func (d *arming) picture(a *Acting, w, _ int) screen.Picture {
	w = min(w, 66)
	p := screen.Picture{Danger: true}
	say := func(st paint.Style, text string) { p.Lines = append(p.Lines, a.Theme.Wrapped(st, text, w)...) }
	l := a.Theme.Line(w).Put(a.Theme.Strong, "Arm writing in ").Put(a.Theme.Title, " "+a.Title+" ")
	l.Put(a.Theme.Strong, " for "+strconv.Itoa(int(action.ArmedFor/time.Minute))+" minutes?")
	p.Lines = append(p.Lines, l.Done(), a.Theme.Line(w).Done())
	say(a.Theme.Dim, paint.When(d.writing, writingAudit))
	if d.refused == "" {
		say("", "Each action asks once more before it sends anything. Writing ends when the time is over, or with "+
			a.Keys.KeyOf(keys.Arm)+". Claims that still wait are called off then; what we hold is kept.")
		p.Lines = append(p.Lines, a.Theme.Line(w).Done(), yesNo(a.Scene, w, "yes", "no"))
		return p
	}
	say(a.Theme.Warn, d.refused)
	say(a.Theme.Warn, paint.When(d.typed != "", "This is not its name: "+paint.Clean(d.typed)))
	label := "type the name of the source  "
	lines, x, _ := d.name.draw(&a.Theme, w-len(label), 1)
	p.Lines = append(p.Lines, a.Theme.Line(w).Done(), a.Theme.Line(len(label)).Put(a.Theme.Dim, label).Done()+lines[0])
	p.X, p.Y, p.Cursor = len(label)+x, len(p.Lines)-1, w > len(label)
	return p
}

// yesNo draws the last line of a question.
func yesNo(sc *screen.Scene, w int, yes, no string) string {
	l := sc.Theme.Line(w).Skip(2).Put(sc.Theme.Strong, "y").Skip(1).Put("", yes).Skip(6)
	return l.Put(sc.Theme.Selected, sc.Theme.Cursor+"N").Put(sc.Theme.Selected, " "+no+" ").Done()
}

// disarm ends writing. The operator calls waiting actions off.
func (a *Acting) disarm() tea.Cmd {
	return a.Await(func(context.Context) error { a.op.Disarm(); return nil }, func(error) {
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

// disarming is the question whether to end writing although claims wait.
type disarming struct {
	back Dialog // the dialog before it; nil: the board
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

// update closes the question when it needs no answer any more: the time for writing is over, or the
// last claim has ended, and then writing ends as the person wished.
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
	l := a.Theme.Line(w).Put(a.Theme.Strong, "End writing in ").Put(a.Theme.Title, " "+a.Title+" ")
	p.Add(l.Put(a.Theme.Strong, " and call off "+paint.Count(waiting, "claim")+"?"))
	p.Add(a.Theme.Line(w))
	claims := slices.DeleteFunc(slices.Clone(a.Status.Holdings), func(h action.Holding) bool { return !h.Waiting })
	addHoldings(a.Scene, &p, w, max(h-6, 1), claims)
	if holding > 0 {
		p.Add(a.Theme.Line(w).Skip(2).Put(a.Theme.Dim, "What we hold ("+format.Count(holding)+") is kept and renewed."))
	}
	p.Add(a.Theme.Line(w))
	p.Lines = append(p.Lines, yesNo(a.Scene, w, "call off", "stay armed"))
	return p
}
