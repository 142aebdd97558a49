package ui

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/uitest"
)

// audited drives a board whose audit has these actions.
func audited(w, h int, entries *[]action.AuditEntry, err *error) *driver {
	a, b, _ := three()
	op := newTestOperator()
	op.Change(func(s *action.Status) { s.Audit = "/home/ana/.local/state/coordtop/audit.jsonl" })
	return drive(newTestFeed(uitest.State(noon(), a, b)), Options{Width: w, Height: h, Operator: op, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8", "HOME=/home/ana"},
		AuditEntries: func() ([]action.AuditEntry, error) { return *entries, *err }})
}

// audit goes to the Audit screen and brings what it reads.
func (d *driver) audit() { d.obey(d.send(key("6"))) }

func someEntries() []action.AuditEntry {
	at := noon().Add(-time.Hour)
	ref := func(name string) sources.Ref { return sources.Ref{Source: uitest.Redis, Space: "0", Name: name} }
	return []action.AuditEntry{
		{ID: "1", At: at, Who: "ana@laptop from 10.0.0.9", Action: "arm"},
		{ID: "2", At: at.Add(time.Minute), Who: "ana@laptop from 10.0.0.9", Action: "release", Ref: ref("a"), Kind: "election", Before: sources.OwnerRef{Label: "host-9"}, After: sources.OwnerRef{Label: "host-1"},
			Reason: "INC-4411 hung\x1b[31m after deploy", Call: "delete a if it is unchanged", Result: "done", Detail: "host-1 leads now, after 0.4 s without", Took: 3 * time.Millisecond},
		{ID: "3", At: at.Add(2 * time.Minute), Who: "bo@ops-2", Action: "acquire", Ref: ref("gone"), Kind: "mutex", Call: "SET gone"},
		{ID: "4", At: at.Add(3 * time.Minute), Who: "bo@ops-2", Action: "release", Ref: ref("b"), Kind: "election", Before: sources.OwnerRef{Label: "host-2"}, Call: "x", Result: "missed", Detail: "it changed just before, nothing was released: the key is gone"},
	}
}

func TestANoteStandsInTheAuditAsItsText(t *testing.T) {
	t.Parallel()
	entries, failed := []action.AuditEntry{{ID: "1", At: noon(), Who: "ana@laptop", Action: "note", Detail: "moved to host-02"}}, error(nil)
	d := audited(160, 48, &entries, &failed)
	d.audit()
	d.shows(t, "moved to host-02")
	d.showsNot(t, ": moved to host-02")
}

func TestTheAuditScreenSaysWhoDidWhatWhyAndWhatCameOfIt(t *testing.T) {
	t.Parallel()
	entries, failed := someEntries(), error(nil)
	d := audited(160, 48, &entries, &failed)
	reading := d.send(key("6"))
	d.shows(t, "reading the audit")
	d.obey(reading)
	lines := d.lines()
	if !strings.Contains(lines[4], "release     b") || !strings.Contains(lines[4], "missed: it changed just before") || !strings.Contains(lines[7], "ana arm") {
		t.Errorf("the newest does not stand first:\n%s", d.text())
	}
	d.press("j", "j")
	for _, want := range []string{"of ~/.local/state/coordtop/audit.jsonl", `done, because INC-4411 hung\x1b[31m after deploy: host-1 leads now`, "no end is written", "WHO     ana@laptop from 10.0.0.9", "WHAT    release a",
		"OWNER   host-9  afterwards host-1", `WHY     INC-4411 hung\x1b[31m after deploy`, "SENT    delete a if it is unchanged",
		"RESULT  done: host-1 leads now, after 0.4 s without (answered after 3.0 ms)", "3 of 4"} {
		d.shows(t, want)
	}
	entries = append(entries, action.AuditEntry{ID: "5", At: noon(), Who: "eve@x", Action: "disarm"})
	d.feed.Pass(3 * time.Second)
	d.obey(d.send(tea.ResumeMsg{}))
	d.shows(t, "disarm") // what others write comes by itself
	d.shows(t, "4 of 5") // and the cursor stays on its action
	d.press("enter")
	if row, _ := d.Selected(); row == nil || row.Name != "a" {
		t.Errorf("enter goes to %v", row)
	}
	d.press("esc", "k", "enter")
	d.shows(t, "gone does not exist any more")
	failed = errors.New("the disk\a is gone")
	entries = nil
	d.press("q")
	d.audit()
	d.showsNot(t, "the disk") // the last that was read stands
	d = audited(80, 24, &entries, &failed)
	d.audit()
	d.shows(t, `the disk\a is gone`)
	failed = nil
	d.feed.Pass(3 * time.Second)
	d.obey(d.send(tea.ResumeMsg{}))
	d.shows(t, "nothing was done through coordtop yet")
}

