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

// total sums up a lane, whose terms must not overlap.
func total(t *testing.T, l *history.Lane, span history.Span) history.Total {
	t.Helper()
	known := l.Known()
	sum := known.Sum(span, span.To)
	if l.Leveled() {
		sum.Changes, sum.Before = sources.Changes(l.Terms, span.From), 0
	}
	for i := range known.Terms {
		if i > 0 && known.Terms[i].Start.At.Before(known.Terms[i-1].End.At) {
			t.Errorf("%v: terms overlap:\n%s", l.Ref, termsText(known.Terms))
		}
	}
	return history.Total{Ref: l.Ref, Kind: l.Kind, Changes: sum.Changes, Gaps: sum.Gaps, Nobody: sum.Nobody, Longest: sum.Longest, Before: sum.Before, Unseen: sum.Unseen}
}

// start is when a bubble begins.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
