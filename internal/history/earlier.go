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

// eventsBefore is how many earlier events are read when a board or a replay begins: as many as a screen keeps.
const eventsBefore = 4000

// Earlier returns the last events that were recorded before now, run by run, as many as a screen keeps. Where nobody recorded
// between two runs stands an EventRestarted of no source.
func Earlier(ctx context.Context, r Reader, now time.Time) ([]sources.Event, error) {
	events, err := r.Events(ctx, now, eventsBefore, 0, EventFilter{})
	if err != nil {
		return nil, err
	}
	runs, err := r.Runs(ctx)
	return withHoles(events, append(runs, Run{ID: math.MaxInt64, Span: Span{From: now}})), err
}

// withHoles orders events by their runs, and adds an event where nobody recorded between two runs.
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
