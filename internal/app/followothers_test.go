package app

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/localserver"
	"coordtop/internal/operate"
)

// recordBeside runs body beside a recorder.
func recordBeside(t *testing.T, recorder *world, url string, body func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- recorder.main(ctx, "record", url) }() // received below
	recorder.stderr.await(t, func(s string) bool { return strings.Contains(s, "recording into ") })
	body()
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("recording: exit code %d: %s", code, recorder.stderr)
	}
}

func TestWhatPeopleDoIsRecordedByTheCoordtopThatRecords(t *testing.T) {
	t.Parallel()
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, s.Addr())
	url := "redis://" + s.Addr() + "/0?mutex=app:lock:x"
	w := newWorld(t)
	folder := filepath.Join(w.home, ".local", "state", "coordtop")
	as := func() *world {
		other := newWorld(t)
		other.home = w.home
		return other
	}
	asked := func(args ...string) string {
		t.Helper()
		other := as()
		if code := other.main(t.Context(), args...); code != 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, other.stderr)
		}
		return other.stdout.String()
	}
	reports := func(times int, texts ...string) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; {
			report, whole := asked("report"), true
			for _, text := range texts {
				whole = whole && strings.Count(report, text) == times
			}
			if whole {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the report has not each of %q %d times:\n%s", texts, times, report)
			}
		}
	}
	released := func(reason string) {
		t.Helper()
		set(t, c, "app:lock:x", "host-"+reason, 0)
		if code, line := releases(t, as(), url, guardOf(t, url), "--reason", reason, "--write", "--yes"); code != 0 {
			t.Fatalf("exit code %d, %+v", code, line)
		}
	}
	audit := operate.NewAuditLog(filepath.Join(folder, auditName), operate.Actor{User: "ana", Host: "desk"})
	noted := func(id, text, recording string) {
		t.Helper()
		if err := audit.Write(t.Context(), operate.Record{ID: id, Stage: operate.Only, Action: action.NoteAction, Detail: text, About: time.Now(), Recording: recording}); err != nil {
			t.Fatal(err)
		}
	}
	recordBeside(t, as(), url, func() {
		reports(1, "None is recorded. Actions and notes are those of")
		set(t, c, "app:lock:x", "host-seen", 0)
		// the recorder must know the owner whose end it is to explain
		for deadline := time.Now().Add(20 * time.Second); !strings.Contains(asked("history"), "host-seen"); {
			if time.Now().After(deadline) {
				t.Fatal("its owner is not recorded")
			}
		}
		released("seen")
		noted("n1", "deploy 7", filepath.Join(folder, historyName))
		noted("n2", "of another recording", "elsewhere")
		reports(1, "| release by ", "deploy 7", "\\(\"seen\"\\) |")
		if got := asked("history"); !strings.Contains(got, "evicted by ") {
			t.Errorf("the history has no cause:\n%s", got)
		}
	})
	released("between")
	for range 2 { // nothing comes twice
		recordBeside(t, as(), url, func() { reports(2, "| release by ") })
	}
	if report := asked("report"); strings.Count(report, "| release by ") != 2 || strings.Count(report, "deploy 7") != 1 || strings.Contains(report, "another recording") {
		t.Errorf("the report has not what was done between two runs, once:\n%s", report)
	}
}
