package ui

import (
	"coordtop/internal/format"

	"coordtop/ui/paint"
)

// column is a column of the list.
type column uint8

const (
	colName column = iota
	colSource
	colKind
	colOwner
	colSince
	colLease
	colWait
	colChanges
	colStrip
	columnCount
)

// columns holds the width of each column in cells; 0: it is not shown.
type columns [columnCount]int

const markWidth = 3 // blank, state mark, blank

// What each column needs, and the blanks before it: fewer where numbers stand on the
// right and bring their own.
var (
	columnMin = columns{colName: 18, colSource: 7, colKind: 9, colOwner: 16, colSince: 7, colLease: 7, colWait: 4, colChanges: 4, colStrip: 8}
	columnGap = columns{colSource: 2, colKind: 2, colOwner: 2, colSince: 1, colLease: 2, colWait: 1, colChanges: 1, colStrip: 2}
)

// columnsLeave is the order in which columns go when there is no room for the names and
// owners that there are. These and the wait never go: with the mark they are the state.
var columnsLeave = [...]column{colKind, colSource, colStrip, colName, colOwner, colChanges, colLease, colSince}

// columnsGrow says how spare cells are given away: each column in turn, up to a width.
var columnsGrow = [...]struct {
	column
	upto int
}{
	{colName, 22}, {colStrip, 16}, {colLease, 13}, {colStrip, 20}, {colName, 26}, {colOwner, 22}, {colStrip, 53},
	{colName, 48}, {colOwner, 38}, {colStrip, 150},
}

// longest is how many cells the longest texts take that there are.
type longest struct {
	width               int    // of the screen
	rev                 uint64 // of the state in which they were looked for last; 0: in none
	source, name, owner int
}

// longestMax is how many cells they are given at most before others get theirs.
var longestMax = longest{source: 16, name: 26, owner: 20}

// measuredRows is among how many rows the longest texts are looked for.
const measuredRows = 500

// measure finds the longest texts. They only grow, and only with the width of the screen
// they are forgotten: columns do not move to and fro with who owns what.
func (need *longest) measure(sc *scene) {
	if need.width != sc.lay.w {
		*need = longest{width: sc.lay.w}
	}
	for i := range sc.st.Sources {
		need.source = max(need.source, format.Width(paint.Clean(sc.st.Sources[i].Name)))
	}
	before := need.rev
	need.rev = sc.st.Rev
	for _, row := range sc.st.Rows[:min(len(sc.st.Rows), measuredRows)] {
		if need.name >= longestMax.name && need.owner >= longestMax.owner {
			return
		}
		if row == nil || before > 0 && row.Rev <= before {
			continue
		}
		need.name = max(need.name, format.Width(paint.Clean(row.Name)))
		if len(row.Owners) == 1 {
			need.owner = max(need.owner, 2+format.Width(ownerLabel(sc, row.Ref, &row.Owners[0], 0)))
		}
	}
}

// fitColumns shares w cells among the columns.
func fitColumns(w int, need longest) columns {
	c := columnMin
	c[colSource] = max(c[colSource], min(need.source, longestMax.source))
	c[colName] = max(c[colName], min(need.name, longestMax.name))
	c[colOwner] = max(c[colOwner], min(need.owner, longestMax.owner))
	for _, col := range columnsLeave {
		over := c.width() - w
		switch {
		case over <= 0:
		case col == colName || col == colOwner:
			c[col] = max(c[col]-over, columnMin[col])
		default:
			c[col] = 0
		}
	}
	for _, g := range columnsGrow {
		if spare := w - c.width(); spare > 0 && c[g.column] > 0 && c[g.column] < g.upto {
			c[g.column] += min(spare, g.upto-c[g.column])
		}
	}
	if over := c.width() - w; over > 0 { // hardly any room: the name gives way
		c[colName] = max(c[colName]-over, 0)
	}
	return c
}

// width is how many cells the columns take together, with mark and gaps.
func (c columns) width() int {
	w := markWidth
	for col, n := range c {
		if n > 0 {
			w += n + columnGap[col]
		}
	}
	return w
}

// shape is how the columns share the screen.
type shape uint8

const (
	shapeNormal shape = iota
	shapeWide         // whole names instead of the strip
	shapeNarrow       // a long strip instead of all columns
	shapes
)

func (s shape) String() string {
	return [...]string{"columns as they fit", "wide: names and owners in full, no strip", "narrow: fewer columns, a long strip"}[s]
}

// shaped gives the cells of some columns to others.
func (c columns) shaped(s shape) columns {
	give := func(from column, left int) int {
		if c[from] == 0 {
			return 0
		}
		spare := max(c[from]-left, 0)
		if c[from] -= spare; c[from] == 0 {
			spare += columnGap[from]
		}
		return spare
	}
	switch s {
	case shapeWide:
		spare := give(colStrip, 0)
		c[colName] += (spare + 1) / 2
		c[colOwner] += spare / 2
	case shapeNarrow:
		if c[colStrip] == 0 {
			return c
		}
		for _, col := range []column{colSource, colKind, colLease, colChanges} {
			if c[col] > 0 {
				c[colStrip] += give(col, 0)
			}
		}
	}
	return c
}
