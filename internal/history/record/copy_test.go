package record

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
)

// instants are where the live Hub and the replay are compared.
func instants() []time.Duration {
	return []time.Duration{3 * time.Second, 10*time.Minute + 100*time.Millisecond, 10*time.Minute + 3*time.Second, 25 * time.Minute, 55 * time.Minute}
}

func TestARecordingTellsWhatHappened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	states := map[time.Time]*sources.State{}
	var log *historytest.Log
	synctest.Test(t, func(t *testing.T) {
		log = historytest.Hour(t, instants(), func(hub *sources.Hub, now time.Time) { states[now] = hub.State() })
	})
	all := history.Span{From: time.Unix(0, 1), To: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}
	export(t, log, all, path, false)
	s := sqlite.NewReader(path)
	defer closed(t, s)
	lanes, err := s.Lanes(t.Context(), []sources.Ref{historytest.Billing(), historytest.Pool()}, all)
	if err != nil {
		t.Fatal(err)
	}
	told := historytest.Leaders()
	noon := begin(t, log)
	var got []historytest.Led
	for _, term := range lanes[0].Terms {
		l := historytest.Led{Owner: term.Owner.Label, Fence: term.Owner.Fence, Start: term.Start.At.Sub(noon), Cause: term.Cause}
		if term.End.At.After(noon) && term.End.How != sources.Bound {
			l.End = term.End.At.Sub(noon)
		}
		got = append(got, l)
	}
	if !reflect.DeepEqual(got, told) {

		t.Errorf("leaders %+v\nwant    %+v", got, told)
	}
	if len(lanes[1].Levels) == 0 || len(lanes[1].Terms) == 0 {
		t.Errorf("the semaphore has %d levels and %d terms", len(lanes[1].Levels), len(lanes[1].Terms))
	}
	for at, want := range states {
		if got := stateAt(t, s, at); !sameRows(got, want) {
			t.Errorf("at %v the replay has other rows than the Hub had", at)
		}
	}
}

func TestAnExportHoldsNoNameWhereItIsMasked(t *testing.T) {
	t.Parallel()
	var log *historytest.Log
	synctest.Test(t, func(t *testing.T) {
		log = historytest.Hour(t, nil, nil)
	})
	path := filepath.Join(t.TempDir(), "x.coordtop")
	export(t, log, history.Span{From: begin(t, log).Add(5 * time.Minute), To: begin(t, log).Add(20 * time.Minute)}, path, true)
	if beside, _ := filepath.Glob(path + "-*"); len(beside) > 0 {
		t.Errorf("%v must be sent with it", beside)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"billing", "host-1", "indexer", historytest.Leases} {
		if bytes.Contains(raw, []byte(secret)) {
			t.Errorf("the export holds %q", secret)
		}
	}
	s := sqlite.NewReader(path)
	defer closed(t, s)
	lanes, err := s.Lanes(t.Context(), nil, history.Span{From: begin(t, log), To: begin(t, log).Add(time.Hour)})
	if err != nil || !slices.ContainsFunc(lanes, func(l history.Lane) bool { return len(l.Terms) == 4 }) {
		t.Errorf("%d lanes, %v: want one with four leaders", len(lanes), err)
	}
}

// TestAMaskedActionSaysWhatWasDoneAndHowItWent looks at what a mask makes of the actions of audits.
func TestAMaskedActionSaysWhatWasDoneAndHowItWent(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	entry := func(verb, reason, result, detail string) sources.Event {
		e := action.AuditEntry{At: began, Ended: began.Add(3 * time.Second), Who: "alice@host-1", Reason: reason, Action: verb, Result: result, Detail: detail}
		event, _ := e.Event()
		return event
	}
	m := newDisguise(true)
	if _, err := m.keyframe(&sources.Keyframe{}); err != nil {
		t.Fatal(err)
	}
	hidden := "[0-9a-f]{10}"
	for i, c := range []struct {
		event sources.Event
		want  string
	}{
		{entry("release", "", "done", "host-1 owned it"), "release by " + hidden + ": done"},
		{entry("release", `host-1 "hangs": done`, "done", "host-1 owned it"), "release by " + hidden + ` \("` + hidden + `"\): done`},
		{entry("acquire", "", "failed", "NOAUTH secret"), "acquire by " + hidden + ": failed"},
		{entry("campaign", "", "", ""), "campaign by " + hidden + ": no end is written"},
		{entry("lost", "", "failed", "host-1"), "lost by " + hidden + ": failed"},
		{entry("note", "", "", "release by alice: done"), hidden},
		{sources.Event{Kind: sources.EventAction, Detail: "acquire by alice: still waiting: host-1 is there"}, "acquire by " + hidden + ": still waiting"},
		{sources.Event{Kind: sources.EventAction, Detail: "billing by alice: done"}, hidden},
		{sources.Event{Kind: sources.EventAction, Detail: "release by alice: donezo"}, hidden},
		{sources.Event{Kind: sources.EventAction, Detail: "release by alice: x: done"}, hidden},
	} {
		event := c.event
		got, err := m.inputs([]sources.Input{{Kind: sources.InputNote, Seq: uint64(i + 1), Note: &event}})
		if err != nil || len(got) != 1 || !regexp.MustCompile("^"+c.want+"$").MatchString(got[0].Note.Detail) {
			t.Errorf("of %q it makes %q, %v: want %s", event.Detail, got[0].Note.Detail, err, c.want)
		}
		if event != c.event {
			t.Errorf("what was recorded is %q now", event.Detail)
		}
	}
}

// begin is when the Hour began.
func begin(t *testing.T, log history.Log) time.Time {
	t.Helper()
	runs, err := log.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return runs[0].From
}

func export(t *testing.T, log history.Log, span history.Span, path string, masked bool) {
	t.Helper()
	err := Copy(t.Context(), log, span, masked, func(r history.Run) (Output, error) {
		return sqlite.Begin(context.Background(), sqlite.Options{Path: path}, r)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func closed(t *testing.T, s *sqlite.Reader) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// stateAt replays up to an instant.
func stateAt(t *testing.T, s *sqlite.Reader, at time.Time) *sources.State {
	t.Helper()
	c, err := s.Cursor(t.Context(), 0, at)
	if err != nil {
		t.Fatal(err)
	}
	var r *sources.Replayer
	for {
		p, err := c.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p.Keyframe != nil {
			r = sources.NewReplayerAt(p.Keyframe, sources.HubOptions{})
		}
		for _, in := range p.Inputs {
			if in.At.Wall.After(at) {
				return r.Hub().State()
			}
			if err := r.Apply(in); err != nil {
				t.Fatal(err)
			}
		}
		if p.Empty() {
			return r.Hub().State()
		}
	}
}

func sameRows(a, b *sources.State) bool {
	return slices.EqualFunc(a.Rows, b.Rows, func(a, b *sources.Row) bool {
		if a == nil || b == nil {
			return a == b
		}
		return a.Ref == b.Ref && reflect.DeepEqual(a.Owners, b.Owners) && reflect.DeepEqual(a.Queue, b.Queue) && reflect.DeepEqual(a.Terms, b.Terms)
	})
}
