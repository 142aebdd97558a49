package ui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"coordtop/sources"
	"coordtop/sources/origin"
	"coordtop/ui/filter"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
)

// rowList is the list of the rows as keys and commands change it: its filter, its order, its marks and its cursor.
type rowList struct {
	part
	filtering filterLine
	heldUntil time.Time   // till when rows keep their places
	cursorRow sources.Ref // the row under the cursor, as long as it exists
	unfocused listing     // what was listed before focus
}

// listing is the choice of rows in the list.
type listing struct {
	filter   string
	problems bool
	kind     sources.Kind
}

// focus lists all rows for which only returns true, and no others; of describes them.
func (l *rowList) focus(of string, only func(sources.Ref) bool) {
	l.unfocus()
	r := &l.scene.Rows
	l.unfocused = listing{l.filtering.input.Value(), r.Problems, r.Kind}
	r.Filter.Only, r.Filter.Of, r.Problems, r.Kind = only, of, false, sources.KindUnknown
	l.setFilter("")
	l.relist()
}

// unfocus lists what was listed before focus, and reports whether rows were in focus.
func (l *rowList) unfocus() bool {
	r := &l.scene.Rows
	if r.Filter.Only == nil {
		return false
	}
	r.Filter.Only, r.Filter.Of = nil, ""
	r.Problems, r.Kind = l.unfocused.problems, l.unfocused.kind
	l.setFilter(l.unfocused.filter)
	l.relist()
	return true
}

// search moves the cursor to the next or previous row that fits the filter. Without a filter it uses
// the last one.
func (l *rowList) search(step int) {
	f := l.scene.Rows.Filter
	if f.Expr.Empty() {
		f.Expr = l.filtering.sought
	}
	n := l.scene.Locks.Len()
	if f.Expr.Empty() || n == 0 {
		l.host.Say("nothing to look for: " + l.scene.Keys.KeyOf(keys.Filter) + " takes words")
		return
	}
	for d := 1; d <= n; d++ {
		at := ((l.scene.Locks.Pos()+step*d)%n + n) % n
		h := l.scene.Rows.Handles[at]
		if row, v := l.scene.Rows.At(h); row != nil && f.Passes(row, v) {
			if (at-l.scene.Locks.Pos())*step <= 0 {
				l.host.Say("went on from the other end")
			}
			l.scene.Locks.Move(at - l.scene.Locks.Pos())
			return
		}
	}
	l.host.Say("no row fits " + l.filtering.typed() + ": " + l.scene.Keys.KeyOf(keys.Filter) + " takes other words")
}

// mark marks the row under the cursor, or takes its mark away, and goes to the next.
func (l *rowList) mark() {
	row, _ := l.scene.Selected()
	if row == nil {
		return
	}
	if l.scene.Marks[row.Ref] {
		delete(l.scene.Marks, row.Ref)
	} else {
		l.scene.Marks[row.Ref] = true
	}
	l.scene.Locks.Move(1)
}

// unmark clears all marks.
func (l *rowList) unmark() {
	l.host.Say(paint.Count(len(l.scene.Marks), "mark") + " cleared")
	clear(l.scene.Marks)
}

// chosen are the rows that were marked and still are there, in the order of the list's
// source, or, without marks, the row under the cursor.
func (l *rowList) chosen() []*sources.Row {
	var rows []*sources.Row
	for _, r := range l.scene.State.Rows {
		if len(l.scene.Marks) > 0 && r != nil && l.scene.Marks[r.Ref] {
			rows = append(rows, r)
		}
	}
	if row, _ := l.scene.Selected(); len(rows) == 0 && row != nil {
		rows = append(rows, row)
	}
	return rows
}

// sameOwner shows only the rows of this row's owner; a second time, what was shown
// before.
func (l *rowList) sameOwner() {
	l.host.switchTo(screen.Locks)
	if l.filtering.byOwner != "" && l.scene.Rows.Filter.Text == l.filtering.byOwner {
		l.setFilter(l.filtering.beforeOwner)
		l.filtering.byOwner = ""
		return
	}
	row, _ := l.scene.Selected()
	switch {
	case row != nil && len(row.Owners) > 0:
		l.onlyOf("owner=" + filter.Quote(paint.Clean(cmp.Or(row.Owners[0].Label, row.Owners[0].ID))))
	case row != nil && row.LastTerm() != nil:
		l.onlyOf(origin.BySession.String() + "=" + filter.Quote(paint.Clean(row.LastTerm().Owner.Name())))
	default:
		l.host.Say("nobody is known to own this row, or to have owned it: choose another")
	}
}

// onlyOf shows only what one owner owns, until sameOwner shows again what was shown before.
func (l *rowList) onlyOf(text string) {
	l.scene.Locks.Move(0) // the cursor stays on this row
	l.unfocus()
	l.filtering.beforeOwner = l.scene.Rows.Filter.Text
	l.setFilter(text)
	l.filtering.byOwner = l.scene.Rows.Filter.Text
}

// order orders the list; the same order again is reversed.
func (l *rowList) order(s rows.Order) {
	l.scene.Rows.Reverse = l.scene.Rows.Order == s && !l.scene.Rows.Reverse
	l.scene.Rows.Order = s
	l.host.switchTo(screen.Locks)
	l.relist()
}

// holdOrder notes that the person works with the rows as they stand.
func (l *rowList) holdOrder(i keys.Intent) {
	switch i {
	case keys.Up, keys.Down, keys.HalfUp, keys.HalfDown, keys.PageUp, keys.PageDown, keys.Top, keys.Bottom, keys.Mark, keys.Next, keys.Previous, keys.Back:
		if l.scene.Shown.Listed() && l.scene.Locks.Moved() {
			l.scene.Rows.Held, l.heldUntil = true, l.scene.Clock.Add(screen.HoldTime)
		}
	}
}

