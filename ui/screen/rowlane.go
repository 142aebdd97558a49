package screen

import (
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/sources/verdict"
	"coordtop/ui/rows"
	"coordtop/ui/timeline"
)

// QueryOf returns the query that asks of a row what memory and the recording know of it.
func QueryOf(sc *Scene, row *sources.Row) history.Query {
	return history.Query{State: sc.State, Row: row, RecordedOnly: rows.HandleOf(row).Recorded(), Reads: sc.Time.Reads, Past: sc.Time.Past[row.Ref]}
}

// laneOf returns the lane of a row: what memory has and what was recorded.
func laneOf(sc *Scene, row *sources.Row) timeline.Lane {
	return timeline.Lane{Lane: QueryOf(sc, row).Lane(), Trouble: verdict.LeaderMissed(row), Gap: sc.State.Thresholds.Gap, GapPart: sc.State.Thresholds.GapPart,
		Wanted: wantedSince(sc, row), Several: severalSince(sc, row), Acts: sc.Events.Acts(row.Ref)}
}

// wantedSince returns the time since which somebody waits for a row; zero: nobody is known to. Where only the number of
// those that wait is told, it is the present.
func wantedSince(sc *Scene, row *sources.Row) time.Time {
	if row.Queue.How == sources.Unknown || row.Queue.Len == 0 {
		return time.Time{}
	}
	if first := row.Queue.WaitingSince(); first.How != sources.Unknown {
		return first.At
	}
	return sc.Now.Add(-1)
}

// severalSince returns the time since which two own a row that only one may own; zero: no two do.
func severalSince(sc *Scene, row *sources.Row) time.Time {
	if len(row.Owners) < 2 || row.LastStatus(sc.State, sc.Now) != sources.StatusConflict {
		return time.Time{}
	}
	starts := make([]time.Time, len(row.Owners))
	for i := range row.Owners {
		starts[i] = row.Owners[i].Since.At
	}
	slices.SortFunc(starts, time.Time.Compare)
	if starts[1].IsZero() {
		return sc.Now // only the present conflict is known
	}
	return starts[1]
}

// SumLane sums up a lane in a window: see history.Query.Sum for totals, which may be nil, and unread.
func SumLane(sc *Scene, row *sources.Row, win timeline.Window, totals map[sources.Ref]history.Total) (sum lane.Sum, unread bool) {
	q := QueryOf(sc, row)
	q.Totals = totals
	sum, unread = q.Sum(win.Stretch(), DrawnTo(sc))
	if row.Leveled() || !verdict.LeaderMissed(row) {
		sum.Gaps, sum.Nobody, sum.Longest = 0, lane.Interval{}, lane.Interval{}
	}
	return sum, unread
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
