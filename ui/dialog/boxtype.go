package dialog

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// edit gives what is typed or pasted to the field that has the focus. Where a button has it,
// text never acts: it goes to the field that the button waits for, else to the only field, or the box
// tells that it went nowhere.
func (b *box) edit(a *Acting, msg tea.Msg) tea.Cmd {
	b.hint = ""
	if b.gone || b.writing {
		return nil
	}
	if b.focus >= len(b.fields) {
		if !isText(msg) || b.question() {
			return nil
		}
		at := slices.IndexFunc(b.fields, func(f *field) bool { return b.needs(f) != "" })
		if len(b.fields) == 1 {
			at = 0
		}
		if at < 0 {
			b.hint = "what was typed is gone: no field waits for it"
			return nil
		}
		b.point(at)
	}
	f := b.fields[b.focus]
	shared := f.shared
	f.edit(msg)
	if f.shared == shared {
		return nil
	}
	b.pending = true
	return b.ask(a, b.filled())
}

// isText reports whether a message is something to be read. A blank is not: people press it to
// press a button.
func isText(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return msg.Text != "" && msg.Text != " "
	case tea.PasteMsg:
		return msg.Content != ""
	}
	return false
}

// editMode takes the keys of the field that chooses a mode.
func (f *field) editMode(msg tea.Msg) {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return
	}
	switch keys.Name(k) {
	case "space", "left", "right":
		f.shared = !f.shared
	case "s":
		f.shared = true
	case "e":
		f.shared = false
	}
}

// drawMode draws the two modes, the chosen one between brackets, and where the cursor is.
func (f *field) drawMode(th *paint.Theme, w int) (text string, x int) {
	modes := [2]string{" exclusive ", " shared "}
	at := screen.BoolInt(f.shared)
	modes[at] = "[" + modes[at][1:len(modes[at])-1] + "]"
	x = 1 + at*len(modes[0])
	l := th.Line(w)
	for i, mode := range modes {
		st := th.Dim
		if i == at {
			st = th.Strong
		}
		l.Put(st, mode)
	}
	if f.focused {
		l.Put(th.Dim, "  space: the other one")
	}
	return l.Done(), min(x, max(w-1, 0))
}
