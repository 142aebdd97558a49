package ui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// arm asks whether writing is to be possible, or ends it.
func (m *model) arm() tea.Cmd {
	if m.hands.op == nil {
		m.say(screen.ReadOnlyText)
		return nil
	}
	if m.canWrite() {
		if _, waiting, _ := screen.Held(&m.Scene); waiting > 0 {
			m.ask(&disarming{back: m.hands.dialog})
			return nil
		}
		return m.disarm()
	}
	m.ask(&arming{source: m.sourceAtHand(), name: newField(fieldName), back: m.hands.dialog})
	return nil
}

// sourceAtHand is the source whose writing is asked for: that of the row or event under the
// cursor; where a screen has none, the first that needs no name to be typed.
func (m *model) sourceAtHand() string {
	switch m.Shown {
	case screen.Events:
		seq, _ := m.EventList.Selected()
		if e := m.Events.Find(seq); e != nil && e.Ref.Source != "" {
			return e.Ref.Source
		}
	case screen.List, screen.Detail:
		if row, _ := m.Selected(); row != nil {
			return row.Source
		}
	}
	able := m.hands.op.Caps()
	for _, free := range []bool{true, false} {
		for i := range able {
			if able[i].Can() && able[i].Protect != free {
				return able[i].Source
			}
		}
	}
	if row, _ := m.Selected(); row != nil {
		return row.Source
	}
	return ""
}

// arming is the question whether writing is to be possible.
type arming struct {
	source  string // of the row under the cursor
	name    *field // of a source that is protected
	back    dialog // what it was asked from; nil: the board
	refused string // why it was not done; then the name is asked for
	typed   string // what was refused; "": nothing yet
	writing bool   // the operator has not answered
}

func (d *arming) scope() keys.Scope {
	if d.refused != "" {
		return keys.InBox
	}
	return keys.InQuestion
}

func (d *arming) do(m *model, i keys.Intent) tea.Cmd {
	if d.writing {
		return nil
	}
	switch i {
	case keys.Yes, keys.Press:
		d.writing = true
		name := d.name.value()
		return m.await(func() error { return m.hands.op.Arm(d.source, name) }, func(err error) { d.answered(m, name, err) })
	case keys.Cancel, keys.No:
		m.hands.dialog = d.back
	}
	return nil
}

// answered takes in what the operator said to a name.
func (d *arming) answered(m *model, name string, err error) {
	d.writing = false
	if err != nil {
		d.refused, d.typed = paint.Clean(err.Error()), name
		d.name.focus(true)
		return
	}
	if m.hands.dialog == d {
		m.hands.dialog = d.back
	}
	if d.back == nil {
		m.say("writing is possible now: " + m.Keys.KeyOf(keys.Actions) + " shows what can be done")
	}
	m.heed()
}

func (d *arming) edit(_ *model, msg tea.Msg) tea.Cmd {
	if d.refused != "" {
		d.name.edit(msg)
	}
	return nil
}

func (d *arming) heed(*model) {}

func (d *arming) picture(m *model, w, _ int) screen.Picture {
	w = min(w, 66)
	p := screen.Picture{Danger: true}
	say := func(st paint.Style, text string) {
		for _, s := range paint.Fold(text, w) {
			p.Lines = append(p.Lines, m.Theme.Line(w).Put(st, s).Done())
		}
	}
	l := m.Theme.Line(w).Put(m.Theme.Strong, "Arm writing in ").Put(m.Theme.Title, " "+m.Title+" ")
	l.Put(m.Theme.Strong, " for "+strconv.Itoa(int(action.ArmedFor/time.Minute))+" minutes?")
	p.Lines = append(p.Lines, l.Done(), m.Theme.Line(w).Done())
	if d.writing {
		say(m.Theme.Dim, writingAudit)
	}
	if d.refused == "" {
		say("", "Each action asks once more before it sends anything. Writing ends when the time is over, or with "+
			m.Keys.KeyOf(keys.Arm)+". Claims that still wait are called off then; what we hold is kept.")
		p.Lines = append(p.Lines, m.Theme.Line(w).Done(), yesNo(&m.Scene, w, "yes", "no"))
		return p
	}
	say(m.Theme.Warn, d.refused)
	if d.typed != "" {
		say(m.Theme.Warn, "This is not its name: "+paint.Clean(d.typed))
	}
	label := "type the name of the source  "
	lines, x, _ := d.name.draw(&m.Theme, w-len(label), 1)
	p.Lines = append(p.Lines, m.Theme.Line(w).Done(), m.Theme.Line(len(label)).Put(m.Theme.Dim, label).Done()+lines[0])
	p.X, p.Y, p.Cursor = len(label)+x, len(p.Lines)-1, w > len(label)
	return p
}

// yesNo is the last line of a question.
func yesNo(sc *screen.Scene, w int, yes, no string) string {
	l := sc.Theme.Line(w).Skip(2).Put(sc.Theme.Strong, "y").Skip(1).Put("", yes).Skip(6)
	return l.Put(sc.Theme.Selected, sc.Theme.Cursor+"N").Put(sc.Theme.Selected, " "+no+" ").Done()
}
