package operate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTheAuditIsReadWithTheEndsOfActionsAlsoFromTheFileBefore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	j := NewAuditLog(path, Actor{User: "ana", Host: "laptop", SSH: "10.0.0.9"})
	write := func(r Record) {
		t.Helper()
		if err := j.Write(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	write(Record{ID: "1", Stage: Before, Action: "release", Source: "leases", Name: "a", LabelBefore: "host-1", Reason: "INC-7", Call: "DEL a"})
	if err := os.Rename(path, path+".1"); err != nil { // as a full one is put aside
		t.Fatal(err)
	}
	write(Record{ID: "1", Stage: After, Action: "release", Result: "done", Detail: "host-2 owns it", LabelAfter: "host-2", LatencyMillis: millis(3 * time.Millisecond)})
	write(Record{ID: "2", Stage: Before, Action: "acquire", Name: "b"})
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"id":"3","stage":"befo`); err != nil { // its writer was killed
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := j.Entries()
	if err != nil || len(got) != 2 {
		t.Fatalf("read %+v, %v", got, err)
	}
	if p := got[0]; p.Who != "ana@laptop from 10.0.0.9" || p.Action != "release" || p.Before.Label != "host-1" || p.After.Label != "host-2" || p.Reason != "INC-7" ||
		p.Result != "done" || p.Detail != "host-2 owns it" || p.Took != 3*time.Millisecond || p.Call != "DEL a" {
		t.Errorf("the first is %+v", p)
	}
	if p := got[1]; p.Ref.Name != "b" || p.Result != "" {
		t.Errorf("the second is %+v", p)
	}
}

func TestWhatIsReadOfALongAuditIsItsEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	j := NewAuditLog(path, Actor{})
	if got, err := j.Entries(); err != nil || len(got) > 0 {
		t.Errorf("of no file: %v, %v", got, err)
	}
	line := `{"id":"%","stage":"only","action":"arm","detail":"` + strings.Repeat("x", 1000) + "\"}\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 3000)+strings.Replace(line, "%", "last", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := j.Entries()
	if err != nil || len(got) != 2 || got[1].ID != "last" {
		t.Errorf("read %d actions, %v", len(got), err)
	}
}
