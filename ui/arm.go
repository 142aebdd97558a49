package ui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

const readOnlyText = "read-only: this board can change nothing"

// arm asks whether writing is to be possible, or ends it.
func (m *model) arm() tea.Cmd {
	if m.hands.op == nil {
		m.say(readOnlyText)
		return nil
	}
	if m.canWrite() {
		if _, waiting, _ := heldNow(&m.scene); waiting > 0 {
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
	switch m.view {
	case viewEvents:
		seq, _ := m.told.Selected()
		if e := m.events.Find(seq); e != nil && e.Ref.Source != "" {
			return e.Ref.Source
		}
	case viewList, viewDetail:
		if row, _ := m.selected(); row != nil {
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
	if row, _ := m.selected(); row != nil {
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
		m.say("writing is possible now: " + m.table.KeyOf(keys.Actions) + " shows what can be done")
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

func (d *arming) picture(m *model, w, _ int) picture {
	w = min(w, 66)
	p := picture{danger: true}
	say := func(st paint.Style, text string) {
		for _, s := range paint.Fold(text, w) {
			p.lines = append(p.lines, m.th.Line(w).Put(st, s).Done())
		}
	}
	l := m.th.Line(w).Put(m.th.Strong, "Arm writing in ").Put(m.th.Title, " "+m.title+" ")
	l.Put(m.th.Strong, " for "+strconv.Itoa(int(action.ArmedFor/time.Minute))+" minutes?")
	p.lines = append(p.lines, l.Done(), m.th.Line(w).Done())
	if d.writing {
		say(m.th.Dim, writingAudit)
	}
	if d.refused == "" {
		say("", "Each action asks once more before it sends anything. Writing ends when the time is over, or with "+
			m.table.KeyOf(keys.Arm)+". Claims that still wait are called off then; what we hold is kept.")
		p.lines = append(p.lines, m.th.Line(w).Done(), yesNo(&m.scene, w, "yes", "no"))
		return p
	}
	say(m.th.Warn, d.refused)
	if d.typed != "" {
		say(m.th.Warn, "This is not its name: "+paint.Clean(d.typed))
	}
	label := "type the name of the source  "
	lines, x, _ := d.name.draw(&m.th, w-len(label), 1)
	p.lines = append(p.lines, m.th.Line(w).Done(), m.th.Line(len(label)).Put(m.th.Dim, label).Done()+lines[0])
	p.x, p.y, p.cursor = len(label)+x, len(p.lines)-1, w > len(label)
	return p
}

// yesNo is the last line of a question.
func yesNo(sc *scene, w int, yes, no string) string {
	l := sc.th.Line(w).Skip(2).Put(sc.th.Strong, "y").Skip(1).Put("", yes).Skip(6)
	return l.Put(sc.th.Selected, sc.th.Cursor+"N").Put(sc.th.Selected, " "+no+" ").Done()
}
