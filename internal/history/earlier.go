package history

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
)

// eventsBefore is how many events of before a beginning are read: as many as a screen keeps.
const eventsBefore = 4000

// Earlier returns the events that were recorded before now, for a screen that begins then: as many as that keeps, in the
// order of their runs, with an EventRestarted of no source where nobody recorded between two of them.
func Earlier(ctx context.Context, r Reader, now time.Time) ([]sources.Event, error) {
	events, err := r.Events(ctx, now, eventsBefore, 0, EventFilter{})
	if err != nil {
		return nil, err
	}
	runs, err := r.Runs(ctx)
	return withHoles(events, append(runs, Run{ID: math.MaxInt64, Span: Span{From: now}})), err
}

// withHoles orders events by their runs, and adds the time between two of these.
func withHoles(events []Event, runs []Run) (all []sources.Event) {
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Seq, b.Seq)) })
	var to time.Time
	live := false
	for i := range runs {
		run := &runs[i]
		if hole := run.From.Sub(to); len(all) > 0 && hole > 0 && !live {
			all = append(all, sources.Event{Kind: sources.EventRestarted, At: run.From, How: sources.Told, Detail: "coordtop began to record: nothing was recorded for " + format.Precise(hole) + " before that"})
		}
		for ; len(events) > 0 && events[0].Run <= run.ID; events = events[1:] {
			all = append(all, events[0].Event)
		}
		to, live = sources.Later(to, run.To), live || run.Live
	}
	return all
}
