package screen

import (
	"cmp"
	"slices"

	"coordtop/internal/ground/format"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// drawFooter is the last line, or more for a message that needs them: the message while there
// is one, and the keys that matter here, as many as fit.
func drawFooter(sc *Scene, w int) []string {
	var lines []string
	l := sc.Theme.Line(w).Skip(1)
	if sc.Message != "" && !sc.Deciding && sc.Command.Context == 0 && sc.Menu == 0 {
		for i, text := range paint.Wrap(sc.Message, w-2) {
			if i > 0 {
				lines = append(lines, l.Done())
				l = sc.Theme.Line(w).Skip(1)
			}
			l.Put(sc.Theme.Strong, text)
		}
		if l.Skip(3); l.X+leastKeys > w && len(lines) > 0 { // a long message is no reason to hide them
			lines = append(lines, l.Done())
			l = sc.Theme.Line(w).Skip(1)
		}
	}
	return append(lines, footerKeys(sc, l))
}

// leastKeys is how many cells the keys get at least beside a message of several lines.
const leastKeys = 24

// footerKeys fills the footer with what is typed, or the keys that matter.
func footerKeys(sc *Scene, l *paint.Line) string {
	w := l.Width
	switch {
	case sc.Command.Context != 0:
		return typedFooter(sc, w)
	case sc.Menu != 0:
		return menuFooter(sc, w)
	case sc.Layout.Small && sc.Filter.Context != 0:
		l.Put(sc.Theme.Strong, "/").Skip(1).Put("", sc.Filter.Text).Skip(2)
		filterAdvice(sc, l)
		return l.Done()
	case sc.Layout.Small && !sc.DialogOpen:
		return l.Put(sc.Theme.Strong, sc.Keys.KeyOf(keys.Help)).Put(sc.Theme.Dim, " help").Skip(2).Put(sc.Theme.Dim, "panes need 80x24").Done()
	}
	scope := sc.KeyContext
	if sc.Replay != nil && scope&keys.InScreens != 0 {
		scope |= keys.InReplay
	}
	hints := make([]keys.Binding, 0, 32)
	for i := range sc.Keys {
		if a := &sc.Keys[i]; a.Hint != "" && a.Context&scope != 0 && !offInPast(sc, a) {
			hints = append(hints, *a)
			if a.Intent == keys.Present && !sc.OnlyPast {
				hints[len(hints)-1].Hint = "now"
			}
		}
	}
	if sc.Filter.Context != 0 || sc.KeyContext == keys.InLocks && (sc.Rows.Problems || !sc.Rows.Filter.Empty()) {
		hints = append(hints, keys.Binding{Intent: keys.Clear, Keys: []string{sc.Keys.KeyIn(scope, keys.Clear)}, Hint: "clear"})
	}
	slices.SortStableFunc(hints, func(a, b keys.Binding) int { return cmp.Compare(place(sc, a), place(sc, b)) })
	before := ""
	for _, a := range hints {
		if a.Hint == keys.Joined {
			before = a.Keys[0] + " "
			continue
		}
		key := before + a.Keys[0]
		before = ""
		if a.Intent == keys.Pane && (sc.Layout.Split > 0 || sc.Layout.Stacked > 0) {
			continue
		}
		if l.X+format.Width(key)+1+len(a.Hint) >= w {
			break
		}
		l.Put(sc.Theme.Strong, key).Skip(1).Put(sc.Theme.Dim, a.Hint).Skip(2)
	}
	return l.Done()
}

// offInPast reports whether the past is shown, and a key does not do there what its hint says: it
// acts, or moves in time.
func offInPast(sc *Scene, b *keys.Binding) bool {
	return sc.Replay != nil && (b.Intent.Acts() || b.Context&keys.InReplay == 0 && sc.Keys.Bound(keys.InReplay, b.Keys[0]))
}

// place puts the way out first among the hints: it must be seen on any screen. The key
// of the demo follows, and what moves in time.
func place(sc *Scene, a keys.Binding) int {
	switch {
	case a.Intent == keys.Help:
		return 0
	case a.Intent == keys.Quit || a.Intent == keys.Back || a.Intent == keys.Clear || a.Intent == keys.Cancel,
		a.Intent == keys.Open && a.Context == keys.InTrouble:
		return 1
	case a.Intent == keys.Crash || sc.Replay != nil && a.Context&keys.InReplay != 0:
		return 2
	}
	return 3
}

// menuFooter draws the menu that is open: its next key chooses, any other closes it.
func menuFooter(sc *Scene, w int) string {
	l := sc.Theme.Line(w).Skip(1).Put(sc.Theme.Strong, menuTitle(sc.Menu)).Skip(2)
	for _, b := range sc.Keys {
		if exports := keys.InExport | keys.InPicture; b.Context&sc.Menu != 0 && b.Context&^(sc.Menu|exports) == 0 {
			l.Put(sc.Theme.Strong, b.Keys[0]).Skip(1).Put(sc.Theme.Dim, b.Hint).Skip(2)
		}
	}
	return l.Done()
}

func menuTitle(s keys.Context) string {
	return map[keys.Context]string{keys.InSort: "order by", keys.InCopy: "copy", keys.InExport: "export as", keys.InKeep: "quit and leave this screen as text?",
		keys.InWindow: "show", keys.InLaneSort: "lanes", keys.InPicture: "export as"}[s]
}

// typedFooter draws the line being typed.
func typedFooter(sc *Scene, w int) string {
	t, l := &sc.Command, sc.Theme.Line(w).Skip(1)
	sign := ":"
	if t.Context == keys.InHelpText {
		sign = "/"
	}
	l.Put(sc.Theme.Strong, sign).Put("", paint.Clean(t.Text)).Skip(2)
	switch {
	case len(t.Offers) > 0:
		putOffers(sc, l, t.Offers)
	case t.Context == keys.InCommand:
		l.Put(sc.Theme.Dim, keys.Usage(t.Text))
	}
	return l.Done()
}

// putOffers writes what else there is.
func putOffers(sc *Scene, l *paint.Line, offers []string) {
	for _, text := range offers[:min(len(offers), offersShown)] {
		l.Put(sc.Theme.Dim, paint.Clean(text)).Skip(1)
	}
}

// offersShown is how many other completions are named.
const offersShown = 6

// filterAdvice says, behind a filter that is typed, what is wrong with it, or what else it
// could be completed with.
func filterAdvice(sc *Scene, l *paint.Line) {
	switch f := &sc.Rows.Filter; {
	case len(sc.Filter.Offers) > 0:
		putOffers(sc, l, sc.Filter.Offers)
	case f.Mistake != nil && f.Mistake.Open:
		l.Put(sc.Theme.Dim, paint.Clean(f.Mistake.Text))
	case f.Mistake != nil:
		l.Put(sc.Theme.Warn, paint.Clean(f.Mistake.Text))
	case len(sc.Rows.Handles) == 0 && sc.Rows.Total > 0:
		l.Put(sc.Theme.Dim, sc.Rows.Meant())
	}
}
