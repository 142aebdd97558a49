package ui

import (
	tea "charm.land/bubbletea/v2"

	"coordtop/internal/format"
)

// badge says in the header whether anything can be changed, and for how long.
func (m *model) badge(l *line) {
	s := m.hands.status
	switch {
	case m.hands.op != nil && s.Always:
		l.put(m.th.notice, " WRITE ").skip(1)
	case m.hands.op != nil && m.clock.Before(s.Armed):
		l.put(m.th.notice, " WRITE "+format.Left(s.Armed.Sub(m.clock))+" ").skip(1)
	case l.w >= 40:
		l.put(m.th.badge, " READ-ONLY ").skip(1)
	}
}

const readOnlyText = "read-only: this board can change nothing"

// arm asks whether writing is to be possible, or ends it.
func (m *model) arm() {
	if m.hands.op == nil {
		m.say(readOnlyText)
		return
	}
	if m.canWrite() {
		m.hands.op.Disarm()
		m.heed()
		if m.canWrite() {
			m.say("writing stays possible: it was asked for at the start")
			return
		}
		m.say("read-only again; what we hold is kept")
		return
	}
	m.ask(&arming{source: m.sourceAtHand(), name: newField(fieldName), back: m.hands.dialog})
}

// sourceAtHand is the source whose writing is asked for: that of the row or event under the
// cursor; where a screen has none, the first that needs no name to be typed.
func (m *model) sourceAtHand() string {
	switch m.view {
	case viewEvents:
		seq, _ := m.told.Selected()
		if e := m.events.find(seq); e != nil && e.Ref.Source != "" {
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
}

func (d *arming) scope() scope {
	if d.refused != "" {
		return inBox
	}
	return inQuestion
}

func (d *arming) do(m *model, i intent) tea.Cmd {
	switch i {
	case doYes, doPress:
		err := m.hands.op.Arm(d.source, d.name.value())
		if err == nil {
			if m.hands.dialog = d.back; d.back == nil {
				m.say("writing is possible now: " + m.keyOf(doActions) + " shows what can be done")
			}
			m.heed()
			return nil
		}
		d.refused, d.typed = clean(err.Error()), d.name.value()
		d.name.focus(true)
	case doCancel, doNo:
		m.hands.dialog = d.back
	}
	return nil
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
	say := func(st style, text string) {
		for _, s := range folded(text, w) {
			p.lines = append(p.lines, m.th.line(w).put(st, s).done())
		}
	}
	l := m.th.line(w).put(m.th.strong, "Make writing possible in").put(m.th.title, " "+m.title+" ")
	p.lines = append(p.lines, l.done(), m.th.line(w).done())
	if d.refused == "" {
		say("", "Actions ask once more before they send anything. It ends by itself after some minutes, or with "+m.keyOf(doArm)+".")
		p.lines = append(p.lines, m.th.line(w).done(), m.yesNo(w, "yes", "no"))
		return p
	}
	say(m.th.warn, d.refused)
	if d.typed != "" {
		say(m.th.warn, "This is not its name: "+clean(d.typed))
	}
	label := "type the name of the source  "
	lines, x, _ := d.name.draw(&m.th, w-len(label), 1)
	p.lines = append(p.lines, m.th.line(w).done(), m.th.line(len(label)).put(m.th.dim, label).done()+lines[0])
	p.x, p.y, p.cursor = len(label)+x, len(p.lines)-1, w > len(label)
	return p
}

// yesNo is the last line of a question.
func (m *model) yesNo(w int, yes, no string) string {
	l := m.th.line(w).skip(2).put(m.th.strong, "y").skip(1).put("", yes).skip(6)
	return l.put(m.th.selected, m.th.cursor+"N").put(m.th.selected, " "+no+" ").done()
}
