package lane

import (
	"cmp"
	"slices"
	"time"
)

// PieceKind is the state of a lane in a piece.
type PieceKind uint8

// The kinds of pieces.
const (
	Blank      PieceKind = iota // in the future, or unknown
	Owned                       // by the owner of Piece.Term
	Free                        // observed, and nobody owned it
	Unobserved                  // not observed
	Unrecorded                  // before the start of the record
	Unread                      // possibly recorded, but not read
	Absent                      // did not exist
)

// Piece is a stretch of a lane with one state. The stretch between two looks in which the state changed belongs to the
// earlier state.
type Piece struct {
	Span
	Kind PieceKind
	Term int // index in Lane.Terms if Owned; else -1
}

// Pieces cuts a span into pieces, which follow each other without a hole or an overlap: who owned it, when nobody did,
// when it was not observed, and what was not read. In a conflict of owners, the running term has the piece.
func (l *Lane) Pieces(s Span, now time.Time) []Piece {
	c := pieceBuilder{at: s.From, end: Earlier(s.To, now), lane: l, dark: l.Dark}
	first, last := l.within(s)
	for i := first; i < last; i++ {
		t := &l.Terms[i]
		c.vacant(t.Start.At, i > 0)
		end := t.End.At
		if t.End.How == Unknown {
			end = now
		}
		c.cover(end, Owned, i)
	}
	c.vacant(c.end, last > 0)
	c.at = Later(c.at, s.From)
	if c.at.Before(s.To) {
		c.pieces = append(c.pieces, Piece{Span{c.at, s.To}, Blank, -1})
	}
	return covered(c.pieces, l.Unread)
}

// covered returns pieces in which the given spans, oldest first, are Unread.
func covered(pieces []Piece, spans []Span) []Piece {
	if len(spans) == 0 {
		return pieces
	}
	var all []Piece
	add := func(p Piece, to time.Time) time.Time {
		if p.To = Earlier(p.To, to); p.From.Before(p.To) {
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
			p.From = add(Piece{p.Span, Unread, -1}, s.To)
		}
		add(p, p.To)
	}
	return all
}

// pieceBuilder appends pieces, each time until a given instant.
type pieceBuilder struct {
	at, end time.Time
	lane    *Lane
	dark    []Dark // the lane's dark stretches, without the first ones that are over
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
		c.piece(Earlier(Earlier(since, to), c.end), Unrecorded, -1)
	}
	free := Free
	switch nobody := c.lane.Nobody.At; {
	case known:
	case len(c.lane.Terms) > 0 || nobody.IsZero():
		free = Blank // not there yet, or its owners were unknown
	default:
		c.cover(Earlier(nobody, to), Blank, -1)
	}
	if a := c.lane.Absent; !a.IsZero() {
		c.cover(Earlier(a, to), free, -1)
		free = Absent
	}
	c.cover(to, free, -1)
}

// cover appends the pieces until an instant. Unobserved parts become dark pieces.
func (c *pieceBuilder) cover(to time.Time, k PieceKind, term int) {
	to = Earlier(to, c.end)
	c.dark = dropOver(c.dark, c.at)
	for from, until := range Observed(c.at, to, c.dark) {
		c.piece(from, Unobserved, -1)
		c.piece(until, k, term)
	}
	c.piece(to, Unobserved, -1)
}

// piece appends one piece, or extends the last one if both have the same state.
func (c *pieceBuilder) piece(to time.Time, k PieceKind, term int) {
	if !to.After(c.at) {
		return
	}
	if n := len(c.pieces) - 1; n >= 0 && c.pieces[n].Kind == k && c.pieces[n].Term == term {
		c.pieces[n].To = to
	} else {
		c.pieces = append(c.pieces, Piece{Span{c.at, to}, k, term})
	}
	c.at = to
}

// Share is the part of a span in which one owner owned the row. Owners are distinguished by hue.
type Share struct {
	Hue     uint8
	Label   string
	Owned   time.Duration // owned and observed
	Terms   int           // number of terms that touch the span
	Longest Interval      // the longest of their parts in the span
}

// Shares returns the share of each owner in a span, the largest first.
func (l *Lane) Shares(s Span, now time.Time) []Share {
	var shares []Share
	s = Span{From: Later(s.From, l.Since), To: Earlier(s.To, now)}
	dark := l.unobserved()
	first, last := l.within(s)
	for i := first; i < last; i++ {
		t := l.Terms[i].within(s, dark)
		if t.End.At.Equal(s.To) { // there its part in the span ends
			t.End.How = Seen
		}
		at := slices.IndexFunc(shares, func(s Share) bool { return s.Hue == t.Hue })
		if at < 0 {
			at, shares = len(shares), append(shares, Share{Hue: t.Hue})
		}
		one := &shares[at]
		held := t.Held()
		for from, to := range Observed(t.Start.At, t.End.Earliest(), dark) {
			one.Owned += to.Sub(from)
			held.Min = max(held.Min, to.Sub(from)) // if the uncertainty lies after the span
		}
		one.Label, one.Longest = t.Owner.Label, one.Longest.or(held)
		one.Terms++
	}
	slices.SortStableFunc(shares, func(a, b Share) int { return cmp.Compare(b.Owned, a.Owned) })
	return shares
}
