package ui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/rows"
)

// Lanes of what a recording alone knows: a lock that is free now and selected by a pattern has no row.
const (
	mostRecordedLanes = 200         // of them, those that changed most
	recordedEvery     = time.Minute // they are looked for anew
)

// recordedDue reports whether the recording is to be asked anew which of its primitives have no row.
func (r *pastReader) recordedDue() bool {
	s, win := r.sums, r.sums.window
	of := s.totalsOf
	return win.Columns > 0 && (s.totals == nil || of.Step != win.Step || of.Columns != win.Columns ||
		!r.scene.Time.End.IsZero() && win.Start.Sub(of.Start).Abs() > 4*win.Step || r.scene.Clock.Sub(s.totalsAt) >= recordedEvery)
}

// listRecorded makes lanes of the primitives that somebody owned in a span, and that have no row. Of
// semaphores only a row knows the count.
func (r *pastReader) listRecorded(totals []history.Total, span time.Duration) {
	totals = slices.DeleteFunc(slices.Clone(totals), func(t history.Total) bool {
		watched := slices.ContainsFunc(r.scene.State.Sources, func(s sources.SourceStatus) bool { return s.Name == t.Ref.Source })
		owned := t.Changes > 0 || t.Nobody.Min+t.Before+t.Unseen < span
		return !watched || !owned || t.Kind == sources.KindSemaphore || r.feeds.shown().Row(r.scene.State, t.Ref) != nil
	})
	if len(totals) > mostRecordedLanes {
		slices.SortStableFunc(totals, func(a, b history.Total) int { return cmp.Compare(b.Changes, a.Changes) })
		totals = totals[:mostRecordedLanes]
	}
	slices.SortFunc(totals, func(a, b history.Total) int {
		return cmp.Or(strings.Compare(a.Ref.Name, b.Ref.Name), a.Ref.Compare(b.Ref))
	})
	found := make([]*sources.Primitive, len(totals))
	for i := range totals {
		found[i] = &sources.Primitive{Ref: totals[i].Ref, Kind: totals[i].Kind}
	}
	r.sums.recorded = r.scene.Rows.ListRecorded(found)
}

// recordedLanes are the lanes of what the recording alone knows that pass the filter.
func (t *timelinePart) recordedLanes() []rows.Handle {
	return slices.DeleteFunc(slices.Clone(t.sums.recorded), func(h rows.Handle) bool {
		row, _ := t.scene.Rows.At(h)
		return row == nil || t.feeds.shown().Row(t.scene.State, row.Ref) != nil || !t.scene.Rows.InList(h)
	})
}

// lanes are the rows of the list, most at most, and behind them what the recording alone knows.
func (t *timelinePart) lanes(most int) []rows.Handle {
	listed := t.scene.Rows.Handles
	return slices.Concat(listed[:min(len(listed), most)], t.recordedLanes())
}
