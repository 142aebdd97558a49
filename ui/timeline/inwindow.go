package timeline

import (
	"slices"
	"sort"
	"time"

	"coordtop/sources"
)

// inWindow leaves of a lane what touches the window: the terms in it, the one before them, whose end
// begins a gap, and the one behind them, which ends one. Searching takes no longer for a long past.
func (w Window) inWindow(l Lane, now time.Time) Lane {
	first, last := w.within(l.Terms)
	l.Terms = l.Terms[max(first-1, 0):min(last+1, len(l.Terms))]
	end := w.End()
	from := sort.Search(len(l.Dark), func(i int) bool { return !l.Dark[i].From.Before(end) })
	l.Dark = l.Dark[:from]
	over := func(d sources.Dark) bool { return !endOf(d, now).After(w.Start) }
	if slices.ContainsFunc(l.Dark, over) {
		l.Dark = slices.DeleteFunc(slices.Clone(l.Dark), over)
	}
	return l
}

// crowd is from how many terms in a column on most of them are left out.
const crowd = 8

// sparse leaves out the terms of crowded columns that change no cell: of those that begin in such a
// column stay the first and the last two, and those beside the last gap and one of half a column.
// The term before those that are left out goes on meanwhile. It costs a small part of painting them.
func (w Window) sparse(l Lane, now time.Time) []sources.Term {
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
		dark := func(d sources.Dark) bool { return d.From.Before(to) && endOf(d, now).After(from) }
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

// within returns the terms that touch the window: terms[first:last].
func (w Window) within(terms []sources.Term) (first, last int) {
	end := w.End()
	first = sort.Search(len(terms), func(i int) bool { return terms[i].End.At.IsZero() || terms[i].End.At.After(w.Start) })
	last = sort.Search(len(terms), func(i int) bool { return !terms[i].Start.At.Before(end) })
	return first, max(first, last)
}

// endOf is when a stretch without observation was over: now, while it lasts.
func endOf(d sources.Dark, now time.Time) time.Time {
	if d.To.IsZero() {
		return now
	}
	return d.To
}

// halves lets runs begin and end in the middle of a cell where that is nearer to the truth than
// the edge of one. A run ends so only where no other begins in the cell.
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

// half returns the column in the middle of which an instant lies.
func (p *painter) half(t time.Time) (column int, ok bool) {
	c := p.w.Column(t)
	if c < 0 || c >= len(p.cells) || !t.Before(p.now) {
		return 0, false
	}
	part := t.Sub(p.w.at(c))
	return c, part >= p.w.Step/4 && part < p.w.Step*3/4
}

// bare reports whether nothing stands in a cell but that nobody owns it, or the term itself.
func (p *painter) bare(c, term int) bool {
	cell := &p.cells[c]
	return p.starts[c] < 2 && (cell.Kind == Idle || cell.Kind == Blank || cell.Kind == Owned && cell.term == term && p.besides(c))
}

// besides reports whether a cell beside c shows that nobody owns it.
func (p *painter) besides(c int) bool {
	idle := func(i int) bool {
		return i >= 0 && i < len(p.cells) && (p.cells[i].Kind == Idle || p.cells[i].Kind == Blank)
	}
	return idle(c-1) || idle(c+1)
}
