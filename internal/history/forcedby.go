package history

import (
	"context"
	"fmt"

	"coordtop/internal/action"
	"coordtop/sources"
)

// ForcedBy names the person who ended a term of ref by force, and the reason if one was given. It searches acts, the
// events of actions. It returns "" if no such action is known.
func ForcedBy(ref sources.Ref, t *sources.Term, acts []sources.Event) string {
	for i := range acts {
		a := &acts[i]
		if a.Ref != ref || !sources.Forced(t, a) {
			continue
		}
		account, ok := action.AccountOf(a.Detail)
		if !ok || account.Verb != action.Release.String() {
			continue
		}
		if account.Reason != "" {
			return fmt.Sprintf("%s (%q)", account.Who, account.Reason)
		}
		return account.Who
	}
	return ""
}

// mostActs is the most actions that are read.
const mostActs = 20_000

// Acts returns the actions of people in a span, and those within sources.ForcedWithin before it, for ForcedBy.
func Acts(ctx context.Context, r EventReader, span Span) ([]sources.Event, error) {
	events, err := r.Events(ctx, span.From.Add(-sources.ForcedWithin), 0, mostActs, EventFilter{Kinds: []sources.EventKind{sources.EventAction}})
	var acts []sources.Event
	for i := range events {
		if events[i].At.Before(span.To) {
			acts = append(acts, events[i].Event)
		}
	}
	return acts, err
}
