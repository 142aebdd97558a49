package app

import (
	"encoding/json"
	"errors"
	"os"
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

// meets reports whether one truth can lie in both, as it must of two programs that looked by themselves.
func (b lengthMS) meets(other lengthMS) bool { return b.Min <= other.Max && other.Min <= b.Max }

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
	told := toldGap(t, seen.stdout.String())
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
		Start  time.Time
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
	if gap.Length.Min < 1000 || gap.Sum.Min <= gap.Length.Min || gap.Sum.Max != gap.Length.Max || gap.Sum.Max < gap.Sum.Min+3000 {
		t.Errorf("the gap is %+v, want the longest piece of 3 s, up to 5 s in all, of 10 s", gap)
	}
	if terms[1].Before != gap.Length || !told.meets(gap.Length) {
		t.Errorf("before the next term it was %v, watch says %v, want %v", terms[1].Before, told, gap.Length)
	}
	shown := terms[1].Start.Add(1500 * time.Millisecond) // while both watch; what comes later may have been free
	report := ask("report", "--until", shown.Local().Format(time.DateTime))
	row := regexp.MustCompile(`\| election \|.*\n`).FindString(report)
	rounded(t, "the sum of the report", lengthIn(t, row, "| 1 |"), gap.Sum)
	rounded(t, "the longest of the report", lengthIn(t, row, lengthText(row)+" |"), gap.Length)

	getAgrees(t, ask("get", "-o", "json", url), terms[1].Start)
	if l := terms[1].Length; l.Max != 0 || l.Min < 1000 {
		t.Errorf("the second one has owned it for %+v, want 2 s at least, and no end of it", l)
	}
	before := boardAgrees(t, recorder, key, shown, gap.Length, gap.Sum)
	if len(before) != 1 || before[0].Held != terms[0].Length {
		t.Errorf("a row that the board writes says of the first one %+v, want %v", before, terms[0].Length)
	}
}

// getAgrees compares what get says of who owns it since start.
func getAgrees(t *testing.T, text string, start time.Time) {
	t.Helper()
	var live struct {
		Primitives []struct {
			Owners []struct {
				Since      time.Time
				SinceKnown string `json:"since_known"`
			}
			Before []former
		}
	}
	if err := json.Unmarshal([]byte(text), &live); err != nil {
		t.Fatal(err)
	}
	if p := live.Primitives[0]; len(p.Before) > 0 || p.Owners[0].SinceKnown != "at_least" || p.Owners[0].Since.Before(start) {
		t.Errorf("get, which looks once, says %+v, want an owner since %v at least, and nobody before", p, start)
	}
}

// former is an owner of before in the object of get.
type former struct {
	Held lengthMS `json:"held_ms"`
}

// toldGap is what watch says of the gap before the last taking.
func toldGap(t *testing.T, lines string) lengthMS {
	t.Helper()
	var told struct {
		Gap lengthMS `json:"gap_ms"`
	}
	for line := range strings.Lines(lines) {
		if strings.Contains(line, `"acquired"`) {
			if err := json.Unmarshal([]byte(line), &told); err != nil {
				t.Fatal(err)
			}
		}
	}
	return told.Gap
}

// lengthText is the first length in a row of a table, with the bar before it.
func lengthText(row string) string {
	return regexp.MustCompile(`\| 1 \| [0-9.]+ s - [0-9.]+ s`).FindString(row)
}

// rounded compares a length as people see it: in tenths of a second, and from 10 s on in seconds.
func rounded(t *testing.T, what string, got, want lengthMS) {
	t.Helper()
	off := func(got, want int64) bool {
		step := int64(100)
		if want >= 9900 {
			step = 1000
		}
		return max(got-want, want-got) > step
	}
	if off(got.Min, want.Min) || off(got.Max, want.Max) {
		t.Errorf("%s says %v, want %v", what, got, want)
	}
}

// boardAgrees reads the gap on the Timeline of a replay, and returns what a row that it writes says of former owners.
func boardAgrees(t *testing.T, recorder *world, key string, at time.Time, unbroken, sum lengthMS) []former {
	t.Helper()
	path := filepath.Join(recorder.home, ".local", "state", "coordtop", "history.db")
	cmd := command(t, "replay", path, "--at", at.Local().Format(time.DateTime))
	cmd.Dir = t.TempDir()
	board := onConsole(t, cmd, nil)
	board.Resize(200, 48)
	if err := pty.Setsize(board.file, &pty.Winsize{Rows: 48, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	board.Await(t, key)
	board.types(t, 0, "3")
	board.Await(t, "1 gap")
	board.Settle()
	text := board.Text()
	rounded(t, "the legend's sum", lengthIn(t, text, "sum"), sum)
	rounded(t, "the legend's longest", lengthIn(t, text, ", longest"), unbroken)
	rounded(t, "the cursor's line", lengthIn(t, text, ", gap"), unbroken)
	board.types(t, 0, "2")
	board.Await(t, "OWNER")
	board.types(t, 100*time.Millisecond, "e", "j")
	board.Await(t, "1 row in")
	files, err := filepath.Glob(filepath.Join(cmd.Dir, "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	var row struct{ Before []former }
	object, err := os.ReadFile(files[0])
	if err := errors.Join(err, json.Unmarshal(object, &row)); err != nil {
		t.Fatal(err)
	}
	return row.Before
}
