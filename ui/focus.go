package ui

import (
	"slices"

	"coordtop/sources"
	"coordtop/ui/dialog"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
)

// focusNotifier tells the feed which rows are on screen, so that its sources read those more often.
type focusNotifier struct {
	part
	acting *dialog.Acting
	list   *rowList

	visible  []rows.Handle // told last
	selected sources.Ref   // told last
}

// notify tells the feed which rows are on screen, if that changed.
func (f *focusNotifier) notify() {
	focuser, ok := f.feeds.shown().(sources.Focuser)
	if !ok {
		return
	}
	selected, _ := f.scene.Locks.Selected()
	visible := append(slices.Clone(f.inSight()), selected)
	subject := f.subject()
	if slices.Equal(visible, f.visible) && subject == f.selected {
		return
	}
	f.visible, f.selected = visible, subject
	refs := make([]sources.Ref, 0, len(visible))
	for _, h := range visible[:len(visible)-1] {
		if row, _ := f.scene.Rows.At(h); row != nil {
			refs = append(refs, row.Ref)
		}
	}
	focuser.Focus(refs, subject)
}

// inSight are the rows that are drawn.
func (f *focusNotifier) inSight() []rows.Handle {
	if f.scene.Shown == screen.Timeline {
		return slices.DeleteFunc(slices.Clone(f.scene.Time.Lanes.Visible()), rows.Handle.Recorded)
	}
	return f.scene.Locks.Visible()
}

// subject is the row that the person looks at: that of the box, else the one under the cursor.
func (f *focusNotifier) subject() sources.Ref {
	if ref, ok := f.acting.Target(); ok {
		return ref
	}
	return f.list.cursorRow
}
