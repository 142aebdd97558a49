package paint

import (
	"coordtop/internal/ground/format"
)

// Grid is a small table in a pane, as wide as its contents. Empty columns are left out. If there is
// no room, the columns in Leave are dropped in that order, and then the last column is cut. The
// first column is for a letter.
type Grid struct {
	Heads []string
	Right []bool // numbers
	Leave []int  // columns that may go

	Selected int // the number of the row under the cursor, from 1; 0: none is

	rows [][]Part
}

// Add adds a row: a cell for each head.
func (g *Grid) Add(cells ...Part) { g.rows = append(g.rows, cells) }

// Lines draws the heading and the rows in w cells, indented.
func (g *Grid) Lines(th *Theme, w, indent int) []string {
	widths := g.widths(w - indent)
	head := th.Line(w).Skip(indent)
	for i, n := range widths {
		if n > 0 {
			g.cell(head, i, n, th.Dim.Text(g.Heads[i]))
		}
	}
	out := []string{head.Done()}
	for n, row := range g.rows {
		l := th.Line(w).Cursor(n+1 == g.Selected).Skip(indent - 1)
		for i, c := range row {
			if widths[i] > 0 {
				g.cell(l, i, widths[i], c)
			}
		}
		out = append(out, l.Done())
	}
	return out
}

// widths returns the cells that each column takes; 0: the column is left out.
func (g *Grid) widths(room int) []int {
	widths := make([]int, len(g.Heads))
	for _, row := range g.rows {
		for i, c := range row {
			widths[i] = max(widths[i], format.Width(c.Text))
		}
	}
	total := 0
	for i, n := range widths {
		if n > 0 {
			widths[i] = max(n, len(g.Heads[i]))
			total += widths[i] + gridGap(i)
		}
	}
	for _, i := range g.Leave {
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

// gridGap returns the number of empty cells behind a column.
func gridGap(i int) int {
	if i == 0 {
		return 1
	}
	return 2
}

func (g *Grid) cell(l *Line, i, w int, c Part) {
	over := l.Over
	if i == 0 && over == l.th.Selected { // the letter keeps its colour under the cursor
		l.Over += c.Style
	}
	if i < len(g.Right) && g.Right[i] {
		l.Right(c.Style, c.Text, w)
	} else {
		l.Cell(c.Style, c.Text, w)
	}
	l.Over = over
	l.Skip(gridGap(i))
}
