package timeline

import (
	"cmp"
	"slices"
	"time"

	"coordtop/sources"
)

// Piece is a stretch of a lane in which one thing was so: [From, To).
type Piece struct {
	From, To time.Time
	Kind     CellKind // Owned, Idle, Dark, Absent, Unread, or Blank for what lies ahead, or is not told
	Term     int      // index in Lane.Terms, where Owned; else -1
}

// Pieces cuts the window into pieces, which follow each other without a hole or an overlap: who
// owned it, when nobody did, when it was not observed, and what was not read, to the nanosecond. Of several owners
// of what only one may own it has the term that runs.
func (w Window) Pieces(l Lane, now time.Time) []Piece {
	c := pieceBuilder{at: w.Start, end: sources.Earlier(w.End(), now), lane: &l, dark: l.Dark}
	first, last := w.within(l.Terms)
	for i := first; i < last; i++ {
		t := &l.Terms[i]
		c.vacant(t.Start.At, i > 0)
		end := t.End.At
		if end.IsZero() {
			end = now
		}
		c.cover(end, Owned, i)
	}
	c.vacant(c.end, last > 0)
	c.at = sources.Later(c.at, w.Start)
	if end := w.End(); c.at.Before(end) {
		c.pieces = append(c.pieces, Piece{c.at, end, Blank, -1})
	}
	return covered(c.pieces, l.Unread)
}

// covered is pieces with spans, the oldest first, that are unread.
func covered(pieces []Piece, spans []Span) []Piece {
	if len(spans) == 0 {
		return pieces
	}
	var all []Piece
	add := func(p Piece, to time.Time) time.Time {
		if p.To = sources.Earlier(p.To, to); p.From.Before(p.To) {
			all = append(all, p)
		}
		return p.To
	}
	for _, p := range pieces {
		for _, s := range spans {
			if !s.To.After(p.From) || !s.From.Before(p.To) {
				continue
			}
			if p.From.Before(s.From) {
				p.From = add(p, s.From)
			}
			p.From = add(Piece{p.From, p.To, Unread, -1}, s.To)
		}
		add(p, p.To)
	}
	return all
}

// pieceBuilder appends pieces up to an instant at a time.
type pieceBuilder struct {
	at, end time.Time
	lane    *Lane
	dark    []sources.Dark // the lane's stretches, but for the first ones that are over
	pieces  []Piece
}

// vacant covers a stretch without a term: nobody owned it, or nothing was recorded yet. known
// reports whether a term came before.
func (c *pieceBuilder) vacant(to time.Time, known bool) {
	if !known {
		since := c.lane.Since
		if since.IsZero() {
			since = to
		}
		c.cover(sources.Earlier(since, to), Dark, -1)
	}
	free := Idle
	switch nobody := c.lane.Nobody.At; {
	case known:
	case len(c.lane.Terms) > 0 || nobody.IsZero():
		free = Blank // it was not there yet, or its owners were not told
	default:
		c.cover(sources.Earlier(nobody, to), Blank, -1)
	}
	if a := c.lane.Absent; !a.IsZero() {
		c.cover(sources.Earlier(a, to), free, -1)
		c.cover(to, Absent, -1)
		return
	}
	c.cover(to, free, -1)
}

// cover appends the pieces up to an instant: what was not observed of it is dark.
func (c *pieceBuilder) cover(to time.Time, m CellKind, term int) {
	to = sources.Earlier(to, c.end)
	for len(c.dark) > 0 && !endOf(c.dark[0], c.end).After(c.at) {
		c.dark = c.dark[1:]
	}
	for from, until := range sources.Observed(c.at, to, c.dark) {
		c.piece(from, Dark, -1)
		c.piece(until, m, term)
	}
	c.piece(to, Dark, -1)
}

// piece appends one piece, or makes the last one longer where that says the same.
func (c *pieceBuilder) piece(to time.Time, m CellKind, term int) {
	if !to.After(c.at) {
		return
	}
	if n := len(c.pieces) - 1; n >= 0 && c.pieces[n].Kind == m && c.pieces[n].Term == term {
		c.pieces[n].To = to
	} else {
		c.pieces = append(c.pieces, Piece{c.at, to, m, term})
	}
	c.at = to
}

// Observed is how much of a stretch was observed.
func Observed(pieces []Piece, from, to time.Time) time.Duration {
	var d time.Duration
	for _, p := range pieces {
		if p.Kind != Dark && p.Kind != Unread {
			d += max(sources.Earlier(to, p.To).Sub(sources.Later(from, p.From)), 0)
		}
	}
	return d
}

// Sum is what happened in a window, of one lane or of several.
type Sum struct {
	Changes int           // terms whose beginning was seen
	Gaps    int           // stretches in which nobody was seen to own it
	Nobody  time.Duration // all of them
	Longest time.Duration // of them
	Owned   time.Duration
	Unseen  time.Duration // not observed, or not recorded
	Unread  time.Duration // not read of a recording
}

// Sum sums up a window.
func (w Window) Sum(l Lane, now time.Time) Sum {
	first, last := w.within(l.Terms)
	if last-first == 1 && w.calm(&l, &l.Terms[first], now) { // as most lanes are, of which there may be many
		return Sum{Owned: sources.Earlier(w.End(), now).Sub(w.Start)}
	}
	s := Sum{Changes: sources.Changes(l.Terms[first:last], w.Start)}
	for _, p := range w.Pieces(l, now) {
		d := p.To.Sub(p.From)
		switch p.Kind {
		case Owned:
			s.Owned += d
		case Dark:
			s.Unseen += d
		case Unread:
			s.Unread += d
		case Idle:
			s.Gaps++
			s.Nobody += d
			s.Longest = max(s.Longest, d)
		}
	}
	return s
}

// calm reports whether a term began before the window, goes on for all of it, and all of that is known.
func (w Window) calm(l *Lane, t *sources.Term, now time.Time) bool {
	end := sources.Earlier(w.End(), now)
	return t.Start.At.Before(w.Start) && (t.End.At.IsZero() || !t.End.At.Before(end)) && w.Start.Before(end) &&
		!slices.ContainsFunc(l.Dark, func(d sources.Dark) bool { return d.From.Before(end) && endOf(d, now).After(w.Start) }) &&
		!slices.ContainsFunc(l.Unread, func(u Span) bool { return u.From.Before(w.End()) && u.To.After(w.Start) })
}

// Share is what one owner had of a window. Owners are told apart by hue.
type Share struct {
	Hue     uint8
	Label   string
	Owned   time.Duration
	Terms   int // that touch the window
	Longest time.Duration
}

// Shares sums up the window by owner, the one that owned it longest first.
func (w Window) Shares(l Lane, now time.Time) []Share {
	var shares []Share
	of := func(t *sources.Term) *Share {
		for i := range shares {
			if shares[i].Hue == t.Hue {
				return &shares[i]
			}
		}
		shares = append(shares, Share{Hue: t.Hue, Label: t.Owner.Label})
		return &shares[len(shares)-1]
	}
	first, last := w.within(l.Terms)
	owned := make([]time.Duration, last-first)
	for _, p := range w.Pieces(l, now) {
		if p.Kind == Owned {
			owned[p.Term-first] += p.To.Sub(p.From)
		}
	}
	for i := range owned {
		s := of(&l.Terms[first+i])
		s.Owned += owned[i]
		s.Terms++
		s.Longest = max(s.Longest, owned[i])
		s.Label = l.Terms[first+i].Owner.Label
	}
	slices.SortStableFunc(shares, func(a, b Share) int { return cmp.Compare(b.Owned, a.Owned) })
	return shares
}
