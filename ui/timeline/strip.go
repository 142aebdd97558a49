package timeline

import (
	"time"

	"coordtop/sources"
	"coordtop/sources/lane"
)

// CellKind is the meaning of a cell of a strip.
type CellKind uint8

// The kinds of cells.
const (
	Blank      CellKind = iota // it lies ahead, or its owners were not told
	Owned                      // by the owner with the cell's hue
	Idle                       // observed, and nobody owned it, which is no trouble
	Leaderless                 // observed, and nobody owned for long what should be owned
	Break                      // observed, and nobody owned it for a moment: a hand-over
	Dark                       // not observed, not recorded or dropped
	Taken                      // a part of the permits, to the cell's Height
	Full                       // no permit was left while somebody waited
	Absent                     // it does not exist
	Conflict                   // several own what only one may own
	Unread                     // it may be recorded, and was not read
)

// Cell is one column of a strip.
type Cell struct {
	Kind   CellKind
	Hue    uint8 // of the owner, where Owned
	Head   bool  // the first cell of a run of equal cells, which has the letter or sign
	Height uint8 // in eighths, where Taken or Full; 0: none
	Many   bool  // more happened than a cell can show
	Acted  bool  // we did something
	Edge   Edge  // of a run that begins or ends in the middle of the cell
	term   int
}

// Edge is the part of a cell that a run takes.
type Edge uint8

// The edges.
const (
	Whole Edge = iota
	Left       // the run ends in the middle of the cell
	Right      // it begins there
)

// Span is a stretch of time: [From, To).
type Span = lane.Span

// Lane is a lane.Lane with options for drawing it.
type Lane struct {
	lane.Lane
	Trouble bool          // gaps are trouble
	Gap     time.Duration // a gap up to this length is a break, no trouble
	GapPart float64       // and so is a gap up to this part of a column
	Wanted  time.Time     // since when somebody waits for a permit; zero: nobody is known to
	Several time.Time     // since when several own what only one may own; zero: they do not
	Acts    []time.Time   // when we did something
	Halves  bool          // a run that begins or ends in the middle of a cell takes half of the cell
}

// Strip writes the cells of a lane to dst, as many as w has columns, and returns it.
// Nothing is drawn after now.
func (w Window) Strip(dst []Cell, l Lane, now time.Time) []Cell {
	l.Lane = l.Within(w.Stretch())
	l.Terms = w.Sparse(l, now)
	return w.strip(dst, l, now)
}

// strip is Strip for a lane that is cut to the window.
func (w Window) strip(dst []Cell, l Lane, now time.Time) []Cell {
	dst = append(dst[:0], make([]Cell, max(w.Columns, 0))...)
	if len(dst) == 0 {
		return dst
	}
	p := painter{w: w, now: now, cells: dst, starts: make([]uint8, len(dst))}
	p.terms(l.Terms)
	p.eachGap(l, func(from, to time.Time) { p.paint(from, to, Cell{Kind: Idle}, false) }) // over ends of terms
	if !l.Absent.IsZero() {
		p.paint(l.Absent, now, Cell{Kind: Absent}, true)
	}
	if !l.Several.IsZero() {
		p.paint(l.Several, now, Cell{Kind: Conflict}, true)
	}
	for _, d := range l.Dark {
		p.paint(d.From, endOf(d.To, now), Cell{Kind: Dark}, true)
	}
	p.unseen(l)
	if l.Halves {
		p.halves(l.Terms)
	}
	if l.Trouble {
		for _, free := range l.Pieces(Span{To: now}, now) {
			if free.Kind == lane.Free {
				p.vacant(&l, free.From, free.To)
			}
		}
	}
	for _, u := range l.Unread {
		p.paint(u.From, u.To, Cell{Kind: Unread}, true)
	}
	p.atNow(l)
	p.crowds(l.Terms)
	heads(dst)
	w.mark(dst, l.Acts)
	return dst
}

// mark marks the columns in which we acted. The letter of an owner whose run begins there moves to
// the next column of the run.
func (w Window) mark(cells []Cell, acts []time.Time) {
	for _, at := range acts {
		c := w.Column(at)
		if c < 0 || c >= len(cells) {
			continue
		}
		if cells[c].Head && runsOn(cells, c) {
			cells[c+1].Head = true
		}
		cells[c].Acted = true
	}
}

// atNow marks the present column, which may have only begun, for states that are not terms.
func (p *painter) atNow(l Lane) {
	c := p.w.Column(p.now)
	if c < 0 || c >= len(p.cells) || p.cells[c].Kind == Dark || p.cells[c].Kind == Unread {
		return
	}
	switch {
	case !l.Absent.IsZero():
		p.cells[c] = Cell{Kind: Absent}
	case !l.Several.IsZero():
		p.cells[c] = Cell{Kind: Conflict}
	}
}

type painter struct {
	w      Window
	now    time.Time
	cells  []Cell
	starts []uint8 // terms that began in a column
}

// terms paints each term over the columns it touches, later ones over earlier ones: a
// column with one change of owner shows the new one.
func (p *painter) terms(terms []sources.Term) {
	for i, t := range terms {
		from, to := t.Start.At, endOf(t.End.At, p.now)
		if c := p.w.Column(from); c >= 0 && c < len(p.cells) && t.Start.Happened() {
			p.starts[c] += min(1, 255-p.starts[c])
		}
		first, last := p.columns(from, to)
		for c := first; c <= last; c++ {
			p.cells[c] = Cell{Kind: Owned, Hue: t.Hue, term: i + 1}
		}
	}
}

// eachGap calls f for every stretch in which nobody owned it.
func (p *painter) eachGap(l Lane, f func(from, to time.Time)) {
	for i, t := range l.Terms {
		if t.End.At.IsZero() {
			continue
		}
		to := p.now
		if i+1 < len(l.Terms) {
			to = l.Terms[i+1].Start.At
		}
		f(t.End.At, to)
	}
	if len(l.Terms) == 0 && !l.Nobody.At.IsZero() {
		f(l.Nobody.At, p.now)
	}
}

// unseen paints the time without a record, and the time before the first owner: Idle if the first
// owner was seen to begin.
func (p *painter) unseen(l Lane) {
	since, first := l.Since, l.Nobody
	if len(l.Terms) > 0 {
		first = l.Terms[0].Start
	}
	if since.IsZero() {
		since = p.now
	}
	for i := 0; i < len(p.cells) && p.w.at(i).Before(sources.Later(since, first.At)) && p.w.at(i).Before(p.now); i++ {
		switch {
		case p.cells[i].Kind != Blank:
		case first.Happened() && !p.w.at(i).Before(since):
			p.cells[i] = Cell{Kind: Idle}
		default:
			p.cells[i] = Cell{Kind: Dark}
		}
	}
}

// vacant paints an observed stretch without an owner: trouble if it is longer than a break of this
// lane. Both always take at least one cell.
func (p *painter) vacant(l *Lane, from, to time.Time) {
	c := Cell{Kind: Break}
	if d := sources.Earlier(to, p.now).Sub(from); d > l.Gap && d > time.Duration(l.GapPart*float64(p.w.Step)) {
		c.Kind = Leaderless
	}
	p.paint(from, to, c, true)
}
