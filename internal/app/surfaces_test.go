package app

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"coordtop/internal/localserver"
)

// lengthMS is the two ends of a length in milliseconds.
type lengthMS struct{ Min, Max int64 }

// near reports whether two programs that looked by themselves agree.
func (b lengthMS) near(other lengthMS) bool {
	apart := func(x, y int64) bool { return max(x-y, y-x) > 1500 }
	return !apart(b.Min, other.Min) && !apart(b.Max, other.Max)
}

// lengthIn reads a length as people see it, as "2.1 s to 9.3 s", behind a word.
func lengthIn(t *testing.T, text, behind string) lengthMS {
	t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(behind) + `\s*([0-9.]+) s (?:to|-) ([0-9.]+) s`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("there is no length behind %q in\n%s", behind, text)
	}
	ms := func(s string) int64 {
		d, err := time.ParseDuration(s + "s")
		if err != nil {
			t.Fatal(err)
		}
		return d.Milliseconds()
	}
	return lengthMS{ms(found[1]), ms(found[2])}
}

// TestAllSurfacesHaveOneAnswer has a leader go, a server fall silent and come back, and another leader
// come: one gap, which darkness cuts. Every surface must say how long it was at a stretch, and in all, with the same
// bounds.
func TestAllSurfacesHaveOneAnswer(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c, key := writer(t, server.Addr()), "app:leader:a"
	url := server.URL() + "?election=" + key
	recorder, seen := newWorld(t), watch(t, newWorld(t), "-o", "json", url)
	defer seen.end()
	recordBeside(t, recorder, url, func() {
		seen.hears(t, "synced")
		set(t, c, key, "host-1:1", time.Hour)
		seen.hears(t, "acquired", "host-1:1")
		<-time.After(time.Second)
		if err := c.Del(t.Context(), key).Err(); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		frozen := server.Freeze()
		<-time.After(5 * time.Second)
		if err := errors.Join(frozen, server.Thaw()); err != nil {
			t.Fatal(err)
		}
		seen.hears(t, "source_up")
		<-time.After(3 * time.Second)
		set(t, c, key, "host-2:2", time.Hour)
		seen.hears(t, "acquired", "host-2:2")
		<-time.After(2 * time.Second)
	})
	var told struct {
		Gap lengthMS `json:"gap_ms"`
	}
	for line := range strings.Lines(seen.stdout.String()) {
		if strings.Contains(line, `"acquired"`) {
			if err := json.Unmarshal([]byte(line), &told); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask := func(args ...string) string {
		w := newWorld(t)
		w.home = recorder.home
		if code := w.main(t.Context(), args...); code != 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, w.stderr)
		}
		return w.stdout.String()
	}
	type past struct {
		What   string
		Length lengthMS `json:"length_ms"`
		Sum    lengthMS `json:"sum_ms"`
		Before lengthMS `json:"gap_before_ms"`
	}
	lines := func(args ...string) (all []past) {
		for line := range strings.Lines(ask(append(args, "-o", "json")...)) {
			var p past
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			if p.What != "unobserved" {
				all = append(all, p)
			}
		}
		return all
	}
	terms, gaps := lines("history"), lines("history", "--gaps")
	if len(gaps) != 1 || len(terms) != 2 {
		t.Fatalf("%d gaps and %d terms, want one gap that darkness cuts, between two terms", len(gaps), len(terms))
	}
	gap := gaps[0]
	if gap.Length.Min < 2500 || gap.Sum.Min < gap.Length.Min+300 || gap.Sum.Max != gap.Length.Max || gap.Sum.Max < gap.Sum.Min+3000 {
		t.Errorf("the gap is %+v, want the longest piece of 3 s, up to 5 s in all, of 10 s", gap)
	}
	if terms[1].Before != gap.Length || !told.Gap.near(gap.Length) {
		t.Errorf("before the next term it was %v, watch says %v, want %v", terms[1].Before, told.Gap, gap.Length)
	}
	report := ask("report")
	row := regexp.MustCompile(`\| election \|.*\n`).FindString(report)
	rounded(t, "the sum of the report", lengthIn(t, row, "| 1 |"), gap.Sum)
	rounded(t, "the longest of the report", lengthIn(t, row, lengthText(row)+" |"), gap.Length)

	boardAgrees(t, recorder, key, gap.Length, gap.Sum)
}

// lengthText is the first length in a row of a table, with the bar before it.
func lengthText(row string) string {
	return regexp.MustCompile(`\| 1 \| [0-9.]+ s - [0-9.]+ s`).FindString(row)
}

// rounded compares a length as people see it.
func rounded(t *testing.T, what string, got, want lengthMS) {
	t.Helper()
	if max(got.Min-want.Min, want.Min-got.Min, got.Max-want.Max, want.Max-got.Max) > 500 {
		t.Errorf("%s says %v, want %v", what, got, want)
	}
}

// boardAgrees reads the gap on the Timeline of a replay.
func boardAgrees(t *testing.T, recorder *world, key string, unbroken, sum lengthMS) {
	t.Helper()
	path := filepath.Join(recorder.home, ".local", "state", "coordtop", "history.db")
	cmd := command(t, "replay", path, "--at", time.Now().Add(-time.Second).Format("2006-01-02 15:04:05"))
	board := onConsole(t, cmd, nil)
	board.Resize(200, 48)
	if err := pty.Setsize(board.file, &pty.Winsize{Rows: 48, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	board.Await(t, key)
	board.types(t, 0, "3")
	board.Await(t, "1 gap")
	text := board.Text()
	rounded(t, "the legend's sum", lengthIn(t, text, "sum"), sum)
	rounded(t, "the legend's longest", lengthIn(t, text, "longest"), unbroken)
	rounded(t, "the cursor's line", lengthIn(t, text, ", gap"), unbroken)
}
