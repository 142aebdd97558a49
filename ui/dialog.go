package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"coordtop/internal/format"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// dialog stands over the board and takes the keys while it is open. One that can do harm
// is never opened by anything but a key.
type dialog interface {
	scope() keys.Scope
	// do carries out an intent of its scope.
	do(m *model, i keys.Intent) tea.Cmd
	// edit takes what is typed or pasted and is no key of its scope.
	edit(m *model, msg tea.Msg) tea.Cmd
	// heed looks again at what it stands for.
	heed(m *model)
	// picture draws it within so many cells, without its frame.
	picture(m *model, w, h int) picture
}

// picture is a drawn dialog: lines of equal width.
type picture struct {
	lines  []string
	danger bool   // the frame says so
	note   string // below the frame, where nothing else is
	x, y   int    // of the cursor in lines
	cursor bool   // there is one
}

const (
	dialogWidth = 90 // cells that a dialog takes at most, with its frame
	roomWidth   = 100
	roomHeight  = 30 // from here on the board is seen behind every dialog
)

// overlay puts the dialog over the lines of the screen, and notes where the cursor goes.
func (m *model) overlay(screen []string) []string {
	l := m.lay
	if l.small {
		return m.fill(screen)
	}
	w, top := min(l.w-4, dialogWidth), l.header
	_, alone := m.hands.dialog.(*box)
	if alone = alone && (l.w < roomWidth || l.h < roomHeight); alone {
		top = 1
	}
	p := m.hands.dialog.picture(m, w-4, l.h-top-3)
	w = 4
	if len(p.lines) > 0 {
		w += format.Width(p.lines[0])
	}
	framed := frameOf(&m.scene, p, w)
	x, y := (l.w-w)/2, top+max((l.h-1-top-len(framed))/2, 0)
	if alone {
		blank := m.th.Line(l.w).Done()
		for i := top; i < l.h-1; i++ {
			screen[i] = blank
		}
		y = top + max((l.h-1-top-len(framed))/3, 0)
		if under := y + len(framed) + 1; p.note != "" && under < l.h-1 {
			screen[under] = m.th.Line(l.w).Skip(1).Put(m.th.Dim, p.note).Done()
		}
	}
	for i, line := range framed {
		screen[y+i] = over(screen[y+i], line, x, w, l.w)
	}
	m.hands.cursor = nil
	if p.cursor {
		m.hands.cursor = tea.NewCursor(x+2+p.x, y+1+p.y)
	}
	return screen
}

// fill gives the whole of a small screen, but for its last line, to the dialog.
func (m *model) fill(screen []string) []string {
	h := max(m.lay.h-1, 0)
	p := m.hands.dialog.picture(m, m.lay.w, h)
	m.hands.cursor = nil
	if p.cursor && p.y < h {
		m.hands.cursor = tea.NewCursor(min(p.x, max(m.lay.w-1, 0)), p.y)
	}
	for i, line := range p.lines[:min(len(p.lines), h)] {
		p.lines[i] = over(m.th.Line(m.lay.w).Done(), line, 0, min(format.Width(line), m.lay.w), m.lay.w)
	}
	return append(m.th.Box(p.lines, m.lay.w, h), screen[h:]...)
}

// frameOf draws the frame around a picture: w cells in all.
func frameOf(sc *scene, p picture, w int) []string {
	st := sc.th.Dim
	if p.danger {
		st = sc.th.Warn
	}
	bar := strings.Repeat(sc.th.Glyphs.Rule, w-2)
	side := string(st) + sc.th.Upright + paint.Reset
	out := []string{sc.th.Line(w).Put(st, sc.th.Corners[0]+bar+sc.th.Corners[1]).Done()}
	for _, line := range p.lines {
		out = append(out, side+" "+line+" "+side)
	}
	return append(out, sc.th.Line(w).Put(st, sc.th.Corners[2]+bar+sc.th.Corners[3]).Done())
}

// over puts top, of w cells, over a line of all cells from column x on. A wide character
// that is covered in part becomes a blank.
func over(line, top string, x, w, all int) string {
	left, right := ansi.Cut(line, 0, x), ansi.Cut(line, x+w, all)
	if ansi.StringWidth(right) > all-x-w {
		right = ansi.Cut(line, x+w+1, all)
	}
	return left + paint.Reset + strings.Repeat(" ", x-ansi.StringWidth(left)) + top + paint.Reset +
		strings.Repeat(" ", max(all-x-w-ansi.StringWidth(right), 0)) + right
}
