package trouble

import (
	"cmp"
	"context"
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// liveLag is how far the recording of now is behind at most.
const liveLag = time.Second

// How many events are read: from before the span, where an outage or a wait may have begun, and of it.
const (
	eventsBefore = 200
	waitsBefore  = 5000
	mostEvents   = 20_000
)

// Read reads what Find looks through: of refs, nil: of all. acts are actions that the recording does not have. Zero limits: the
// default ones.
func Read(ctx context.Context, reader history.Reader, refs []sources.Ref, span history.Span, acts []sources.Event, limits sources.Thresholds) (in Input, err error) {
	in = Input{Span: span, Thresholds: cmp.Or(limits, sources.DefaultThresholds())}
	if in.Runs, err = reader.Runs(ctx); err != nil {
		return in, err
	}
	if in.Lanes, err = reader.Lanes(ctx, refs, span); err != nil {
		return in, err
	}
	if in.Acts, err = history.Acts(ctx, reader, span); err != nil {
		return in, err
	}
	in.Acts = append(in.Acts, acts...)
	in.Events, err = reader.Events(ctx, span.From, waitsBefore, mostEvents, history.EventFilter{Refs: refs, Kinds: []sources.EventKind{
		sources.EventWaiterJoined, sources.EventWaiterLeft, sources.EventAcquired, sources.EventOwnerChanged, sources.EventLeaseChanged}})
	if err != nil {
		return in, err
	}
	ofSources, err := reader.Events(ctx, span.From, eventsBefore, mostEvents, history.EventFilter{Kinds: []sources.EventKind{
		sources.EventSourceDown, sources.EventSourceUp, sources.EventRestarted}})
	in.Events = slices.Clone(in.Events)
	for i := range ofSources {
		source := ofSources[i].Ref.Source
		if refs == nil || slices.ContainsFunc(refs, func(ref sources.Ref) bool { return ref.Source == source }) {
			in.Events = append(in.Events, ofSources[i])
		}
	}
	slices.SortStableFunc(in.Events, func(x, y history.Event) int { return x.Compare(&y) })
	return in, err
}

// Unrecorded are the stretches of the span in which no run recorded. What a run could not write or observe is in the Dark of
// the lanes.
func (in *Input) Unrecorded() (holes []sources.Dark) {
	from := in.Span.From
	for _, run := range in.Runs {
		if run.From.After(from) && from.Before(in.Span.To) {
			holes = append(holes, sources.Dark{From: from, To: sources.Earlier(run.From, in.Span.To)})
		}
		from = sources.Later(from, run.To)
	}
	if in.Span.To.Sub(from) > liveLag {
		holes = append(holes, sources.Dark{From: from, To: in.Span.To})
	}
	return holes
}
