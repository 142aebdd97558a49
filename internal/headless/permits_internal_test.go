package headless

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"coordtop/sources"
)

// TestAllPermitsAreMinusOne: of what has no limit the owner of all has as many as there can be.
func TestAllPermitsAreMinusOne(t *testing.T) {
	t.Parallel()
	const all = sources.NoLimit
	p := &sources.Primitive{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: sources.KindSemaphore, Limit: all, LimitHow: sources.Told,
		OwnersHow: sources.Told, Taken: all, Owners: []sources.Owner{{ID: "a", Label: "a", Permits: all}}}
	p.Queue = sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{ID: "w", Permits: all}}}
	counts := sources.Counts{Taken: all, Limit: all}
	event := &sources.Event{Kind: sources.EventCountChanged, Was: counts, Now: sources.Counts{Taken: 1, Limit: all}}
	var held strings.Builder
	if err := WriteHeld(&held, Held{Permits: all}); err != nil {
		t.Fatal(err)
	}
	for what, v := range map[string]any{
		"an owner": ownerOf(&p.Owners[0]), "a waiter": waiterOf(&p.Queue.Waiters[0]), "what is held": json.RawMessage(held.String()), "counts": countsOf(event),
	} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "18446744073709551615") || !strings.Contains(string(text), `:-1`) {
			t.Errorf("%s with all permits is %s", what, text)
		}
	}
	for what, text := range map[string]string{
		"text of counts": counts.Text(),
		"line of text":   strings.Join(textRow(&sources.State{Scopes: []sources.Scope{{}}}, &sources.Row{Primitive: p}, "x", time.Now()), " "),
	} {
		if strings.Contains(text, "18446744073709551615") {
			t.Errorf("the %s with all permits is %q", what, text)
		}
	}
	if got := counts.Text(); got != "-1 of -1 taken" {
		t.Errorf("the text of counts is %q", got)
	}
}
