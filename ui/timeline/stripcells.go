package timeline

import (
	"slices"
	"time"

	"coordtop/sources"
)

// columns returns the first and last column that [from, to) touches, at least the one
// in which from lies; first > last if none is visible.
func (p *painter) columns(from, to time.Time) (first, last int) {
	to = sources.Earlier(to, p.now)
	if !to.After(p.w.Start) && !to.Equal(from) || from.After(p.now) {
		return 0, -1
	}
	last = p.w.Column(to)
	if last >= 0 && to.After(from) && to.Equal(p.w.at(last)) && !to.Equal(p.now) {
		last-- // to is not part of it
	}
	return max(p.w.Column(from), 0), min(last, len(p.cells)-1)
}

// paint sets the columns of which [from, to) covers at least half. If it covers half of none and
// keep is set, paint sets the column of which it covers most.
func (p *painter) paint(from, to time.Time, c Cell, keep bool) {
	to = sources.Earlier(to, p.now)
	if !to.After(from) || !to.After(p.w.Start) {
		return
	}
	first, last := p.columns(from, to)
	best, most, painted := -1, time.Duration(0), false
	for i := first; i <= last; i++ {
		a, b := p.w.at(i), p.w.at(i+1)
		whole := min(p.w.Step, p.now.Sub(a)) // the last column has only begun
		covered := sources.Earlier(to, b).Sub(sources.Later(from, a))
		if covered*2 > whole || covered*2 == whole && from.After(a) { // of two halves, the first
			p.cells[i], painted = c, true
		}
		if covered > most {
			best, most = i, covered
		}
	}
	if keep && !painted && best >= 0 {
		p.cells[best] = c
	}
}

// crowds marks the columns that hide a term: several terms began there, or the only one was painted
// over and does not show in the next column either.
func (p *painter) crowds(terms []sources.Term) {
	for c, n := range p.starts {
		p.cells[c].Many = n > 1
	}
	for i, t := range terms {
		c := p.w.Column(t.Start.At)
		if c < 0 || c >= len(p.cells) || !t.Start.Happened() || p.cells[c].term == i+1 {
			continue
		}
		if c+1 == len(p.cells) || p.cells[c+1].term != i+1 {
			p.cells[c].Many = true
		}
	}
}

// heads marks the first cell of each run, or the next one if the first is half a cell.
func heads(cells []Cell) {
	for i := range cells {
		cells[i].Head = i == 0 || !runsOn(cells, i-1) || cells[i-1].Many || cells[i-1].Edge == Right
	}
	for i := range cells {
		if cells[i].Edge == Right && runsOn(cells, i) {
			cells[i].Head = false
		}
	}
}

// runsOn reports whether the run of a cell continues in the next one.
func runsOn(cells []Cell, i int) bool {
	return i+1 < len(cells) && cells[i+1].Kind == cells[i].Kind && cells[i+1].term == cells[i].term
}

// halves lets runs begin and end in the middle of a cell if that is more exact than at its edge.
// A run ends in the middle only if no other run begins in the cell.
func (p *painter) halves(terms []sources.Term) {
	for i := range terms {
		t := &terms[i]
		if c, ok := p.half(t.Start.At); ok && t.Start.Happened() && p.bare(c, i+1) {
			p.cells[c] = Cell{Kind: Owned, Hue: t.Hue, term: i + 1, Edge: Right}
		}
		if t.End.At.IsZero() {
			continue
		}
		if c, ok := p.half(t.End.At); ok && p.bare(c, i+1) && p.w.Column(t.Start.At) != c {
			p.cells[c] = Cell{Kind: Owned, Hue: t.Hue, term: i + 1, Edge: Left}
		}
	}
}

// half returns the column in which t lies; ok reports whether t lies in the middle half of it.
func (p *painter) half(t time.Time) (column int, ok bool) {
	c := p.w.Column(t)
	if c < 0 || c >= len(p.cells) || !t.Before(p.now) {
		return 0, false
	}
	part := t.Sub(p.w.at(c))
	return c, part >= p.w.Step/4 && part < p.w.Step*3/4
}

// bare reports whether a cell shows no owner, or only the term itself.
func (p *painter) bare(c, term int) bool {
	cell := &p.cells[c]
	return p.starts[c] < 2 && (cell.Kind == Idle || cell.Kind == Blank || cell.Kind == Owned && cell.term == term && p.besideIdle(c))
}

// besideIdle reports whether a cell beside c shows that nobody owns it.
func (p *painter) besideIdle(c int) bool {
	idle := func(i int) bool {
		return i >= 0 && i < len(p.cells) && (p.cells[i].Kind == Idle || p.cells[i].Kind == Blank)
	}
	return idle(c-1) || idle(c+1)
}

// crowd is the number of terms in a column from which on most of them are left out.
const crowd = 8

// Sparse leaves out terms of crowded columns that change no cell. Of the terms that begin in such a
// column it keeps the first two, the last two, and those beside the last gap and beside gaps of at
// least half a column. The term before omitted ones is extended over them. Sparse is much cheaper
// than painting all terms.
func (w Window) Sparse(l Lane, now time.Time) []sources.Term {
	terms := l.Terms
	if len(terms) < crowd {
		return terms
	}
	gap := func(i int) time.Duration { return terms[i+1].Start.At.Sub(terms[i].End.At) }
	kept := make([]sources.Term, 0, min(len(terms), crowd*w.Columns))
	for i, n := 0, 0; i < len(terms); i += n {
		c := w.Column(terms[i].Start.At)
		from, to := w.at(c), w.at(c+1)
		for n = 1; i+n < len(terms) && terms[i+n].Start.At.Before(to); n++ {
		}
		dark := func(d sources.Dark) bool { return d.From.Before(to) && endOf(d.To, now).After(from) }
		if n < crowd || c < 0 || slices.ContainsFunc(l.Dark, dark) {
			kept = append(kept, terms[i:i+n]...)
			continue
		}
		last := i + n - 2 // the one before the last gap
		for last > i && gap(last) <= 0 {
			last--
		}
		for j := i; j < i+n; j++ {
			if j < i+2 || j >= i+n-2 || j == last || j == last+1 || gap(j)*2 >= w.Step || gap(j-1)*2 >= w.Step {
				kept = append(kept, terms[j])
			} else {
				kept[len(kept)-1].End = terms[j+1].Start
			}
		}
	}
	return kept
}

// endOf returns the end of a term or of a stretch without observation: now, while it lasts.
func endOf(to, now time.Time) time.Time {
	if to.IsZero() {
		return now
	}
	return to
}
