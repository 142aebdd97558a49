package trouble

import (
	"cmp"
	"context"
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// liveLag is the longest time by which a live recording lags behind.
const liveLag = time.Second

// How many events are read before the span, for outages and waits that began there, and within the span.
const (
	eventsBefore = 200
	waitsBefore  = 5000
	mostEvents   = 20_000
)

// Read reads the Input of Find for refs, or for all primitives if refs is nil. acts are actions that the recording does
// not have. Zero limits stand for the default ones.
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
	kinds := []sources.EventKind{sources.EventWaiterJoined, sources.EventWaiterLeft, sources.EventLeaseChanged}
	of, err := reader.Events(ctx, span.From, 0, mostEvents, history.EventFilter{Refs: refs, Kinds: kinds})
	if err != nil {
		return in, err
	}
	in.Events, err = reader.Events(ctx, span.From, waitsBefore, 0, history.EventFilter{Refs: refs, Kinds: append(kinds, sources.EventAcquired, sources.EventOwnerChanged)})
	if err != nil {
		return in, err
	}
	if len(of) >= mostEvents {
		in.UpTo = of[len(of)-1].At
	}
	in.Events = slices.Concat(in.Events, of)
	in.Events = append(in.Events, in.begins()...)
	ofSources, err := reader.Events(ctx, span.From, eventsBefore, mostEvents, history.EventFilter{Kinds: []sources.EventKind{
		sources.EventSourceDown, sources.EventSourceUp, sources.EventRestarted}})
	for i := range ofSources {
		source := ofSources[i].Ref.Source
		if refs == nil || slices.ContainsFunc(refs, func(ref sources.Ref) bool { return ref.Source == source }) {
			in.Events = append(in.Events, ofSources[i])
		}
	}
	slices.SortStableFunc(in.Events, func(x, y history.Event) int { return x.Compare(&y) })
	return in, err
}

// begins returns the beginnings of terms of primitives with a queue, as events that end a wait. The recorded events of
// all owners would be too many.
func (in *Input) begins() (all []history.Event) {
	queued := map[sources.Ref]bool{}
	for i := range in.Events {
		queued[in.Events[i].Ref] = true
	}
	for i := range in.Lanes {
		l := &in.Lanes[i]
		for j := range l.Terms {
			if t := &l.Terms[j]; queued[l.Ref] && t.Start.How != sources.AtLeast && !t.Start.At.Before(in.Span.From) {
				all = append(all, history.Event{Event: sources.Event{Kind: sources.EventAcquired, Ref: l.Ref, Owner: t.Owner, At: t.Start.At, After: t.Start.Earliest()}})
			}
		}
	}
	return all
}

// Holes returns the parts of the span in which nothing was recorded, each with its reason. Recorded but unobserved time
// is in the Dark of the lanes.
func (in *Input) Holes() (holes []history.Hole) {
	if len(in.Lanes) == 0 { // nothing was ever recorded
		return nil
	}
	for _, h := range in.Lanes[0].Holes { // all lanes have the same
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
