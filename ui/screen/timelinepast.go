package screen

import (
	"iter"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/rows"
	"coordtop/ui/timeline"
)

// Past is what was recorded of a row, from before what is kept of it in memory.
type Past struct {
	history.Past
	Step  time.Duration // of the columns for which terms were left out; 0: none were
	row   *sources.Row  // that terms was merged for
	terms []sources.Term
}

// Add adds what was read: see history.Past.
func (p *Past) Add(span history.Span, l history.Lane) {
	p.row = nil
	p.Past.Add(span, l)
}

// JoinPast joins what was recorded of a row to what is kept of it in memory.
func JoinPast(sc *Scene, row *sources.Row) {
	if p := sc.Time.Past[row.Ref]; p != nil && p.row != row {
		p.row = row
		if !row.Leveled() {
			p.terms = p.MergeTerms(row.Terms, memoryBegins(sc, row))
		}
	}
}

// memoryBegins is from when on what is kept of a row in memory is whole.
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

// KnownFrom is from when on all that is recorded of a row is known here; zero: nothing is recorded
// before that.
func KnownFrom(sc *Scene, row *sources.Row) time.Time {
	if spans := unreadOf(sc, row); len(spans) > 0 {
		return spans[len(spans)-1].To
	}
	return time.Time{}
}

// unreadOf is what of a row may be recorded, and was not read.
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

// behindPast is the lane of what a recording alone knows, behind what was read of that: nobody owns
// it while its source is read, or there were a row.
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

// withPast is a lane with what was recorded before it.
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

// levelsOf are the counts of a semaphore, also those that were recorded before what is kept in
// memory.
func levelsOf(sc *Scene, row *sources.Row) iter.Seq[sources.Level] {
	if p := sc.Time.Past[row.Ref]; p != nil {
		return p.MergeLevels(row.Levels())
	}
	return row.Levels()
}

// ownerTermsOf are the terms of a semaphore's owners, also those that were recorded before what is
// kept in memory, and from when on they are whole.
func ownerTermsOf(sc *Scene, row *sources.Row) (terms []sources.Term, since time.Time) {
	terms, since = row.OwnerTerms(), row.OwnerTermsSince(sc.State)
	if p := sc.Time.Past[row.Ref]; p != nil && !p.Since.IsZero() {
		terms = p.MergeTerms(terms, since)
		_, since = p.MergeDark(nil, since)
	}
	return terms, since
}
