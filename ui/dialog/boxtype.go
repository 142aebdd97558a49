package dialog

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// edit passes a key or a paste to the focused field. If a button has the focus, text never acts: it
// goes to the required field that is missing, else to the only field, else a hint reports its loss.
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

// isText reports whether a message is text. A blank is not: people use it to press a button.
func isText(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return msg.Text != "" && msg.Text != " "
	case tea.PasteMsg:
		return msg.Content != ""
	}
	return false
}

// editMode handles a key in the field of the mode.
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

// drawMode draws the two modes, the chosen one in brackets, and returns the column of the cursor.
func (f *field) drawMode(th *paint.Theme, w int) (text string, x int) {
	modes, styles := [2]string{" exclusive ", " shared "}, [2]paint.Style{th.Dim, th.Dim}
	at := screen.BoolInt(f.shared)
	modes[at], styles[at] = "["+modes[at][1:len(modes[at])-1]+"]", th.Strong
	x = 1 + at*len(modes[0])
	l := th.Line(w).Put(styles[0], modes[0]).Put(styles[1], modes[1])
	l.Put(th.Dim, paint.When(f.focused, "  space: the other one"))
	return l.Done(), min(x, max(w-1, 0))
}
