package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/charmbracelet/x/ansi"

	"coordtop/internal/format"
	"coordtop/ui/paint"
)

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

// overlay puts a dialog, which draw draws within so many cells, over the lines of a screen, and
// returns where the cursor goes. alone: where there is little room nothing else is seen.
func overlay(sc *scene, screen []string, alone bool, draw func(w, h int) picture) ([]string, *tea.Cursor) {
	l := sc.lay
	if l.small {
		return fill(sc, screen, draw)
	}
	w, top := min(l.w-4, dialogWidth), l.header
	if alone = alone && (l.w < roomWidth || l.h < roomHeight); alone {
		top = 1
	}
	p := draw(w-4, l.h-top-3)
	w = 4
	if len(p.lines) > 0 {
		w += format.Width(p.lines[0])
	}
	framed := frameOf(sc, p, w)
	x, y := (l.w-w)/2, top+max((l.h-1-top-len(framed))/2, 0)
	if alone {
		blank := sc.th.Line(l.w).Done()
		for i := top; i < l.h-1; i++ {
			screen[i] = blank
		}
		y = top + max((l.h-1-top-len(framed))/3, 0)
		if under := y + len(framed) + 1; p.note != "" && under < l.h-1 {
			screen[under] = sc.th.Line(l.w).Skip(1).Put(sc.th.Dim, p.note).Done()
		}
	}
	for i, line := range framed {
		screen[y+i] = over(screen[y+i], line, x, w, l.w)
	}
	if !p.cursor {
		return screen, nil
	}
	return screen, tea.NewCursor(x+2+p.x, y+1+p.y)
}

// fill gives the whole of a small screen, but for its last line, to the dialog.
func fill(sc *scene, screen []string, draw func(w, h int) picture) (lines []string, cursor *tea.Cursor) {
	w, h := sc.lay.w, max(sc.lay.h-1, 0)
	p := draw(w, h)
	if p.cursor && p.y < h {
		cursor = tea.NewCursor(min(p.x, max(w-1, 0)), p.y)
	}
	for i, line := range p.lines[:min(len(p.lines), h)] {
		p.lines[i] = over(sc.th.Line(w).Done(), line, 0, min(format.Width(line), w), w)
	}
	return append(sc.th.Box(p.lines, w, h), screen[h:]...), cursor
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
