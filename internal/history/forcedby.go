package history

import (
	"context"
	"strings"
	"time"

	"coordtop/sources"
)

// forcedWithin is how long after the sending a forced end is seen at most.
const forcedWithin = 15 * time.Second

// ForcedBy returns the name of the person who ended a term of ref by force. It looks in acts, the
// events of actions. "": no such action is known.
func ForcedBy(ref sources.Ref, t *sources.Term, acts []sources.Event) string {
	for i := range acts {
		a := &acts[i]
		if a.Kind != sources.EventAction || a.Cause != sources.CauseEvicted || a.Ref != ref || a.Previous.ID != t.Owner.ID {
			continue
		}
		who, release := strings.CutPrefix(a.Detail, "release by ")
		if after := t.End.At.Sub(a.At); release && !a.At.Before(t.Start.At) && after >= 0 && after <= forcedWithin {
			who, _, _ = strings.Cut(who, ":")
			return who
		}
	}
	return ""
}

// mostActs bounds how many actions are read.
const mostActs = 20_000

// Acts returns what people did in a span, and just before it, for ForcedBy.
func Acts(ctx context.Context, r EventReader, span Span) ([]sources.Event, error) {
	events, err := r.Events(ctx, span.From.Add(-forcedWithin), 0, mostActs, EventFilter{Kinds: []sources.EventKind{sources.EventAction}})
	var acts []sources.Event
	for i := range events {
		if events[i].At.Before(span.To) {
			acts = append(acts, events[i].Event)
		}
	}
	return acts, err
}
