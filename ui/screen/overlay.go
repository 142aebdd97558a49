package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"coordtop/internal/ground/format"
	"coordtop/ui/paint"
)

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
