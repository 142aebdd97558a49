package screen

import (
	"cmp"
	"slices"

	"coordtop/internal/ground/format"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// drawFooter draws the last line, or more lines for a long message: the message, if there is one, and
// as many of the important keys as fit.
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
		if l.Skip(3); l.X+leastKeys > w && len(lines) > 0 { // a long message must not hide the keys
			lines = append(lines, l.Done())
			l = sc.Theme.Line(w).Skip(1)
		}
	}
	return append(lines, footerKeys(sc, l))
}

// leastKeys is the least number of cells for the keys beside a message of several lines.
const leastKeys = 24

// footerKeys completes the footer with the typed line, the open menu, or the important keys.
func footerKeys(sc *Scene, l *paint.Line) string {
	switch {
	case sc.Command.Context != 0:
		typedLine(sc, l)
		return l.Done()
	case sc.Menu != 0:
		menuKeys(sc, l)
		return l.Done()
	case sc.Layout.Small && sc.Filter.Context != 0:
		typedFilter(sc, l)
		return l.Done()
	case sc.Layout.Small && !sc.DialogOpen:
		l.Put(sc.Theme.Strong, sc.Keys.KeyOf(keys.Help)).Put(sc.Theme.Dim, " help")
		return l.Skip(2).Put(sc.Theme.Dim, "panes need 80x24").Done()
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
		if l.X+format.Width(key)+1+len(a.Hint) >= l.Width {
			break
		}
		l.Put(sc.Theme.Strong, key).Skip(1).Put(sc.Theme.Dim, a.Hint).Skip(2)
	}
	return l.Done()
}

// offInPast reports whether a key does not do what its hint says because the past is shown: it acts,
// or the replay uses the key.
func offInPast(sc *Scene, b *keys.Binding) bool {
	return sc.Replay != nil && (b.Intent.Acts() || b.Context&keys.InReplay == 0 && sc.Keys.Bound(keys.InReplay, b.Keys[0]))
}

// place returns the rank of a hint: help and the way out come first, because they must be visible on
// any screen, then the key of the demo and the keys of the replay.
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

// menuTitles are the titles of the menus in the footer.
var menuTitles = map[keys.Context]string{
	keys.InSort: "order by", keys.InCopy: "copy", keys.InExport: "export as", keys.InPicture: "export as",
	keys.InWindow: "show", keys.InLaneSort: "lanes", keys.InKeep: "quit and leave this screen as text?",
}

// menuKeys draws the open menu: the next key chooses, any other closes it.
func menuKeys(sc *Scene, l *paint.Line) {
	l.Put(sc.Theme.Strong, menuTitles[sc.Menu]).Skip(2)
	for _, b := range sc.Keys {
		if exports := keys.InExport | keys.InPicture; b.Context&sc.Menu != 0 && b.Context&^(sc.Menu|exports) == 0 {
			l.Put(sc.Theme.Strong, b.Keys[0]).Skip(1).Put(sc.Theme.Dim, b.Hint).Skip(2)
		}
	}
}

// typedLine draws the typed command, or the typed words for the help.
func typedLine(sc *Scene, l *paint.Line) {
	t, sign := &sc.Command, ":"
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
}

// putOffers writes other completions.
func putOffers(sc *Scene, l *paint.Line, offers []string) {
	for _, text := range offers[:min(len(offers), offersShown)] {
		l.Put(sc.Theme.Dim, paint.Clean(text)).Skip(1)
	}
}

// offersShown bounds the number of other completions that are shown.
const offersShown = 6

// typedFilter draws the typed filter and its mistake, or other completions.
func typedFilter(sc *Scene, l *paint.Line) {
	l.Put(sc.Theme.Strong, "/").Skip(1).Put("", sc.Filter.Text).Skip(2)
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
