package screen

import (
	"slices"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/timeline"
)

// UsualSpan is the usual length of strips and lanes, once so much is known.
const UsualSpan = 15 * time.Minute

// stripsAt returns the end of the strips of the list. In the frame in which a second begins they do
// not move: the renderer rewrites a line from its first to its last changed cell, so a lease that
// counts down and a strip that moves would rewrite all cells between them, eight times as many bytes
// as in two frames.
func stripsAt(sc *Scene) time.Time {
	return sc.Now.Add(-sc.Still)
}

// StripWindow returns the window of the strips of the list.
func StripWindow(sc *Scene) timeline.Window {
	return timeline.Fit(stripsAt(sc), spanOf(sc, sc.columns[colStrip]), sc.columns[colStrip])
}

// cellsOf returns the cells of a row's lane, drawn into cells. They include changes since the last
// second.
func cellsOf(sc *Scene, row *sources.Row, lane timeline.Lane, win timeline.Window, cells []timeline.Cell) []timeline.Cell {
	if !row.Leveled() {
		return win.Strip(cells, lane, DrawnTo(sc))
	}
	limit := row.Limit
	if !row.Limited() {
		limit = 0
	}
	return win.Profile(cells, QueryOf(sc, row).Levels(), limit, lane, DrawnTo(sc))
}

// leastStep is the least length of a column. Columns of a second would move together with the
// countdowns, see stripsAt.
const leastStep = 2 * time.Second

// spanOf returns the length of strips with so many columns. While little is known the columns are as short
// as possible, so that the first minutes fill the strip and not only a corner of it.
func spanOf(sc *Scene, columns int) time.Duration {
	return min(max(usualSpan(sc), leastStep*time.Duration(columns)), UsualSpan)
}

// sawtoothLines draws the lowest time left of a single owner's lease in each column: every renewal
// lifts it, and a missed renewal is a deeper tooth. nil if no lease is told or the row is stale.
func sawtoothLines(sc *Scene, row *sources.Row, v verdict.Verdict, w int) []string {
	if v.Status == sources.StatusStale || w < 24 {
		return nil
	}
	win := timeline.Fit(sc.Now, spanOf(sc, w-4), w-4)
	fills := leaseFills(sc, row, win, sc.Now)
	if len(fills) == 0 || row.Owners[0].Expires.At.IsZero() {
		return nil
	}
	head := sc.Theme.Line(w).Skip(2).Put(sc.Theme.Dim, "LEASE LEFT, the lowest in every "+format.Age(win.Step)+" ")
	longest := time.Duration(0)
	for _, f := range fills {
		longest = max(longest, f.Until.Sub(f.At))
	}
	head.Put(sc.Theme.Dim, sc.Theme.Dot+" longest without a renewal ").Put("", format.Precise(longest))
	axis, l := sc.Theme.Line(w).Skip(2), sc.Theme.Line(w).Skip(2)
	axis.Axis(win, sc.Now.Location())
	teeth(sc, l, row, fills, win)
	return []string{head.Done(), axis.Done(), l.Done()}
}

// leased reports whether a row has a single owner with a lease that ends.
func leased(row *sources.Row) bool {
	return len(row.Owners) == 1 && !row.Owners[0].NoExpiry && row.Owners[0].Lease > 0
}

// leaseFills returns the fills of a single owner's lease, in a window up to an instant; none if the lease
// has no end.
func leaseFills(sc *Scene, row *sources.Row, win timeline.Window, to time.Time) []rows.Fill {
	if !leased(row) {
		return nil
	}
	return sc.Events.Fills(row, row.Owners[0].Lease, win.Start.Add(-row.Owners[0].Lease), to)
}

// teeth draws the lowest time left of a row's lease in each column, and dots where that is unknown and
// somebody may have owned the row.
func teeth(sc *Scene, l *paint.Line, row *sources.Row, fills []rows.Fill, win timeline.Window) {
	lease, lane := row.Owners[0].Lease, laneOf(sc, row)
	lane.Halves = true
	cells := win.Strip(nil, lane, DrawnTo(sc))
	fills = seenFills(fills, lane.Dark, lease)
	for i := range win.Columns {
		from := win.Start.Add(win.Step * time.Duration(i))
		for len(fills) > 0 && !fills[0].Until.After(from) {
			fills = fills[1:]
		}
		hidden := cells[i].Kind == timeline.Dark || cells[i].Kind == timeline.Unread
		switch {
		case !hidden && drawTooth(sc, l, lease, fills, from, win.Step):
		case (hidden || cells[i].Kind == timeline.Owned) && from.Before(DrawnTo(sc)):
			l.Put(sc.Theme.Dim, sc.Theme.Dark)
		default:
			l.Skip(1)
		}
	}
}

// seenFills cuts fills at the first stretch without observation, in which the lease may have been renewed
// or may have run out. It changes fills.
func seenFills(fills []rows.Fill, dark []sources.Dark, lease time.Duration) []rows.Fill {
	for i := range fills {
		f := &fills[i]
		for _, d := range dark {
			if d.From.Before(f.Until) && (d.To.IsZero() || d.To.After(f.At)) {
				f.Until = sources.Later(d.From, f.At)
				f.Left = max(lease-f.Until.Sub(f.At), 0)
				break
			}
		}
	}
	return fills
}

// drawTooth draws one column, [from, from+step), and reports whether the lease is known there.
func drawTooth(sc *Scene, l *paint.Line, lease time.Duration, fills []rows.Fill, from time.Time, step time.Duration) bool {
	to, lowest, known := from.Add(step), lease, false
	for _, f := range fills {
		if !f.At.Before(to) {
			break
		}
		if !f.Until.After(from) {
			continue
		}
		left := f.Left
		if f.Until.After(to) {
			left += f.Until.Sub(to)
		}
		lowest, known = min(lowest, left), true
	}
	if !known {
		return false
	}
	part := float64(lowest) / float64(lease)
	height := min(int(part*float64(len(sc.Theme.Eighths))), len(sc.Theme.Eighths)-1)
	l.Put(barStyle(sc, part < sc.State.Thresholds.LateLeft), sc.Theme.Eighths[height])
	return true
}

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
