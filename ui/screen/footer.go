package screen

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

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
		if a := &sc.Keys[i]; a.Hint != "" && a.Context&scope != 0 && !offInPast(sc, a) && !offHere(sc, a) {
			hints = append(hints, *a)
			if a.Intent == keys.Present && !sc.OnlyPast {
				hints[len(hints)-1].Hint = "now"
			}
		}
	}
	if sc.Filter.Context != 0 || sc.KeyContext == keys.InLocks && (sc.Rows.Problems || !sc.Rows.Filter.Empty()) || sc.KeyContext == keys.InTimeline && sc.Rows.Filter.Only != nil {
		hints = append(hints, keys.Binding{Intent: keys.Clear, Keys: []string{sc.Keys.KeyIn(scope, keys.Clear)}, Hint: clearHint(sc)})
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

// clearHint returns the hint for the key that clears the filter.
func clearHint(sc *Scene) string {
	if f := &sc.Rows.Filter; sc.Filter.Context == 0 && f.Only != nil && f.Text == "" {
		return "Pulse"
	}
	return "clear"
}

// offInPast reports whether a key does not do what its hint says because the past is shown: it acts,
// or the replay uses the key.
func offInPast(sc *Scene, b *keys.Binding) bool {
	return sc.Replay != nil && (b.Intent.Acts() || b.Context&keys.InReplay == 0 && sc.Keys.Bound(keys.InReplay, b.Keys[0]))
}

// offHere reports whether a key does nothing to the row under the cursor, which has no problem.
func offHere(sc *Scene, b *keys.Binding) bool {
	if b.Intent != keys.Know || b.Context&(keys.InLocks|keys.InDetail) == 0 {
		return false
	}
	row, v := sc.Selected()
	return row == nil || !v.Problem()
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
	case a.Context == keys.InPulse, a.Intent == keys.Crash || sc.Replay != nil && a.Context&keys.InReplay != 0:
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

// Picture is a drawn dialog: lines of equal width.
type Picture struct {
	Lines  []string
	Danger bool   // the frame is drawn as a warning
	Note   string // below the frame, if nothing else is there
	X, Y   int    // of the cursor in Lines
	Cursor bool   // there is one
	Cut    bool   // Lines do not have everything that the decision needs
}

// Add adds a line.
func (p *Picture) Add(l *paint.Line) { p.Lines = append(p.Lines, l.Done()) }

const (
	dialogWidth = 90 // the greatest width of a dialog with its frame
	roomWidth   = 100
	roomHeight  = 30 // from this size on the board is visible behind every dialog
)

// Overlay draws a dialog over the lines of a screen, and returns them with the place of the cursor.
// draw draws the dialog within w x h cells. alone: on a small screen nothing else is visible.
func Overlay(sc *Scene, screen []string, alone bool, draw func(w, h int) Picture) ([]string, *tea.Cursor) {
	l := sc.Layout
	if l.Small {
		return fill(sc, screen, draw)
	}
	w, top := min(l.Width-4, dialogWidth), l.Header
	if alone = alone && (l.Width < roomWidth || l.Height < roomHeight); alone {
		top = 1
	}
	p := draw(w-4, l.Height-top-3)
	w = 4
	if len(p.Lines) > 0 {
		w += format.Width(p.Lines[0])
	}
	framed := frameOf(sc, p, w)
	x, y := (l.Width-w)/2, top+max((l.Height-1-top-len(framed))/2, 0)
	if alone {
		blank := sc.Theme.Line(l.Width).Done()
		for i := top; i < l.Height-1; i++ {
			screen[i] = blank
		}
		y = top + max((l.Height-1-top-len(framed))/3, 0)
		if under := y + len(framed) + 1; p.Note != "" && under < l.Height-1 {
			screen[under] = sc.Theme.Line(l.Width).Skip(1).Put(sc.Theme.Dim, p.Note).Done()
		}
	}
	for i, line := range framed {
		screen[y+i] = over(screen[y+i], line, x, w, l.Width)
	}
	if !p.Cursor {
		return screen, nil
	}
	return screen, tea.NewCursor(x+2+p.X, y+1+p.Y)
}

// fill draws the dialog on the whole of a small screen except its last line.
func fill(sc *Scene, screen []string, draw func(w, h int) Picture) (lines []string, cursor *tea.Cursor) {
	w, h := sc.Layout.Width, max(sc.Layout.Height-1, 0)
	p := draw(w, h)
	if p.Cut { // the footer's keys do not work
		h = len(screen)
	}
	if p.Cursor && p.Y < h {
		cursor = tea.NewCursor(min(p.X, max(w-1, 0)), p.Y)
	}
	for i, line := range p.Lines[:min(len(p.Lines), h)] {
		p.Lines[i] = over(sc.Theme.Line(w).Done(), line, 0, min(format.Width(line), w), w)
	}
	return append(sc.Theme.Box(p.Lines, w, h), screen[h:]...), cursor
}

// frameOf draws a picture with its frame, w cells wide.
func frameOf(sc *Scene, p Picture, w int) []string {
	st := sc.Theme.Dim
	if p.Danger {
		st = sc.Theme.Warn
	}
	bar := strings.Repeat(sc.Theme.Glyphs.Rule, w-2)
	side := string(st) + sc.Theme.Upright + paint.Reset
	out := []string{sc.Theme.Line(w).Put(st, sc.Theme.Corners[0]+bar+sc.Theme.Corners[1]).Done()}
	for _, line := range p.Lines {
		out = append(out, side+" "+line+" "+side)
	}
	return append(out, sc.Theme.Line(w).Put(st, sc.Theme.Corners[2]+bar+sc.Theme.Corners[3]).Done())
}

// over draws top, which has w cells, over a line of all cells from column x on. A wide character
// that is partly covered becomes a blank.
func over(line, top string, x, w, all int) string {
	left, right := ansi.Cut(line, 0, x), ansi.Cut(line, x+w, all)
	if ansi.StringWidth(right) > all-x-w {
		right = ansi.Cut(line, x+w+1, all)
	}
	return left + paint.Reset + strings.Repeat(" ", x-ansi.StringWidth(left)) + top + paint.Reset +
		strings.Repeat(" ", max(all-x-w-ansi.StringWidth(right), 0)) + right
}
