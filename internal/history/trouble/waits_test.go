package trouble_test

import (
	"fmt"
	"testing"

	"coordtop/internal/history"
	"coordtop/internal/history/trouble"
	"coordtop/sources"
)

// TestAWaitIsAsLongAsTheLooksAllow has queues that are read every 5 s, and a recorder that is started again.
func TestAWaitIsAsLongAsTheLooksAllow(t *testing.T) {
	t.Parallel()
	looked := func(run int64, s float64, kind sources.EventKind, who string) history.Event {
		e := event(s, kind, "a", who, "")
		e.Run, e.After, e.How = run, at(s-5), sources.Seen
		return e
	}
	there := func(run int64, s float64, who string) history.Event { // when it was first looked at
		e := event(s, sources.EventWaiterJoined, "a", who, "")
		e.Run, e.How = run, sources.AtLeast
		return e
	}
	tests := map[string]struct {
		events []history.Event
		want   string
	}{
		"between looks":          {[]history.Event{looked(1, 10, sources.EventWaiterJoined, "w"), looked(1, 30, sources.EventWaiterLeft, "w")}, "15 s - 25 s left"},
		"within one look":        {[]history.Event{looked(1, 10, sources.EventWaiterJoined, "w"), looked(1, 12, sources.EventWaiterLeft, "w")}, "≤ 7.0 s left"},
		"there before it began":  {[]history.Event{there(1, 0, "w"), event(30, sources.EventAcquired, "a", "w", "")}, "≥ 30 s owned it then"},
		"still there":            {[]history.Event{looked(1, 10, sources.EventWaiterJoined, "w")}, "90 s - 95 s not seen to end"},
		"there before and after": {[]history.Event{looked(1, 10, sources.EventWaiterJoined, "w"), there(2, 150, "w"), looked(2, 190, sources.EventWaiterLeft, "w")}, "90 s - 95 s not seen to end, ≥ 35 s left"},
		"served unseen":          {[]history.Event{looked(1, 90, sources.EventWaiterJoined, "w"), event(900, sources.EventAcquired, "a", "w", "")}, "10 s - 15 s not seen to end"},
		"told twice in one look": {[]history.Event{event(10, sources.EventWaiterJoined, "a", "w", ""), event(12, sources.EventWaiterJoined, "a", "w", ""), event(20, sources.EventWaiterLeft, "a", "w", "")}, "10 s left"},
	}
	for name, test := range tests {
		in := &trouble.Input{Span: history.Span{From: at(0), To: at(1000)}, Events: test.events,
			Runs: []history.Run{{ID: 1, Span: history.Span{From: at(0), To: at(100)}}, {ID: 2, Span: history.Span{From: at(150), To: at(1000)}}}}
		got := ""
		for _, w := range trouble.Waits(in) {
			if got != "" {
				got += ", "
			}
			got += fmt.Sprint(w.Length.Short(), " ", w.Detail)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
