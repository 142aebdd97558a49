package trouble_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/trouble"
	"coordtop/sources"
)

// TestAnOutageEndsWithItsAnswerOrItsRun has a recorder that is started again.
func TestAnOutageEndsWithItsAnswerOrItsRun(t *testing.T) {
	t.Parallel()
	told := func(run int64, s float64, kind sources.EventKind, scope string) history.Event {
		e := event(s, kind, "", "", "no answer")
		e.Run, e.Scope = run, scope
		return e
	}
	other := told(2, 500, sources.EventSourceDown, "")
	other.Ref.Source = "other"
	const down, up = sources.EventSourceDown, sources.EventSourceUp
	for name, c := range map[string]struct {
		events []history.Event
		want   string
	}{
		"it answers":                          {[]history.Event{told(1, 10, down, ""), told(1, 20, up, "")}, "10..20 then it answered again; "},
		"a source that then tells of a scope": {[]history.Event{told(1, 10, down, ""), told(1, 20, up, "/node")}, "10..20 then it answered again; "},
		"a source of which a scope is down":   {[]history.Event{told(1, 10, down, "/node"), told(1, 12, down, ""), told(1, 20, up, "/node")}, "10..20 then it answered again; "},
		"two scopes":                          {[]history.Event{told(1, 10, down, "/a"), told(1, 12, down, "/b"), told(1, 20, up, "/a")}, "10..20 then it answered again; 12..100 then it was not recorded; "},
		"the run ends":                        {[]history.Event{told(1, 10, down, "")}, "10..100 then it was not recorded; "},
		"and another finds it so":             {[]history.Event{told(1, 10, down, ""), told(2, 160, down, "")}, "10..100 then it was not recorded; 160.. it lasts; "},
		"and another source is down now":      {[]history.Event{told(1, 10, down, ""), other}, "10..100 then it was not recorded; 500.. it lasts; "},
		"and it answers another":              {[]history.Event{told(1, 10, down, ""), told(2, 160, up, "")}, "10..100 then it was not recorded; "},
	} {
		in := &trouble.Input{Span: history.Span{From: at(0), To: at(1000)}, Events: c.events, Thresholds: sources.DefaultThresholds(),
			Runs: []history.Run{{ID: 1, Span: history.Span{From: at(0), To: at(100)}}, {ID: 2, Span: history.Span{From: at(150), To: at(1000)}, Live: true}}}
		got := ""
		for _, o := range trouble.Find(in) {
			got += fmt.Sprint(o.From.Unix(), "..")
			if !o.To.IsZero() {
				got += fmt.Sprint(o.To.Unix())
			}
			got += " " + o.Then(trouble.Words{Text: func(s string) string { return s }}) + "; "
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// busy is a recording with more events of queues than are read, and a lane.
type busy struct {
	history.Reader
	lane   history.Lane
	queues []history.Event
}

func (b busy) Runs(context.Context) ([]history.Run, error) {
	return []history.Run{{ID: 1, Span: history.Span{From: at(0), To: at(1e6)}}}, nil
}

func (b busy) Lanes(context.Context, []sources.Ref, history.Span) ([]history.Lane, error) {
	return []history.Lane{b.lane}, nil
}

func (b busy) Events(_ context.Context, _ time.Time, _, after int, of history.EventFilter) ([]history.Event, error) {
	if len(of.Kinds) == 0 || of.Kinds[0] != sources.EventWaiterJoined {
		return nil, nil
	}
	return b.queues[:min(after, len(b.queues))], nil
}

func TestOfWhatWasNotReadNobodyIsSaidToHaveWaited(t *testing.T) {
	t.Parallel()
	b := busy{lane: lock("a", term("first", 0, 50, sources.CauseReleased), term("w", 50, 60, sources.CauseReleased))}
	b.queues = []history.Event{event(10, sources.EventWaiterJoined, "a", "w", ""), event(20, sources.EventWaiterJoined, "a", "late", "")}
	for len(b.queues) < 30_000 {
		b.queues = append(b.queues, event(30+float64(len(b.queues)), sources.EventWaiterLeft, "b", "other", ""))
	}
	in, err := trouble.Read(t.Context(), b, nil, history.Span{From: at(0), To: at(1e6)}, nil, sources.Thresholds{})
	if err != nil {
		t.Fatal(err)
	}
	waits := trouble.Waits(&in)
	if len(waits) != 2 || waits[1].Who.ID != "w" || waits[1].Length.Max != 40*time.Second || waits[1].Detail != "owned it then" || waits[0].To.After(at(30_000)) {
		t.Errorf("%+v", waits)
	}
}
