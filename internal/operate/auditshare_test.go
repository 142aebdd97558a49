package operate_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/mute"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// team is a Team in memory.
type team struct {
	mu    sync.Mutex
	lines []operate.TeamLine
}

func (m *team) Put(_ operate.Record, who operate.Actor, line []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, operate.TeamLine{By: "db_" + who.User, Line: string(line)})
}

func (*team) Close() {}

func (m *team) Lines() []operate.TeamLine {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]operate.TeamLine(nil), m.lines...)
}

func TestATeamSharesItsAuditAndEachActionIsToldOnceWhenItHasEnded(t *testing.T) {
	t.Parallel()
	shared := &team{}
	log := func(user string) *operate.AuditLog {
		l := operate.NewAuditLog(filepath.Join(t.TempDir(), "state", "audit.jsonl"), operate.Actor{User: user, Host: user + "-desk"})
		l.Share(shared)
		return l
	}
	ana, ben := log("ana"), log("ben")
	write := func(l *operate.AuditLog, id, stage, result string) {
		t.Helper()
		if err := l.Write(t.Context(), operate.Record{ID: id, Stage: stage, Action: "release", Source: "leases", Name: "x", Result: result}); err != nil {
			t.Fatal(err)
		}
	}
	write(ana, "a-1", operate.Before, "")
	write(ben, "b-1", operate.Before, "")
	write(ben, "b-1", operate.After, "done")
	shared.mu.Lock()
	shared.lines = append(shared.lines, operate.TeamLine{By: "mallory", Line: "{"}, operate.TeamLine{By: "mallory", Line: "[1]"}, operate.TeamLine{By: "mallory", Line: `{"id":""}`})
	shared.mu.Unlock()
	entries, err := ben.Entries()
	if err != nil || len(entries) != 2 {
		t.Fatalf("%+v, %v", entries, err)
	}
	for _, e := range entries {
		if other := e.ID == "a-1"; other != strings.HasSuffix(e.Who, ", in the store db_ana") || other != e.Pending() {
			t.Errorf("%+v", e)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := make(chan sources.Event, 10)
	go func() { // ends with ctx
		_ = ben.Follow(ctx, time.Time{}, func(e *action.AuditEntry, _ *sources.Event) bool { return e.ID == "a-1" }, func(e sources.Event) { told <- e })
	}()
	write(ana, "a-1", operate.After, "done")
	select {
	case e := <-told:
		if raw, _ := json.Marshal(e); !strings.Contains(e.Detail, "ana@ana-desk") {
			t.Errorf("%s", raw)
		}
	case <-time.After(patience):
		t.Fatal("the end is not told")
	}
	write(ana, "a-2", operate.Before, "") // another line wakes it
	write(ana, "a-2", operate.After, "done")
	select {
	case e := <-told:
		t.Errorf("it is told twice: %+v", e)
	case <-time.After(2 * time.Second):
	}
}

func TestATeamSharesWhatIsMutedAndWhoEndedIt(t *testing.T) {
	t.Parallel()
	shared := &team{}
	mutes := func(user string) *operate.Mutes {
		l := operate.NewAuditLog(filepath.Join(t.TempDir(), "state", "audit.jsonl"), operate.Actor{User: user, Host: user + "-desk"})
		l.Share(shared)
		return operate.NewMutes(l)
	}
	list := func(m *operate.Mutes) []mute.Mute {
		t.Helper()
		all, err := m.List()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	ana, ben := mutes("ana"), mutes("ben")
	now := time.Now()
	if err := ana.Add(t.Context(), mute.Mute{At: now, Until: now.Add(time.Hour), Filter: "billing"}); err != nil {
		t.Fatal(err)
	}
	seen := list(ben)
	if len(seen) != 1 || seen[0].Filter != "billing" || seen[0].By != "ana@ana-desk, in the store db_ana" || len(list(ana)) != 1 {
		t.Fatalf("ben sees %+v, ana %+v", seen, list(ana))
	}
	seen[0].Pins = map[string]mute.Pin{"leases/x": {}}
	if err := ben.Pin(seen); err != nil {
		t.Fatal(err)
	}
	if again := list(ben); len(again) != 1 || len(again[0].Pins) != 1 {
		t.Errorf("after a pin ben sees %+v", again)
	}
	if err := ben.End(t.Context(), seen[0]); err != nil {
		t.Fatal(err)
	}
	if a, b := list(ana), list(ben); len(a)+len(b) != 0 {
		t.Errorf("after the end ana sees %+v, ben %+v", a, b)
	}
}
