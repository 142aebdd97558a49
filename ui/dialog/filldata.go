package dialog

import (
	"coordtop/internal/action"
	"coordtop/ui/paint"
)

// fillData puts in what the data is now, where that is all on the screen.
func (b *box) fillData(a *Acting, f *field) {
	switch b.request.Verb {
	case action.Proclaim:
		if h := a.holdingOf(b.request.Target.Ref); h != nil {
			f.fill(string(h.Data))
		}
	case action.Update:
		if b.row == nil {
			return
		}
		if b.row.Data.Len > len(b.row.Data.Head) {
			f.note = "it has " + paint.Count(b.row.Data.Len, "byte") + " now, too many to be edited here: all of them are replaced"
			return
		}
		if b.row.Data.Masked() {
			f.note = "it holds a secret, which is not shown: all of it is replaced"
			return
		}
		f.fill(b.row.Data.Head)
	}
}
