package sources_test

import (
	"testing"

	"coordtop/sources"
)

func TestActionIsToldToSubscribersAndChangesNoRow(t *testing.T) {
	t.Parallel()
	hub := sources.NewHub(t.Context(), sources.HubOptions{})
	defer hub.Close()
	sub := hub.Subscribe(0)
	defer sub.Close()
	hub.Note(sources.Event{Kind: sources.EventAction, How: sources.Ours, Ref: sources.Ref{Source: "r", Name: "x"}, Detail: "resign by ana: done"})
	<-sub.Wake()
	events, missed := sub.Events(0)
	if missed != 0 || len(events) != 1 {
		t.Fatalf("got %v and missed %d, want the one event", events, missed)
	}
	e := events[0]
	if e.Kind.String() != "action" || e.Seq != 1 || e.At.IsZero() || e.Detail != "resign by ana: done" {
		t.Errorf("got %+v", e)
	}
	if rows := hub.State().Rows; len(rows) != 0 {
		t.Errorf("it made rows: %v", rows)
	}
}
