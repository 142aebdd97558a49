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

// total sums up a lane stretch by stretch. Each instant from its beginning on is owned by one, or free, or was
// not observed.
func total(t *testing.T, l *history.Lane, span history.Span) history.Total {
	t.Helper()
	sum := history.Total{Ref: l.Ref, Kind: l.Kind}
	for _, term := range l.Terms {
		if term.Start.Happened() && !term.Start.At.Before(span.From) {
			sum.Changes++
		}
	}
	free, gap := sources.Later(span.From, l.Since), false
	if l.Since.IsZero() || !free.Before(span.To) {
		return sum
	}
	sum.Unseen = span.To.Sub(span.From)
	for _, piece := range observed(l.Dark, history.Span{From: free, To: span.To}) {
		sum.Unseen -= piece.To.Sub(piece.From)
	}
	if l.Leveled() {
		return sum
	}
	next := func(start sources.Stamp) {
		if !free.Before(start.At) {
			return
		}
		for _, piece := range observed(l.Dark, history.Span{From: free, To: sources.Later(free, start.Earliest())}) {
			d := piece.To.Sub(piece.From)
			if sum.Nobody, sum.Longest = sum.Nobody+d, max(sum.Longest, d); !gap {
				sum.Gaps++
			}
			gap = true
		}
	}
	for i, term := range l.Terms {
		if i > 0 && term.Start.At.Before(l.Terms[i-1].End.At) {
			t.Errorf("%v: terms overlap:\n%s", l.Ref, termsText(l.Terms))
		}
		next(term.Start)
		gap = false
		if free = sources.Later(free, term.End.At); term.End.How == sources.Unknown {
			return sum
		}
	}
	next(sources.Stamp{At: span.To})
	return sum
}

// observed is what of a stretch is not dark.
func observed(dark []sources.Dark, span history.Span) (pieces []history.Span) {
	for _, d := range dark {
		if d.From.After(span.To) || !d.To.IsZero() && !d.To.After(span.From) {
			continue
		}
		if span.From.Before(d.From) {
			pieces = append(pieces, history.Span{From: span.From, To: d.From})
		}
		if span.From = d.To; d.To.IsZero() || !d.To.Before(span.To) {
			return pieces
		}
	}
	return append(pieces, span)
}

// start is when a bubble begins.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
