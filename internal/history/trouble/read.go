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

// Holes are the stretches of the span of which there is no record, of any primitive, and whether that was dropped. What a run
// did not observe is in the Dark of the lanes.
func (in *Input) Holes() (holes []history.Hole) {
	if len(in.Lanes) == 0 { // nothing was ever recorded
		return nil
	}
	for _, h := range in.Lanes[0].Holes { // they are those of all
		least := time.Duration(0)
		if h.From = sources.Later(h.From, in.Span.From); h.To.IsZero() || !h.To.Before(in.Span.To) {
			h.To, least = in.Span.To, liveLag
		}
		if h.To.Sub(h.From) > least {
			holes = append(holes, h)
		}
	}
	return holes
}
