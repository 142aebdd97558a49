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
func (m pastReader) recordedDue() bool {
	s, win := &m.laneTotals, m.laneTotals.window
	of := s.totalsOf
	return win.Columns > 0 && (s.totals == nil || of.Step != win.Step || of.Columns != win.Columns ||
		!m.Time.End.IsZero() && win.Start.Sub(of.Start).Abs() > 4*win.Step || m.Clock.Sub(s.totalsAt) >= recordedEvery)
}

// listRecorded makes lanes of the primitives that somebody owned in a span, and that have no row. Of
// semaphores only a row knows the count.
func (m pastReader) listRecorded(totals []history.Total, span time.Duration) {
	var found []history.Total
	for _, t := range totals {
		watched := slices.ContainsFunc(m.State.Sources, func(s sources.SourceStatus) bool { return s.Name == t.Ref.Source })
		if watched && t.Kind != sources.KindSemaphore && (t.Changes > 0 || t.Nobody.Min+t.Before+t.Unseen < span) && m.feeds.shown().Row(m.State, t.Ref) == nil {
			found = append(found, t)
		}
	}
	if len(found) > mostRecordedLanes {
		slices.SortStableFunc(found, func(a, b history.Total) int { return cmp.Compare(b.Changes, a.Changes) })
		found = found[:mostRecordedLanes]
	}
	slices.SortFunc(found, func(a, b history.Total) int {
		return cmp.Or(strings.Compare(a.Ref.Name, b.Ref.Name), strings.Compare(a.Ref.Source, b.Ref.Source), strings.Compare(a.Ref.Space, b.Ref.Space))
	})
	m.laneTotals.recorded = nil
	m.Rows.BeginRecorded()
	for _, t := range found {
		m.laneTotals.recorded = append(m.laneTotals.recorded, m.Rows.AddRecorded(t.Ref, t.Kind))
	}
}

// recordedLanes are the lanes of what the recording alone knows that pass the filter.
func (m timelineScreen) recordedLanes() []rows.Handle {
	if len(m.laneTotals.recorded) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(m.laneTotals.recorded), func(h rows.Handle) bool {
		row, _ := m.Rows.At(h)
		return row == nil || m.feeds.shown().Row(m.State, row.Ref) != nil || !m.Rows.ListsRecorded(h)
	})
}

// lanes are the rows of the list, and behind them what the recording alone knows.
func (m timelineScreen) lanes() []rows.Handle {
	return slices.Concat(m.Rows.Handles, m.recordedLanes())
}