func TestTheAuditIsFilteredAsRowsAre(t *testing.T) {
	t.Parallel()
	entries, failed := someEntries(), error(nil)
	for text, want := range map[string]string{
		"release": "of 2", "INC-4411": "of 1", "kind=mutex": "of 1", "name=a": "of 1", "owner=host-1": "of 1", "source=leases !release": "of 1", "bo": "of 2",
		"action=release": "of 2", "action=release result=done": "of 1", "result=?": "of 2", "result!=done": "of 1", "user=ana": "of 2", "user!=ana": "of 2", "user~ops": "of 2",
		"state=led": "no action of what is selected: esc shows all", "wait>3": "no action of what is selected", "name=?": "of 1",
	} {
		d := audited(120, 40, &entries, &failed)
		d.audit()
		d.press("/")
		d.typed(text)
		d.shows(t, want)
	}
}

func TestAFilterOfTheAuditIsCompletedFromTheAudit(t *testing.T) {
	t.Parallel()
	entries, failed := someEntries(), error(nil)
	for typed, want := range map[string]string{
		"act": "/ action=", "action=rel": "/ action=release", "user=b": "/ user=bo", "result=d": "/ result=done", "stat": "/ stat",
	} {
		d := audited(120, 40, &entries, &failed)
		d.audit()
		d.press("/")
		d.typed(typed)
		d.press("tab")
		d.shows(t, want)
		d.showsNot(t, want+"e")
	}
	d := audited(120, 40, &entries, &failed)
	d.press("/")
	d.typed("acti")
	d.press("tab")
	d.showsNot(t, "action=") // rows have no such thing
}

func TestTheActionsThatAreListedAreExported(t *testing.T) {
	t.Chdir(t.TempDir())
	entries, failed := someEntries(), error(nil)
	d := audited(120, 40, &entries, &failed)
	d.options.Export = func(io.Writer, Form, *sources.State, []*sources.Row, time.Time) error {
		return errors.New("rows were exported")
	}
	d.options.ExportTable = func(w io.Writer, _ Form, table [][]string) error { return json.NewEncoder(w).Encode(table) }
	d.audit()
	d.press("/")
	d.typed("INC-4411")
	d.press("enter", "e")
	msg, ok := d.send(key("j"))().(exportedMsg)
	if !ok {
		t.Fatal("no export")
	}
	d.send(msg)
	d.shows(t, "1 action in ")
	text, err := os.ReadFile(msg.path)
	if err != nil || !strings.Contains(string(text), `INC-4411 hung\\x1b[31m after deploy`) || strings.Contains(string(text), "ops-2") {
		t.Errorf("exported %s, %v", text, err)
	}
}

func TestAnActionOfThisRunIsUnderWayUntilItEnds(t *testing.T) {
	t.Parallel()
	ref := sources.Ref{Source: uitest.Redis, Space: "0", Name: "a"}
	for name, tt := range map[string]struct {
		ours  bool
		phase action.Phase
		want  string
	}{
		"ours":                 {true, action.Sent, "RESULT  under way"},
		"ours, and it is over": {true, action.Failed, "RESULT  no end is written"},
		"of another run":       {false, action.Sent, "RESULT  no end is written"},
	} {
		entries, failed := []action.AuditEntry{{ID: "1", At: noon(), Who: "ana@laptop", Action: "release", Ref: ref, Call: "x", Before: sources.OwnerRef{Label: "host-9"}, Ours: tt.ours}}, error(nil)
		a, _, _ := three()
		op := newTestOperator()
		op.Change(func(s *action.Status) {
			s.Runs = []action.Run{{ID: 1, Phase: tt.phase, Request: action.Request{Verb: action.Release, Target: action.Target{Ref: ref}}}}
		})
		d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 120, Height: 40, Operator: op, AuditEntries: func() ([]action.AuditEntry, error) { return entries, failed }})
		d.audit()
		if !strings.Contains(d.text(), tt.want) || strings.Contains(d.text(), "afterwards") {
			t.Errorf("%s: it shows\n%s", name, d.text())
		}
	}
}

func TestTheAuditSaysThatNobodyOwnedItAfterwards(t *testing.T) {
	t.Parallel()
	for p, want := range map[action.AuditEntry]string{
		{Action: "release", Result: "done"}:     "host-9  afterwards nobody",
		{Action: "resign", Result: "done"}:      "host-9  afterwards nobody",
		{Action: "cancel-wait", Result: "done"}: "",
		{Action: "release", Result: "not seen"}: "",
	} {
		p.At, p.Before.Label, p.Call, p.ID = noon(), "host-9", "x", "1"
		entries, failed := []action.AuditEntry{p}, error(nil)
		d := audited(120, 40, &entries, &failed)
		d.audit()
		if want == "" {
			d.showsNot(t, "afterwards")
			continue
		}
		d.shows(t, want)
	}
}
