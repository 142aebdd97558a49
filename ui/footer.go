package ui

import (
	"cmp"
	"slices"

	"coordtop/internal/format"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// drawFooter is the last line: a message while there is one, else the keys that matter
// here, as many as fit.
func drawFooter(sc *scene, w int) string {
	l := sc.th.Line(w).Skip(1)
	switch {
	case sc.command.scope != 0:
		return typedFooter(sc, w)
	case sc.menu != 0:
		return menuFooter(sc, w)
	case sc.message != "" && !sc.deciding:
		return l.Put(sc.th.Strong, sc.message).Done()
	case sc.lay.small && sc.filter.scope != 0:
		l.Put(sc.th.Strong, "/").Skip(1).Put("", sc.filter.text).Skip(2)
		filterAdvice(sc, l)
		return l.Done()
	case sc.lay.small && !sc.dialog:
		return l.Put(sc.th.Dim, "small screen: list only, 80x24 shows all").Done()
	}
	scope := sc.scope
	hints := make([]keys.Binding, 0, 32)
	for i := range sc.table {
		if a := &sc.table[i]; a.Hint != "" && a.Scope&scope != 0 {
			hints = append(hints, *a)
		}
	}
	if sc.filter.scope != 0 || sc.scope == keys.InList && (sc.idx.Problems || !sc.idx.Filter.Empty()) {
		hints = append(hints, keys.Binding{Intent: keys.Clear, Keys: []string{sc.table.KeyIn(scope, keys.Clear)}, Hint: "clear"})
	}
	slices.SortStableFunc(hints, func(a, b keys.Binding) int { return cmp.Compare(quits(a), quits(b)) })
	for _, a := range hints {
		if a.Intent == keys.Pane && (sc.lay.split > 0 || sc.lay.stacked > 0) {
			continue
		}
		if l.X+format.Width(a.Keys[0])+1+len(a.Hint) >= w {
			break
		}
		l.Put(sc.th.Strong, a.Keys[0]).Skip(1).Put(sc.th.Dim, a.Hint).Skip(2)
	}
	return l.Done()
}

// quits puts the way out first among the hints: it must be seen on any screen.
func quits(a keys.Binding) int {
	switch a.Intent {
	case keys.Help:
		return 0
	case keys.Quit, keys.Back, keys.Clear, keys.Cancel:
		return 1
	}
	return 2
}

// menuFooter draws the menu that is open: its next key chooses, any other closes it.
func menuFooter(sc *scene, w int) string {
	l := sc.th.Line(w).Skip(1).Put(sc.th.Strong, menuTitle(sc.menu)).Skip(2)
	for _, b := range sc.table {
		if b.Scope == sc.menu {
			l.Put(sc.th.Strong, b.Keys[0]).Skip(1).Put(sc.th.Dim, b.Hint).Skip(2)
		}
	}
	return l.Done()
}

func menuTitle(s keys.Scope) string {
	return map[keys.Scope]string{keys.InSort: "order by", keys.InCopy: "copy", keys.InExport: "export as", keys.InKeep: "quit and leave this screen as text?"}[s]
}

// typedFooter draws the line being typed.
func typedFooter(sc *scene, w int) string {
	t, l := &sc.command, sc.th.Line(w).Skip(1)
	sign := ":"
	if t.scope == keys.InHelpText {
		sign = "/"
	}
	l.Put(sc.th.Strong, sign).Put("", paint.Clean(t.text)).Skip(2)
	switch {
	case len(t.offers) > 0:
		putOffers(sc, l, t.offers)
	case t.scope == keys.InCommand:
		l.Put(sc.th.Dim, keys.Usage(t.text))
	}
	return l.Done()
}

// putOffers writes what else there is.
func putOffers(sc *scene, l *paint.Line, offers []string) {
	for _, text := range offers[:min(len(offers), offersShown)] {
		l.Put(sc.th.Dim, paint.Clean(text)).Skip(1)
	}
}

// offersShown is how many other completions are named.
const offersShown = 6

// filterAdvice says, behind a filter that is typed, what is wrong with it, or what else it
// could be completed with.
func filterAdvice(sc *scene, l *paint.Line) {
	switch f := &sc.idx.Filter; {
	case len(sc.filter.offers) > 0:
		putOffers(sc, l, sc.filter.offers)
	case f.Mistake != nil && f.Mistake.Open:
		l.Put(sc.th.Dim, paint.Clean(f.Mistake.Text))
	case f.Mistake != nil:
		l.Put(sc.th.Warn, paint.Clean(f.Mistake.Text))
	case len(sc.idx.Handles) == 0 && sc.idx.Total > 0:
		l.Put(sc.th.Dim, sc.idx.Meant())
	}
}
