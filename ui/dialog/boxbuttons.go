package dialog

import (
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// wayOut stands instead of the buttons where the row has changed.
func (b *box) wayOut(a *Acting, w int) string {
	l := a.Theme.Line(w).Skip(2)
	if b.row != nil {
		l.Put(a.Theme.Strong, a.Keys.KeyIn(keys.InChanged, keys.Anew)).Put("", "  decide anew").Skip(6)
	}
	return l.Put(a.Theme.Strong, a.Keys.KeyIn(keys.InChanged, keys.Cancel)).Put("", "  cancel").Done()
}

// buttons are what enter does: nothing, or the action, which is dimmed while something is missing.
func (b *box) buttons(a *Acting, w int) string {
	th := &a.Theme
	cancel, act := paint.Style(""), paint.Style("")
	marks := [2]string{" ", " "}
	missing := b.missing()
	if missing != "" {
		act = th.Dim
	}
	switch b.focus - len(b.fields) {
	case buttonCancel:
		cancel, marks[0] = th.Selected, th.Cursor
	case buttonAct:
		act, marks[1] = th.Selected, th.Cursor
	}
	l := th.Line(w).Skip(max((w-40)/3, 0)).Put(cancel, marks[0]+"Cancel ").Skip(8)
	l.Put(act, marks[1]+verbButton(b.request.Verb)+" ")
	switch {
	case missing != "":
		l.Put(th.Dim, " ("+missing+")")
	case b.focus != len(b.fields)+buttonAct:
		key := a.Keys.KeyIn(keys.InBox, keys.NextField)
		if n := len(b.fields) + buttonAct - b.focus; n > 1 {
			key += " " + paint.Count(n, "time")
		}
		l.Put(th.Dim, " ("+key+" goes here)")
	}
	return l.Done()
}
