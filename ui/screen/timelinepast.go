package screen

import (
	"slices"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/rows"
)

// QueryOf returns the query that asks of a row what memory and the recording know of it.
func QueryOf(sc *Scene, row *sources.Row) history.Query {
	return history.Query{State: sc.State, Row: row, RecordedOnly: rows.HandleOf(row).Recorded(), Reads: sc.Time.Reads, Past: sc.Time.Past[row.Ref]}
}

// Exported returns the contents of the Timeline for an export: the visible lanes, the events with marks,
// and the span up to the present.
func Exported(sc *Scene) (lanes []history.Lane, events []sources.Event, span history.Span) {
	win, now := TimeWindow(sc), DrawnTo(sc)
	span = history.Span{From: win.Start, To: sources.Earlier(win.End(), now)}
	for _, h := range sc.Time.Lanes.Visible() {
		if row, _ := sc.Rows.At(h); row != nil {
			lanes = append(lanes, QueryOf(sc, row).Record(span))
		}
	}
	for e := range marked(sc) {
		if !e.At.Before(span.From) && e.At.Before(span.To) {
			events = append(events, *e)
		}
	}
	return lanes, slices.CompactFunc(events, func(a, b sources.Event) bool { return a.At.Equal(b.At) && a.Detail == b.Detail }), span
}
