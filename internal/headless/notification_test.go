package headless_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/headless"
	"coordtop/internal/notify"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// bigFinding is one about so many rows.
func bigFinding(n int) *diagnose.Finding {
	f := &diagnose.Finding{Pattern: diagnose.OwnerTogether, Title: "elections have no leader", Source: "a",
		Reasons: []diagnose.Reason{{Text: "host-22 is gone", Sure: diagnose.Inferred}}, Steps: []diagnose.Step{{Text: "look at host-22"}}}
	for i := range n {
		row := &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "a", Name: fmt.Sprint("x\x1b", i)}}}
		f.Rows = append(f.Rows, diagnose.Row{Row: row, Problem: verdict.Problem{Fault: verdict.NoLeader}})
	}
	return f
}

func TestANotificationHasWhatIsShownAndItsFieldsAreDocumented(t *testing.T) {
	t.Parallel()
	f := bigFinding(1000)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, m := range map[string]notify.Message{
		"prod: elections have no leader. Why: host-22 is gone (inferred). Next: look at host-22":        {Event: notify.Found, ID: "1", At: noon, Title: f.Title, Now: f, Finding: headless.FindingJSON(f)},
		"prod: again: elections have no leader. Why: host-22 is gone (inferred). Next: look at host-22": {Event: notify.FoundAgain, ID: "1", At: noon, Title: f.Title, Now: f, Finding: headless.FindingJSON(f)},
		"prod: ended: elections have no leader":                                                         {Event: notify.Ended, ID: "1", At: noon, Title: f.Title, Finding: headless.FindingJSON(f)},
		"prod: too many to be sent one by one: 2 found, 1 found again, 1,000 ended":                     {Event: notify.More, At: noon, Counts: map[notify.Event]int{notify.Found: 2, notify.FoundAgain: 1, notify.Ended: 1000}},
	} {
		payload := headless.Notification(&m, "prod")
		var got map[string]any
		if err := json.Unmarshal(payload, &got); err != nil || strings.Contains(string(payload), "\x1b") || strings.Count(string(payload), "\n") != 1 {
			t.Fatalf("%s: %v", payload, err)
		}
		if got["text"] != want || got["environment"] != "prod" || got["at"] != "2026-03-01T12:00:00.000000Z" || got["event"] != string(m.Event) {
			t.Errorf("%v, want %s", got, want)
		}
		doc := headless.JSONHelp(headless.OfNotice)
		for key := range got {
			if !strings.Contains(doc, "\n  "+key+" ") && !strings.Contains(doc, "\n  "+key+"\n") {
				t.Errorf("%s is not documented", key)
			}
		}
		finding, _ := got["finding"].(map[string]any)
		if m.Event != notify.More && (finding["rows_left_out"] != 980.0 || len(finding["rows"].([]any)) != 20) {
			t.Errorf("%v rows are left out", finding["rows_left_out"])
		}
	}
}
