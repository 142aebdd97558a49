package ui

import (
	"coordtop/internal/format"
)

// grid is a small table in a pane: as wide as what it holds. Columns in which nothing
// stands are left out, and a column that does not fit is cut. The first column is for
// a letter.
type grid struct {
	heads []string
	right []bool // numbers
	rows  [][]part
}

// add adds a row: a cell for each head.
func (g *grid) add(cells ...part) { g.rows = append(g.rows, cells) }

// lines draws the heading and the rows in w cells, indented.
func (g *grid) lines(th *theme, w, indent int) []string {
	widths := make([]int, len(g.heads))
	for _, row := range g.rows {
		for i, c := range row {
			widths[i] = max(widths[i], format.Width(c.text))
		}
	}
	head := th.line(w).skip(indent)
	for i, n := range widths {
		if n == 0 {
			continue
		}
		widths[i] = max(n, len(g.heads[i]))
		g.cell(head, i, widths[i], part{th.dim, g.heads[i]})
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

func (g *grid) cell(l *line, i, w int, c part) {
	if g.right[i] {
		l.right(c.st, c.text, w)
	} else {
		l.cell(c.st, c.text, w)
	}
	if i == 0 {
		l.skip(1)
	} else {
		l.skip(2)
	}
}
