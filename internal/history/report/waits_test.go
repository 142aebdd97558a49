package report_test

import (
	"strings"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

func TestAReportTellsWhoWaited(t *testing.T) {
	t.Parallel()
	job, led := sources.Ref{Source: "s", Name: "job"}, sources.Ref{Source: "s", Name: "led"}
	event := func(second int64, kind sources.EventKind, who string) history.Event {
		return history.Event{Run: 1, Event: sources.Event{At: time.Unix(second, 0), Kind: kind, Ref: job, Owner: sources.OwnerRef{ID: who}}}
	}
	seen, running := sources.Seen, sources.Unknown
	text := minute(t, made{
		lanes: []history.Lane{
			{Ref: job, Kind: sources.KindMutex, Terms: []sources.Term{term("a", -10, 30, seen, seen), term("b", 50, 0, seen, running)}},
			{Ref: led, Kind: sources.KindElection, Terms: []sources.Term{term("c", -10, 5, seen, seen), term("d", 8, 0, seen, running)}},
		},
		events: []history.Event{
			event(-5, sources.EventWaiterJoined, "w0"), event(10, sources.EventWaiterJoined, "w1"), event(20, sources.EventWaiterJoined, "b"), event(20, sources.EventWaiterJoined, "brief"),
			event(20, sources.EventWaiterLeft, "brief"), event(40, sources.EventWaiterLeft, "w1"), event(50, sources.EventAcquired, "b"), event(55, sources.EventWaiterJoined, "w2"),
		},
	})
	const day = "1970-01-01 00:00:"
	at := 0
	for _, want := range []string{
		"## Times without an owner", "| " + day + "05.000 | " + day + "08.000 | 3.0 s | s/led | c |",
		"## Longest waits", "| 1969-12-31 23:59:55.000 | 1970-01-01 00:01:00.000 | 65 s | s/job | w0 | a, b | not seen to end |",
		"| " + day + "10.000 | " + day + "40.000 | 30 s | s/job | w1 | a | left |", "| " + day + "20.000 | " + day + "50.000 | 30 s | s/job | b | a | owned it then |",
		"| " + day + "55.000 | 1970-01-01 00:01:00.000 | 5.0 s | s/job | w2 | b | not seen to end |", "## Actions",
	} {
		i := strings.Index(text[at:], want)
		if i < 0 {
			t.Fatalf("it does not say %q next:\n%s", want, text)
		}
		at += i
	}
	if strings.Contains(text, "brief") {
		t.Errorf("it tells who did not wait:\n%s", text)
	}
}
