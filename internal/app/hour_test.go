package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/ground/raced"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/recordtest"
)

// toldLine is a line of `history -o json`, in milliseconds since noon.
type toldLine struct {
	What        string
	Owner       string
	Start, End  int64 // End 0: it was not seen
	Cause       string
	Length, Gap [2]int64
}

// TestTheCommandsTellAScriptedHourToTheMillisecond records two runs into one file and asks the program.
func TestTheCommandsTellAScriptedHourToTheMillisecond(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "seven thousand transactions take half a minute then")
	path := filepath.Join(t.TempDir(), "history.db")
	var noon time.Time
	synctest.Test(t, func(t *testing.T) {
		noon = time.Now()
		historytest.Recorded(t, &recordtest.Recorder{Path: path}, nil, nil)
	})
	var terms, gaps []toldLine
	led := historytest.Leaders()
	for i, l := range led {
		term := toldLine{What: "term", Owner: l.Owner, Start: l.Start.Milliseconds(), End: l.End.Milliseconds()}
		if l.Cause != 0 {
			term.Cause = l.Cause.String()
		}
		if i > 0 && l.Start > led[i-1].End {
			gap := toldLine{What: "gap", Start: led[i-1].End.Milliseconds(), End: term.Start}
			length := gap.End - gap.Start
			gap.Length, term.Gap = [2]int64{length, length}, [2]int64{length, length}
			gaps = append(gaps, gap)
		}
		terms = append(terms, term)
	}
	at := func(minutes time.Duration) string {
		return noon.Add(minutes * time.Minute).Local().Format("2006-01-02 15:04")
	}
	ask := func(args ...string) string {
		t.Helper()
		w := newWorld(t)
		args = append(args, "--file", path, "--since", at(-50), "--until", at(70))
		if code := w.main(t.Context(), args...); code != 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, w.stderr)
		}
		return w.stdout.String()
	}
	name := historytest.Leases + "/" + historytest.Billing().Name
	sameLines(t, terms, toldLines(t, ask("history", name, "-o", "json"), noon))
	sameLines(t, gaps, toldLines(t, ask("history", name, "--gaps", "-o", "json"), noon))
	report := ask("report", name)
	clock := func(ms int64) string {
		return noon.Add(time.Duration(ms) * time.Millisecond).Local().Format("2006-01-02 15:04:05.000")
	}
	says := []string{"| " + name + " | election | host-3, host-2, host-1 | 4 | 3 | 8.8 s - 8m38s | 7.0 s |"}
	for _, gap := range gaps {
		says = append(says, fmt.Sprintf("| %s | %s |", clock(gap.Start), clock(gap.End)))
	}
	for _, want := range says {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not say %q:\n%s", want, report)
		}
	}
	keepsObjectives(t, path)
}

// keepsObjectives checks the verdicts on the leaders of Billing. It had none for 8.801 s. Five minutes of the last hour
// were not observed, but fences prove the same leader in them. What is before the recording may be anything.
func keepsObjectives(t *testing.T, path string) {
	t.Helper()
	name := historytest.Leases + "/" + historytest.Billing().Name
	for _, c := range []struct {
		objective, says string
		args            []string
		exit            int
	}{
		{"80 % led over 1h", "within  " + name + "  80 % led over 1h  8.8 s     12m     1.2 %  0.01x           5m0", nil, exitOK},
		{"99.8 % led over 1h", "missed  " + name, nil, exitFailed},
		{"99.8 % led over 1h", "not known  " + name + "  99.8 % led over 1h  1.8 s - 13m", []string{"--at", "15m"}, exitNoAnswer}, // before the last 7 s
		{"99 % owned over 1h", "not known  no mutex fits billing/cron, only another kind", nil, exitNoAnswer},
	} {
		w := newWorld(t)
		file := filepath.Join(t.TempDir(), "config.yaml")
		text := fmt.Sprintf("sources: [{url: redis://a}]\nobjectives: {%q: %s}\n", historytest.Billing().Name, c.objective)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"slo", "--config", file, "--file", path}, c.args...)
		if code := w.main(t.Context(), args...); code != c.exit || !strings.Contains(w.stdout.String(), c.says) {
			t.Errorf("%s %q: exit code %d, want %d and %q:\n%s%s", c.objective, c.args, code, c.exit, c.says, w.stdout, w.stderr)
		}
	}
}

// toldLines reads lines of JSON. It checks that what was not observed is what the script left out.
func toldLines(t *testing.T, text string, noon time.Time) (lines []toldLine) {
	t.Helper()
	dark := []time.Duration{ // from and to; up to so much more at both ends until a source was read again
		-50 * time.Minute, 0, historytest.Silent, historytest.Answers, historytest.StepAt, historytest.StepAt + historytest.Step,
		historytest.Stopped + historytest.Step, historytest.Started + historytest.Step, historytest.Length + historytest.Step, 0,
	}
	for line := range strings.Lines(text) {
		var got struct {
			What     string
			Owner    *struct{ ID string }
			Start    time.Time
			End      *time.Time
			Cause    *string
			EndKnown *string                   `json:"end_known"`
			Length   *struct{ Min, Max int64 } `json:"length_ms"`
			Gap      *struct{ Min, Max int64 } `json:"gap_before_ms"`
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		l := toldLine{What: got.What, Start: got.Start.Sub(noon).Milliseconds()}
		if got.End != nil && (got.EndKnown == nil || *got.EndKnown != "bound") {
			l.End = got.End.Sub(noon).Milliseconds()
		}
		if l.What == "unobserved" {
			const again = 2500
			if len(dark) == 0 || dark[0].Milliseconds()-l.Start > again || l.Start > dark[0].Milliseconds() || l.End < dark[1].Milliseconds() || l.End > dark[1].Milliseconds()+again {
				t.Errorf("not observed: %s", line)
			}
			dark = dark[min(2, len(dark)):]
			continue
		}
		if got.Owner != nil {
			l.Owner = got.Owner.ID
		}
		if got.Cause != nil {
			l.Cause = *got.Cause
		}
		if got.Length != nil && l.What == "gap" {
			l.Length = [2]int64{got.Length.Min, got.Length.Max}
		}
		if got.Gap != nil {
			l.Gap = [2]int64{got.Gap.Min, got.Gap.Max}
		}
		lines = append(lines, l)
	}
	if len(dark) > 0 {
		t.Errorf("said to be observed: %v", dark)
	}
	return lines
}

func sameLines(t *testing.T, want, got []toldLine) {
	t.Helper()
	if fmt.Sprint(want) != fmt.Sprint(got) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
