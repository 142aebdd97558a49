package screen

import (
	"iter"
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/rows"
	"coordtop/ui/timeline"
)

// Past is the recorded past of a row, from before the part that is kept in memory.
type Past struct {
	history.Past
	Step  time.Duration // of the columns for which terms were left out; 0: none were
	row   *sources.Row  // terms was merged with its terms
	terms []sources.Term
}

// Add adds a part that was read: see history.Past.
func (p *Past) Add(span history.Span, l history.Lane) {
	p.row = nil
	p.Past.Add(span, l)
}

// JoinPast joins the recorded terms of a row and those in memory.
func JoinPast(sc *Scene, row *sources.Row) {
	if p := sc.Time.Past[row.Ref]; p != nil && p.row != row {
		p.row = row
		if !row.Leveled() {
			p.terms = p.MergeTerms(row.Terms, memoryBegins(sc, row))
		}
	}
}

// memoryBegins returns the time from which on the part in memory of a row is complete.
func memoryBegins(sc *Scene, row *sources.Row) time.Time {
	if rows.HandleOf(row).Recorded() {
		if p := sc.Time.Past[row.Ref]; p != nil {
			return p.Span.To
		}
		return sc.State.At
	}
	if since := row.RecordedSince(sc.State); !since.IsZero() {
		return since
	}
	return sc.State.At // it was not listed yet
}

// KnownFrom returns the time from which on everything recorded of a row was read; zero: all of it was.
func KnownFrom(sc *Scene, row *sources.Row) time.Time {
	if spans := unreadOf(sc, row); len(spans) > 0 {
		return spans[len(spans)-1].To
	}
	return time.Time{}
}

// unreadOf returns the spans of a row that may be recorded, and were not read.
func unreadOf(sc *Scene, row *sources.Row) (spans []timeline.Span) {
	if !sc.Time.Reads {
		return nil
	}
	begins, p := memoryBegins(sc, row), sc.Time.Past[row.Ref]
	if p == nil {
		return []timeline.Span{{To: begins}}
	}
	if !p.Whole() {
		spans = append(spans, timeline.Span{To: sources.Earlier(p.Span.From, begins)})
	}
	if p.Span.To.Before(begins) {
		spans = append(spans, timeline.Span{From: p.Span.To, To: begins})
	}
	return spans
}

// behindPast returns the lane of a row that exists in a recording only, after the end of that recording:
// while its source is read nobody owns it, because there would be a row.
func behindPast(sc *Scene, row *sources.Row, lane timeline.Lane) timeline.Lane {
	from := memoryBegins(sc, row)
	var dark []sources.Dark
	for _, d := range lane.Dark {
		if d.To.IsZero() || d.To.After(from) {
			d.From = sources.Later(d.From, from)
			dark = append(dark, d)
			from = d.To
		}
	}
	if !from.IsZero() && !rows.Watched(sc.State, row) {
		dark = append(dark, sources.Dark{From: from})
	}
	lane.Dark = dark
	return lane
}

// withPast adds the recorded past to a lane.
func withPast(sc *Scene, row *sources.Row, lane timeline.Lane) timeline.Lane {
	lane.Unread = unreadOf(sc, row)
	p := sc.Time.Past[row.Ref]
	if p == nil || p.Since.IsZero() || p.row == nil {
		return lane
	}
	begins := memoryBegins(sc, row)
	if dark, since := p.MergeDark(lane.Dark, begins); since.Before(begins) {
		lane.Dark, lane.Since = dark, since
	}
	if !row.Leveled() {
		lane.Terms = p.terms
	}
	return lane
}

// levelsOf returns the levels of a semaphore with the recorded ones.
func levelsOf(sc *Scene, row *sources.Row) iter.Seq[sources.Level] {
	if p := sc.Time.Past[row.Ref]; p != nil {
		return p.MergeLevels(row.Levels())
	}
	return row.Levels()
}

// ownerTermsOf returns the terms of a semaphore's owners with the recorded ones, and the time from which
// on they are complete.
func ownerTermsOf(sc *Scene, row *sources.Row) (terms []sources.Term, since time.Time) {
	terms, since = row.OwnerTerms(), row.OwnerTermsSince(sc.State)
	if p := sc.Time.Past[row.Ref]; p != nil && !p.Since.IsZero() {
		terms = p.MergeTerms(terms, since)
		_, since = p.MergeDark(nil, since)
	}
	return terms, since
}

// Exported returns the contents of the Timeline for an export: the visible lanes, the events with marks,
// and the span up to the present.
func Exported(sc *Scene) (lanes []history.Lane, events []sources.Event, span history.Span) {
	win, now := TimeWindow(sc), DrawnTo(sc)
	span = history.Span{From: win.Start, To: sources.Earlier(win.End(), now)}
	for _, h := range sc.Time.Lanes.Visible() {
		row, _ := sc.Rows.At(h)
		if row == nil {
			continue
		}
		l := LaneOf(sc, row)
		dark := slices.Clone(l.Dark)
		for _, u := range l.Unread {
			dark = append(dark, sources.Dark(u))
		}
		if l.Since.After(span.From) {
			dark = append(dark, sources.Dark{From: span.From, To: l.Since})
		}
		slices.SortFunc(dark, func(a, b sources.Dark) int { return a.From.Compare(b.From) })
		out := history.Lane{Ref: row.Ref, Kind: row.Kind, Terms: l.Terms, Dark: dark, Since: l.Since}
		if row.Leveled() {
			out.Levels, out.Terms = slices.Collect(levelsOf(sc, row)), nil
		}
		lanes = append(lanes, out)
	}
	kinds := MarkKinds()
	for _, e := range slices.Concat(sc.Time.Marks, sc.Events.List) {
		if slices.Contains(kinds, e.Kind) && !e.At.Before(span.From) && e.At.Before(span.To) {
			events = append(events, e)
		}
	}
	return lanes, slices.CompactFunc(events, func(a, b sources.Event) bool { return a.At.Equal(b.At) && a.Detail == b.Detail }), span
}
