package history

import (
	"strings"
	"testing"
	"time"

	"coordtop/sources"
)

func TestTheEventsOfSeveralRunsHaveTheTimeBetweenThem(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	event := func(run int64, seq uint64, s int) Event {
		return Event{Event: sources.Event{Seq: seq, At: at(s), Detail: "event"}, Run: run}
	}
	run := func(id int64, from, to int, live bool) Run {
		return Run{ID: id, Span: Span{From: at(from), To: at(to)}, Live: live}
	}
	for name, c := range map[string]struct {
		runs   []Run
		events []Event
		want   string
	}{
		"none":                {[]Run{run(1, 0, 10, false), run(9, 20, 20, false)}, nil, ""},
		"none of the first":   {[]Run{run(1, 0, 10, false), run(2, 20, 30, false)}, []Event{event(2, 1, 21)}, "event"},
		"two runs":            {[]Run{run(1, 0, 10, false), run(2, 50, 60, false)}, []Event{event(1, 1, 5), event(2, 1, 51)}, "event, 40 s, event"},
		"up to now":           {[]Run{run(1, 0, 10, false), run(9, 20, 20, false)}, []Event{event(1, 1, 5)}, "event, 10 s"},
		"another one records": {[]Run{run(1, 0, 10, true), run(9, 20, 20, false)}, []Event{event(1, 1, 5)}, "event"},
		"the clock set back":  {[]Run{run(1, 0, 10, false)}, []Event{event(1, 2, 3), event(1, 1, 5)}, "event, event"},
	} {
		var got []string
		for i, e := range withHoles(c.events, c.runs) {
			if e.Kind == sources.EventRestarted {
				_, e.Detail, _ = strings.Cut(e.Detail, "recorded for ")
				e.Detail = strings.TrimSuffix(e.Detail, " before that")
			} else if c.runs[0].ID == 1 && len(c.runs) == 1 && e.Seq != uint64(i+1) {
				t.Errorf("%s: event %d is number %d", name, i, e.Seq)
			}
			got = append(got, e.Detail)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}
