package history

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// eventsBefore is the number of recorded events with which a board and a replay begin. A screen keeps no more.
const eventsBefore = 4000

// Earlier returns the last events that were recorded before now, run by run, as many as a screen keeps. If nobody
// recorded between two runs, it adds an EventRestarted without a source there.
func Earlier(ctx context.Context, r Reader, now time.Time) ([]sources.Event, error) {
	events, err := r.Events(ctx, now, eventsBefore, 0, EventFilter{})
	if err != nil {
		return nil, err
	}
	runs, err := r.Runs(ctx)
	return withHoles(events, append(runs, Run{ID: math.MaxInt64, Span: Span{From: now}})), err
}

// withHoles orders events by their runs, and adds an event between two runs if nobody recorded in between.
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

// earlierEvents are the events before a group.
type earlierEvents struct {
	list []sources.Event
	owed bool // as in seeker
	err  error
}

// readBefore reads in the background the events of earlier runs and then those of this run through number last, in the
// order of their numbers. They cannot be ordered by time, because a clock that was set back gives earlier events later
// times.
func (r *seeker) readBefore(ctx context.Context, last uint64) {
	r.reading = make(chan earlierEvents, 1)
	group := *r
	_, shown := r.replayer.Published()
	spawn.Go(ctx, nil, func() { // join waits for it
		e := earlierEvents{err: spawn.ErrPanic}
		defer func() { group.reading <- e }()
		e = group.readEarlier(ctx, last, shown)
	})
}

// readEarlier reads these events. shown is the number of the last event in the State of the group.
func (r *seeker) readEarlier(ctx context.Context, last, shown uint64) (e earlierEvents) {
	after := 0
	steps, err := r.reader.Events(ctx, r.began, eventsBefore, eventsBefore, EventFilter{Kinds: []sources.EventKind{sources.EventClockStep}})
	if slices.ContainsFunc(steps, func(e Event) bool { return e.Run == r.run && e.Seq <= last }) {
		after = eventsBefore
	}
	if err != nil {
		return earlierEvents{err: err}
	}
	events, err := r.reader.Events(ctx, r.began.Add(time.Nanosecond), eventsBefore, after, EventFilter{})
	if err != nil {
		return earlierEvents{err: err}
	}
	events = slices.DeleteFunc(events, func(e Event) bool { return e.Run > r.run || e.Run == r.run && e.Seq > last })
	e.owed = slices.ContainsFunc(events, func(e Event) bool { return e.Run == r.run && e.Seq > shown && e.Kind.Happened() })
	runs, err := r.log.Runs(ctx)
	e.list, e.err = withHoles(events, runs[:numbered(runs, r.run)+1]), err
	return e
}

// join waits for readBefore, and returns the first error.
func (r *seeker) join(err error) error {
	if r.reading == nil {
		return err
	}
	e := <-r.reading
	r.reading, r.before, r.owed = nil, e.list, e.owed
	if at := r.published; r.owed && at != (sources.Instant{}) {
		if n := r.marksBefore(at); n == len(r.marks) || r.marks[n] != at {
			r.marks = slices.Insert(r.marks, n, at)
		}
		r.owed = false
	}
	if e.err != nil {
		r.hub = nil // the next move opens the group again; otherwise these events would be missing
	}
	return cmp.Or(err, e.err)
}
