package screen

import (
	"coordtop/internal/ground/format"
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

// columnEntry is what there is to know of a column.
type columnEntry struct {
	head   string
	right  bool // its texts stand on the right, as numbers do
	gap    int  // blanks before it: fewer where numbers bring their own
	least  int  // cells that it needs
	narrow bool // the long strip has its cells
	bare   bool // the cursor does not stand over it
	draw   func(p *locksPane, l *paint.Line, r *locksRow, w int)
}

// columnTable are the columns, from left to right.
var columnTable = [columnCount]columnEntry{
	colName: {head: "NAME", least: 18, draw: (*locksPane).name},
	colSource: {head: "SOURCE", gap: 2, least: 7, narrow: true, draw: func(p *locksPane, l *paint.Line, r *locksRow, w int) {
		l.Cell(p.Theme.Dim, paint.Clean(r.Source), w)
	}},
	colKind: {head: "KIND", gap: 2, least: 9, narrow: true, draw: func(p *locksPane, l *paint.Line, r *locksRow, w int) {
		l.Cell(p.Theme.Dim, kindOf(p.Scene, r.Row), w)
	}},
	colOwner: {head: "  OWNER", gap: 2, least: 16, draw: (*locksPane).owner},
	colSince: {head: "SINCE", right: true, gap: 1, least: 7, draw: func(p *locksPane, l *paint.Line, r *locksRow, w int) {
		l.Right(r.plain, sinceText(p.Scene, r.Row, r.v), w)
	}},
	colLease:   {head: "LEASE", gap: 2, least: 7, narrow: true, draw: (*locksPane).lease},
	colWait:    {head: "WAIT", right: true, gap: 1, least: 4, draw: (*locksPane).wait},
	colChanges: {head: "CHG", right: true, gap: 1, least: 4, narrow: true, draw: (*locksPane).changes},
	colStrip:   {gap: 2, least: 8, bare: true, draw: (*locksPane).strip},
}

// step changes one column to that many cells.
type step struct {
	column
	cells int
}

// narrowing are the steps where the columns have no room, until they have: names and owners lose
// what is more than they need, others go. Those that never go are, with the mark, the state.
var narrowing = [...]step{
	{colKind, 0}, {colSource, 0}, {colStrip, 0}, {colName, 18}, {colOwner, 16}, {colChanges, 0}, {colLease, 0}, {colSince, 0},
}

// widening are the steps that give spare cells away, as long as there are any: up to that many, and
// no more than the texts of the column take, if that is known.
var widening = [...]step{
	{colName, 22}, {colStrip, 16}, {colLease, 13}, {colStrip, 20}, {colName, 26},
	{colOwner, 22}, {colStrip, 53}, {colName, 48}, {colOwner, 38}, {colStrip, 1000},
}

// Longest has the cells that the longest texts take.
type Longest struct {
	width               int    // of the screen
	rev                 uint64 // of the state in which they were looked for last; 0: in none
	source, name, owner int
	both                int // a name and its alias
}

// longestMax is how many cells they are given at most before others get theirs.
var longestMax = Longest{source: 16, name: 26, owner: 20}

// of is the most cells that a text of a column takes; 0: it is not measured.
func (need *Longest) of(c column) int {
	switch c {
	case colName:
		return max(need.name, need.both)
	case colOwner:
		return need.owner
	}
	return 0
}

// measuredRows is among how many rows the longest texts are looked for.
const measuredRows = 500

// measure finds the longest texts. They only grow, and only with the width of the screen
// they are forgotten: columns do not move to and fro with who owns what.
func (need *Longest) measure(sc *Scene) {
	if need.width != sc.Layout.Width {
		*need = Longest{width: sc.Layout.Width}
	}
	for i := range sc.State.Sources {
		need.source = max(need.source, format.Width(paint.Clean(sc.State.Sources[i].Name)))
	}
	before := need.rev
	need.rev = sc.State.Rev
	for _, row := range sc.State.Rows[:min(len(sc.State.Rows), measuredRows)] {
		if row == nil || before > 0 && row.Rev <= before {
			continue
		}
		name := format.Width(NameOf(sc, row.Ref))
		need.name = max(need.name, name)
		if alias := AliasOf(sc, row); alias != "" {
			need.both = max(need.both, name+2+format.Width(alias))
		}
		if row.Note != "" {
			need.owner = max(need.owner, 2+format.Width(paint.Clean(row.Note)))
		}
		if len(row.Owners) == 1 {
			need.owner = max(need.owner, 2+format.Width(ownerLabel(sc, row.Ref, &row.Owners[0], 0)))
		}
	}
}

// fitColumns shares w cells among the columns.
func fitColumns(w int, need Longest) columns {
	var c columns
	for col := range columnTable {
		c[col] = columnTable[col].least
	}
	c[colSource] = max(c[colSource], min(need.source, longestMax.source))
	c[colName] = max(c[colName], min(need.name, longestMax.name))
	c[colOwner] = max(c[colOwner], min(need.owner, longestMax.owner))
	for _, step := range narrowing {
		switch over := c.width() - w; {
		case over <= 0:
		case step.cells == 0:
			c[step.column] = 0
		default:
			c[step.column] = max(c[step.column]-over, step.cells)
		}
	}
	for _, step := range widening {
		upto := step.cells
		if n := need.of(step.column); n > 0 {
			upto = min(upto, n)
		}
		if spare := w - c.width(); spare > 0 && c[step.column] > 0 && c[step.column] < upto {
			c[step.column] += min(spare, upto-c[step.column])
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
			w += n + columnTable[col].gap
		}
	}
	return w
}

// Shape is how the columns share the screen.
type Shape uint8

const (
	ShapeNormal Shape = iota
	shapeWide         // whole names instead of the strip
	shapeNarrow       // a long strip instead of all columns
	Shapes
)

// String says what the shape does.
func (s Shape) String() string {
	return [...]string{"columns as they fit", "wide: names and owners in full, no strip", "narrow: fewer columns, a long strip"}[s]
}

// shaped gives the cells of some columns to others.
func (c columns) shaped(s Shape) columns {
	give := func(from column) int {
		spare := c[from]
		if c[from] = 0; spare > 0 {
			spare += columnTable[from].gap
		}
		return spare
	}
	switch s {
	case shapeWide:
		spare := give(colStrip)
		c[colName] += (spare + 1) / 2
		c[colOwner] += spare / 2
	case shapeNarrow:
		if c[colStrip] == 0 {
			return c
		}
		for col := range columnTable {
			if columnTable[col].narrow {
				c[colStrip] += give(column(col))
			}
		}
	}
	return c
}