func (l *rowList) onlyProblems() {
	l.keepRow()
	l.scene.Rows.Problems = !l.scene.Rows.Problems
	l.relist()
}

func (l *rowList) nextKind() {
	l.keepRow()
	l.scene.Rows.Kind = (l.scene.Rows.Kind + 1) % (sources.KindSemaphore + 1)
	l.relist()
}

// keepRow has the cursor stay on its row when all rows are shown again: the next key must not
// act on another one.
func (l *rowList) keepRow() {
	if !l.scene.Rows.Filter.Empty() || l.scene.Rows.Problems || l.scene.Rows.Kind != sources.KindUnknown {
		l.scene.Locks.Move(0)
	}
}

// setFilter replaces what was typed.
func (l *rowList) setFilter(text string) {
	l.filtering.input.SetValue(text)
	l.refilter()
}

// refilter shows what the typed words select.
func (l *rowList) refilter() {
	if text := l.filtering.typed(); text != l.scene.Rows.Filter.Text {
		l.scene.Rows.Filter.Parse(text, l.scene.Rows.Labels)
		if !l.scene.Rows.Filter.Expr.Empty() {
			l.filtering.sought = l.scene.Rows.Filter.Expr
		}
		l.relist()
	}
}

// relist rebuilds the list; the cursor stays on its row if that is still there.
func (l *rowList) relist() {
	l.scene.Rows.Rebuild()
	l.scene.Locks.SetKeys(l.scene.Rows.Handles)
}

// notePicked notes which row the cursor has come to.
func (l *rowList) notePicked() {
	l.cursorRow = sources.Ref{}
	if row, _ := l.scene.Selected(); row != nil {
		l.cursorRow = row.Ref
	}
}

// follow keeps the cursor on a row that went and came back under another handle, and
// shows a message if the row is gone.
func (l *rowList) follow() {
	h, ok := l.scene.Locks.Selected()
	if !ok || l.cursorRow == (sources.Ref{}) {
		return
	}
	if row, _ := l.scene.Rows.At(h); row != nil && row.Ref == l.cursorRow {
		return
	}
	if now, ok := l.host.find(l.cursorRow); ok {
		l.scene.Locks.Replace(h, now)
		return
	}
	if l.scene.Locks.Moved() {
		l.host.Say(paint.Clean(l.cursorRow.Name) + " does not exist any more")
	}
	l.cursorRow = sources.Ref{}
}

// pickRow moves the cursor of the list to a row, or shows the reason why it cannot.
func (l *rowList) pickRow(ref sources.Ref) bool {
	h, ok := l.host.find(ref)
	switch {
	case !ok:
		l.host.Say(paint.Clean(ref.Name) + " does not exist any more")
		return false
	case !l.scene.Rows.InList(h):
		l.host.Say("the list does not show " + paint.Clean(ref.Name) + ": " + l.scene.Keys.KeyIn(keys.InLocks, keys.Clear) + " clears the filter")
		return false
	}
	return l.scene.Locks.Select(h)
}

// filterBy shows only what is asked for.
func (l *rowList) filterBy(text string) {
	l.toRows()
	l.setFilter(text)
	if mend := l.scene.Rows.Filter.Mistake; mend != nil {
		l.host.Say(paint.Clean(mend.Text))
	} else if len(l.scene.Rows.Handles) == 0 && l.scene.Rows.Total > 0 {
		text := "the filter selects nothing"
		if meant := l.scene.Rows.Meant(); meant != "" {
			text += ": " + meant
		}
		l.host.Say(text)
	}
}

// onlySource filters by one source; other words of the filter go.
func (l *rowList) onlySource(name string) {
	l.unfocus()
	known := l.scene.Rows.Values("source")
	i := slices.IndexFunc(known, func(s string) bool { return strings.EqualFold(s, name) })
	switch {
	case name == "" || strings.EqualFold(name, "all"):
		l.setFilter("")
	case i < 0:
		l.host.Say("no rows of a source " + paint.Clean(name) + ": " + nearOr(name, known, "there are "+strings.Join(known, ", ")))
		return
	default:
		l.setFilter("source=" + filter.Quote(known[i]))
	}
	l.toRows()
}

// toRows goes to the list, unless what is shown obeys the filter too.
func (l *rowList) toRows() {
	if !l.scene.Shown.Listed() && !l.scene.Shown.Filtered() {
		l.host.switchTo(screen.Locks)
	}
}

// sortBy takes the name of a column, or its beginning.
func (l *rowList) sortBy(name string) {
	for s := range rows.Orders {
		if name != "" && strings.HasPrefix(s.Word(), strings.ToLower(name)) {
			l.order(s)
			return
		}
	}
	words := orderWords()
	all := "sort by " + strings.Join(words, ", ")
	if name == "" {
		l.host.Say(all)
		return
	}
	l.host.Say("no column " + paint.Clean(name) + ": " + nearOr(name, words, all))
}

// completeFilter completes a filter by what the shown screen lists.
func (l *rowList) completeFilter(text string) filter.Completion {
	if l.scene.Shown == screen.Audit {
		return rows.CompleteAudit(text, l.scene.AuditEntries)
	}
	return l.scene.Rows.Complete(text)
}

// namesLike are names of rows that begin so.
func (l *rowList) namesLike(text string) []string {
	var list []string
	for _, r := range l.scene.State.Rows {
		if len(list) == offeredNames {
			break
		}
		if r == nil {
			continue
		}
		for _, name := range []string{r.Name, sources.AliasName(r.Alias, r.AliasHow)} {
			if name != "" && strings.HasPrefix(name, text) && paint.Clean(name) == name {
				list = append(list, name)
			}
		}
	}
	return list
}
