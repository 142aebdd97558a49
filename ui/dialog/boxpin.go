package dialog

import (
	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/paint"
)

// update reads the row again: what has changed about it, and whether the action is possible.
func (b *box) update(a *Acting) {
	row := a.live(b.request.Target.Ref)
	again := row != b.row
	b.row = row
	b.off = !a.CanWrite() && !action.Of(b.request.Verb).GivesUp
	b.not = a.notPossible(&b.request, row)
	pin := b.pin()
	if b.changed = b.difference(a, pin); b.changed == "" && pin == action.PinName {
		b.request.Target = a.targetOf(row)
	}
	if b.changed != "" && pin != action.PinName && !b.gone && !b.writing {
		b.gone = true
		a.ignoreKeys()
	}
	if h := a.holdingOf(b.request.Target.Ref); pin == action.PinLease && h != nil && h.Owner != b.lease && !b.gone {
		b.lease, again = h.Owner, true // the waiting claim has won
	}
	if b.focus == len(b.fields)+buttonAct && !b.writing && b.missing() != "" {
		b.point(len(b.fields) + buttonCancel)
	}
	if b.outdated = b.outdated || again; b.outdated && !b.asking && b.described && a.dialog == b {
		a.later(b.ask(a, b.filled()))
	}
}

func (b *box) pin() action.Pin {
	var limit uint64
	if b.row != nil {
		limit = b.row.Limit
	}
	return b.request.Pin(limit)
}

// difference describes what has changed in the pinned part of the row since the person decided; "":
// nothing.
func (b *box) difference(a *Acting, pin action.Pin) string {
	if pin != action.PinLease {
		return b.request.Target.Changed(b.row, pin)
	}
	switch h := a.holdingOf(b.request.Target.Ref); {
	case h == nil:
		return "it is not ours any more"
	case b.lease != "" && h.Owner != b.lease:
		return "what we hold of it is not what we held when you decided"
	}
	return ""
}

// holdingOf returns what we hold or wait for of a row; nil: nothing.
func (a *Acting) holdingOf(ref sources.Ref) *action.Holding {
	for i := range a.Status.Holdings {
		if h := &a.Status.Holdings[i]; h.Ref == ref {
			return h
		}
	}
	return nil
}

// notPossible returns why a request is not possible for a row now; "": it is, as far as is known.
func (a *Acting) notPossible(r *action.Request, row *sources.Row) string {
	if row == nil {
		return ""
	}
	for _, e := range a.endsOf(r.Verb, row) {
		if e.target.Owner == r.Target.Owner {
			return e.not
		}
	}
	for _, c := range a.op.Choices(row) {
		if c.Verb == r.Verb {
			return paint.Clean(c.Not)
		}
	}
	return ""
}

// anew opens the box again for the row as it is now. The confirming name, and data that replaces data
// which others have changed, must be typed again.
func (b *box) anew(a *Acting) tea.Cmd {
	row := a.live(b.request.Target.Ref)
	if row == nil {
		return nil // the box shows it
	}
	cmd := a.decide(b.request.Verb, row)
	if next, ok := a.dialog.(*box); ok {
		next.typed = b.fields
	}
	a.ignoreKeys()
	return cmd
}

// retype fills in the text of the previous box, and reports whether that changes the request.
func (b *box) retype() bool {
	changes := false
	for _, old := range b.typed {
		for _, f := range b.fields {
			switch {
			case f.kind != old.kind || f.kind == fieldName || f.kind == fieldData && b.request.Verb == action.Update:
			case f.kind == fieldMode:
				f.shared = old.shared
				changes = changes || f.shared
			case f.kind == fieldData:
				f.text.SetValue(old.text.Value())
				changes = changes || old.text.Value() != ""
			default:
				f.line.SetValue(old.line.Value())
				changes = changes || old.line.Value() != ""
			}
		}
	}
	b.typed = nil
	return changes
}

// changedText returns why nothing can be sent now; "": it can.
func (b *box) changedText() string {
	switch {
	case b.gone && b.changed == "":
		return "changed since you decided, and changed back"
	case b.gone || b.changed != "":
		return "changed: " + b.changed
	case b.off:
		return "writing has ended: arm it again and decide anew"
	case b.not != "":
		return "not possible now: " + b.not
	}
	return ""
}
