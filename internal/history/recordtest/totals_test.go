package recordtest

import (
	"slices"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
)

// sameTotals compares the sums of random windows with the lanes, which must leave no instant untold.
func (w *world) sameTotals(t *testing.T, store *sqlite.Reader) {
	t.Helper()
	length := int(time.Now().Unix() - start.Unix())
	for range 10 {
		from := start.Add(time.Duration(w.IntN(length)) * time.Second)
		span := history.Span{From: from, To: from.Add(time.Duration(1+w.IntN(length)) * time.Second)}
		if span.To.After(time.Now()) {
			span.To = time.Now()
		}
		lanes, err := store.Lanes(t.Context(), nil, span)
		if err != nil {
			t.Fatal(err)
		}
		totals, err := store.Totals(t.Context(), span)
		if err != nil {
			t.Fatal(err)
		}
		for i := range lanes {
			l := &lanes[i]
			want := total(t, l, span)
			got := slices.IndexFunc(totals, func(t history.Total) bool { return t.Ref == l.Ref })
			if got < 0 && want.Changes+want.Gaps > 0 || got >= 0 && totals[got] != want {
				t.Errorf("%v of %v: total %+v, want %+v of\n%s\nnot observed %v", l.Ref, span, totals, want, termsText(l.Terms), l.Dark)
			}
		}
	}
}

// total sums up a lane, whose terms must not overlap, by counting the cells between all instants at which something
// may have become another.
func total(t *testing.T, l *history.Lane, span history.Span) history.Total {
	t.Helper()
	c := cells{terms: l.Terms, dark: l.Dark, from: sources.Later(span.From, l.Since), to: span.To}
	if l.Before != nil {
		c.terms = slices.Insert(slices.Clone(l.Terms), 0, *l.Before)
	}
	sum := history.Total{Ref: l.Ref, Kind: l.Kind}
	c.of(span.From, span.To, func(at time.Time, long time.Duration) {
		if at.Before(l.Since) || c.hidden(at) {
			sum.Unseen += long
		}
	})
	for i := range c.terms {
		if s := c.terms[i].Start; s.Happened() && !s.At.Before(span.From) && s.At.Before(span.To) {
			sum.Changes++
		}
	}
	if l.Leveled() {
		return sum
	}
	first := span.To
	sum.Before.Max = span.To.Sub(span.From)
	if len(c.terms) > 0 {
		first = c.terms[0].Start.Earliest()
		sum.Before.Max = min(sum.Before.Max, max(c.terms[0].Start.At.Sub(span.From), 0))
	}
	c.of(c.from, first, func(at time.Time, long time.Duration) {
		if !c.hidden(at) {
			sum.Before.Min += long
		}
	})
	for i := range c.terms {
		one := &c.terms[i]
		if i > 0 && one.Start.At.Before(c.terms[i-1].End.At) {
			t.Errorf("%v: terms overlap:\n%s", l.Ref, termsText(c.terms))
		}
		c.doubt(&sum, one)
		if one.End.How != sources.Unknown {
			c.gap(&sum, one, i+1)
		}
	}
	return sum
}

// cells are the stretches of a lane in which one thing was so each.
type cells struct {
	terms    []sources.Term
	dark     []sources.Dark
	from, to time.Time
}

func (c *cells) hidden(at time.Time) bool {
	return slices.ContainsFunc(c.dark, func(d sources.Dark) bool { return !d.From.After(at) && (d.To.IsZero() || d.To.After(at)) })
}

// of calls f with the beginning and the length of each cell of a stretch within the span that is summed up.
func (c *cells) of(from, to time.Time, f func(at time.Time, long time.Duration)) {
	to = sources.Earlier(to, c.to)
	borders := []time.Time{from, to, c.from}
	for i := range c.terms {
		s, e := c.terms[i].Start, c.terms[i].End
		borders = append(borders, s.At, s.Earliest(), e.At, e.Earliest(), c.terms[i].Sure)
	}
	for _, d := range c.dark {
		borders = append(borders, d.From, d.To)
	}
	slices.SortFunc(borders, time.Time.Compare)
	for i, at := range borders[1:] {
		if was := borders[i]; at.After(was) && !was.Before(from) && !at.After(to) {
			f(was, at.Sub(was))
		}
	}
}

// doubt adds the darkness in which somebody else, or nobody, may have owned what a term is of.
func (c *cells) doubt(sum *history.Total, one *sources.Term) {
	if n := len(c.dark); one.End.How == sources.Unknown && n > 0 && c.dark[n-1].To.IsZero() {
		c.of(sources.Later(sources.Later(c.dark[n-1].From, one.Start.At), c.from), c.to, func(_ time.Time, long time.Duration) { sum.Nobody.Max += long })
	}
	c.of(sources.Later(one.Start.At, c.from), one.Sure, func(at time.Time, long time.Duration) {
		if c.hidden(at) && (one.End.How == sources.Unknown || at.Before(one.End.Earliest())) {
			sum.Nobody.Max += long
		}
	})
}

// gap adds the one between a term and the one numbered next.
func (c *cells) gap(sum *history.Total, before *sources.Term, next int) {
	begins, latest, closes := c.to, c.to, false // when the next owner may have come, and must have
	if next < len(c.terms) {
		s := c.terms[next].Start
		if s.How == sources.Bound || s.How == sources.Claimed {
			return
		}
		begins, latest, closes = s.Earliest(), s.At, s.How == sources.AtLeast
	}
	free := before.End.At
	if before.End.How == sources.Bound { // nobody saw it end: as soon as a look shows nobody again
		free = latest
		for _, d := range slices.Backward(c.dark) {
			if !d.From.After(before.End.At) && d.To.After(before.End.At) {
				free = d.To
			}
		}
	}
	var most, all, longest, piece time.Duration
	var pieces []time.Duration
	c.of(sources.Later(before.End.Earliest(), c.from), latest, func(at time.Time, long time.Duration) {
		most += long
		if c.hidden(at) || at.Before(free) || !at.Before(begins) {
			piece = 0
			return
		}
		if piece == 0 {
			pieces = append(pieces, 0)
		}
		piece += long
		pieces[len(pieces)-1] = piece
	})
	if n := len(pieces); closes && n > 0 && piece > 0 && latest.Before(c.to) { // it was so already, behind darkness
		pieces = pieces[:n-1]
	}
	for _, p := range pieces {
		all, longest = all+p, max(longest, p)
	}
	sum.Nobody.Min, sum.Nobody.Max = sum.Nobody.Min+all, sum.Nobody.Max+most
	at := before.End.At
	touched := before.End.How != sources.Bound && !at.Before(c.from) && at.Before(sources.Earlier(latest, c.to)) && !c.hidden(at)
	if most > 0 && (len(pieces) > 0 || touched) {
		sum.Gaps++
		sum.Longest.Min, sum.Longest.Max = max(sum.Longest.Min, longest), max(sum.Longest.Max, most)
	}
}

// start is when a bubble begins.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
