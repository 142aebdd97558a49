package ui

import (
	"coordtop/internal/format"
)

// grid is a small table in a pane: as wide as what it holds. Columns in which nothing
// stands are left out; where there is no room, those named in leave go, in that order,
// and then what stands last is cut. The first column is for a letter.
type grid struct {
	heads []string
	right []bool // numbers
	leave []int  // columns that may go
	rows  [][]part
}

// add adds a row: a cell for each head.
func (g *grid) add(cells ...part) { g.rows = append(g.rows, cells) }

// lines draws the heading and the rows in w cells, indented.
func (g *grid) lines(th *theme, w, indent int) []string {
	widths := g.widths(w - indent)
	head := th.line(w).skip(indent)
	for i, n := range widths {
		if n > 0 {
			g.cell(head, i, n, part{th.dim, g.heads[i]})
		}
	}
	out := []string{head.done()}
	for _, row := range g.rows {
		l := th.line(w).skip(indent)
		for i, c := range row {
			if widths[i] > 0 {
				g.cell(l, i, widths[i], c)
			}
		}
		out = append(out, l.done())
	}
	return out
}

// widths is how many cells each column takes; 0: it is not there.
func (g *grid) widths(room int) []int {
	widths := make([]int, len(g.heads))
	for _, row := range g.rows {
		for i, c := range row {
			widths[i] = max(widths[i], format.Width(c.text))
		}
	}
	total := 0
	for i, n := range widths {
		if n > 0 {
			widths[i] = max(n, len(g.heads[i]))
			total += widths[i] + gridGap(i)
		}
	}
	for _, i := range g.leave {
		if total-2 <= room { // nothing follows the last one
			break
		}
		if widths[i] > 0 {
			total -= widths[i] + gridGap(i)
			widths[i] = 0
		}
	}
	return widths
}

// gridGap is how many cells stay empty behind a column.
func gridGap(i int) int {
	if i == 0 {
		return 1
	}
	return 2
}

func (g *grid) cell(l *line, i, w int, c part) {
	if i < len(g.right) && g.right[i] {
		l.right(c.st, c.text, w)
	} else {
		l.cell(c.st, c.text, w)
	}
	l.skip(gridGap(i))
}
