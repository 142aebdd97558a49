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

// columnEntry describes a column.
type columnEntry struct {
	head   string
	right  bool // aligned on the right, as numbers are
	gap    int  // blanks before it
	least  int  // the least width
	narrow bool // shapeNarrow gives its cells to the strip
	bare   bool // the cursor does not cover it
	draw   func(p *locksPane, l *paint.Line, r *locksRow, w int)
}

// columnTable lists the columns, from left to right.
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

// step changes the width of a column.
type step struct {
	column
	cells int
}

// narrowing lists the steps for a lack of room, in order: names and owners shrink, other columns are
// left out. The name, the owner and the number of waiters always stay.
var narrowing = [...]step{
	{colKind, 0}, {colSource, 0}, {colStrip, 0}, {colName, 18}, {colOwner, 16}, {colChanges, 0}, {colLease, 0}, {colSince, 0},
}

// widening lists the steps that use spare cells, in order: a column grows to that width, but not beyond
// its longest text, if that is measured.
var widening = [...]step{
	{colName, 22}, {colStrip, 16}, {colLease, 13}, {colStrip, 20}, {colName, 26},
	{colOwner, 22}, {colStrip, 53}, {colName, 48}, {colOwner, 38}, {colStrip, 1000},
}

// Longest holds the widths of the longest texts.
type Longest struct {
	width               int    // of the screen
	rev                 uint64 // of the state that was measured last; 0: none
	source, name, owner int
	both                int // a name and its alias
}

// longestMax bounds the widths that columns get before the other columns get theirs.
var longestMax = Longest{source: 16, name: 26, owner: 20}

// measuredRows is the number of rows whose texts are measured.
const measuredRows = 500

// measure finds the longest texts. The widths only grow, and are forgotten when the width of the
// screen changes: columns must not move with each change of owner.
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
		upto, longest := step.cells, 0
		switch step.column {
		case colName:
			longest = max(need.name, need.both)
		case colOwner:
			longest = need.owner
		}
		if longest > 0 {
			upto = min(upto, longest)
		}
		if spare := w - c.width(); spare > 0 && c[step.column] > 0 && c[step.column] < upto {
			c[step.column] += min(spare, upto-c[step.column])
		}
	}
	if over := c.width() - w; over > 0 { // hardly any room: the name shrinks further
		c[colName] = max(c[colName]-over, 0)
	}
	return c
}

// width returns the width of all columns with mark and gaps.
func (c columns) width() int {
	w := markWidth
	for col, n := range c {
		if n > 0 {
			w += n + columnTable[col].gap
		}
	}
	return w
}

// Shape is a way to share the screen among the columns.
type Shape uint8

const (
	ShapeNormal Shape = iota
	shapeWide         // whole names instead of the strip
	shapeNarrow       // a long strip instead of all columns
	Shapes
)

// String describes the shape.
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
