package timeline

import (
	"iter"
	"time"

	"coordtop/sources"
	"coordtop/sources/lane"
)

// Eighths is the height of a filled cell.
const Eighths = 8

// Profile writes the taken part of limit in each column to dst, as many cells as w has columns, and
// returns it. It draws the highest level of a column, so that a moment without a free permit never
// vanishes; it is Full only since l.Wanted. limit 0 means that none is known: the highest level of all is drawn as the whole.
// Nothing is drawn after now, nor before the first level. The lane has the stretches that were not
// observed or not read.
func (w Window) Profile(dst []Cell, levels iter.Seq[sources.Level], limit uint64, l Lane, now time.Time) []Cell {
	if !l.Since.IsZero() {
		l.Since = w.at(w.Column(l.Since)) // its column shows the levels from then on
	}
	dst = w.Strip(dst, Lane{Lane: lane.Lane{Since: l.Since, Dark: l.Dark, Unread: l.Unread}}, now)
	if len(dst) == 0 {
		return dst
	}
	p := painter{w: w, now: now, cells: dst}
	full := limit
	if limit == 0 {
		for l := range levels {
			full = max(full, l.High+1) // without a limit nothing is full
		}
	}
	var last sources.Level
	for l := range levels {
		p.level(last, l.At, full)
		last = l
	}
	p.level(last, now, full)
	for i := range dst {
		if dst[i].Head = false; dst[i].Kind == Full && (l.Wanted.IsZero() || !w.at(i+1).After(l.Wanted)) {
			dst[i].Kind = Taken // all permits, and nobody wanted another one
		}
	}
	w.mark(dst, l.Acts)
	return dst
}

// level raises the columns that a level touches.
func (p *painter) level(l sources.Level, until time.Time, full uint64) {
	if l.At.IsZero() {
		return
	}
	first, last := p.columns(l.At, until)
	for c := first; c <= last; c++ {
		cell := &p.cells[c]
		if cell.Kind == Dark || cell.Kind == Unread {
			continue
		}
		if l.Gone {
			if cell.Kind == Blank {
				*cell = Cell{Kind: Absent}
			}
			continue
		}
		height := eighths(l.High, full)
		if cell.Kind == Blank || cell.Kind == Absent {
			*cell = Cell{Kind: Taken}
		}
		cell.Height = max(cell.Height, height)
		if l.High >= full {
			cell.Kind = Full
		}
	}
}

// eighths returns n of full in eighths: 0 only for none, 8 only for all.
func eighths(n, full uint64) uint8 {
	switch {
	case n == 0 || full == 0:
		return 0
	case n >= full:
		return Eighths
	}
	return uint8(min(max(float64(n)/float64(full)*Eighths, 1), Eighths-1))
}
