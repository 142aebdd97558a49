package headless_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/headless"
	"coordtop/internal/history"
	"coordtop/sources"
)

func TestHistoryPrintsTheDocumentedLines(t *testing.T) {
	t.Parallel()
	at := func(s float64) time.Time { return time.Unix(0, int64(s*1e9)).UTC() }
	seen := func(after, s float64) sources.Stamp { return sources.StampBetween(at(after), at(s), sources.Seen) }
	owner := sources.OwnerRef{ID: "#1\x1b[31m", Label: "ana\xff", Fence: 1 << 60}
	lanes := []history.Lane{{
		Ref: sources.Ref{Source: "leases", Space: "0", Name: "billing\xff"}, Kind: sources.KindElection,
		Terms: []sources.Term{
			{Owner: owner, Start: sources.Stamp{At: at(10), How: sources.AtLeast}, End: sources.Stamp{At: at(20), How: sources.Told}, Cause: sources.CauseExpired, How: sources.Told},
			{Owner: sources.OwnerRef{ID: "b"}, Start: seen(20.2, 20.3), End: seen(40, 45), Cause: sources.CauseUnknown},
			{Owner: sources.OwnerRef{ID: "c"}, Start: seen(50, 51)},
		},
		Dark: []sources.Dark{{From: at(46), To: at(47.5)}, {From: at(70)}},
	}, {
		Ref: sources.Ref{Source: "coord", Space: "/a", Name: "pool"}, Kind: sources.KindSemaphore, Levels: []sources.Level{{At: at(1)}},
		Terms: []sources.Term{{Owner: owner, Start: seen(0, 10), End: seen(0, 11)}, {Owner: owner, Start: seen(0, 20)}},
	}, {
		Ref: sources.Ref{Source: "leases", Space: "0", Name: "unrecorded"}, Kind: sources.KindElection,
		Terms: []sources.Term{{Owner: owner, Start: seen(0, 10), End: sources.Stamp{At: at(30), How: sources.Bound}}},
		Dark:  []sources.Dark{{From: at(30)}},
	}, {
		Ref: sources.Ref{Source: "leases", Space: "0", Name: "free"}, Kind: sources.KindMutex,
		Terms: []sources.Term{{Owner: owner, Start: seen(0, 10), End: sources.Stamp{At: at(30), How: sources.Told}, Cause: sources.CauseReleased, How: sources.Told}},
	}}
	for _, c := range []struct {
		file string
		o    headless.HistoryOptions
	}{
		{"history.jsonl", headless.HistoryOptions{Format: headless.JSON}},
		{"history-gaps.jsonl", headless.HistoryOptions{Format: headless.JSON, Gaps: true}},
		{"history.txt", headless.HistoryOptions{}},
	} {
		var out bytes.Buffer
		c.o.Span, c.o.Zone = history.Span{From: at(0), To: at(100)}, time.UTC
		if err := headless.History(&out, lanes, c.o); err != nil {
			t.Fatal(err)
		}
		golden(t, c.file, out.Bytes())
		safe(t, out.String())
	}
}

func TestHistorySaysThatNobodyLookedBeforeTheFirstLook(t *testing.T) {
	t.Parallel()
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	dark := []sources.Dark{{From: at(0), To: at(10)}, {From: at(20), To: at(50)}, {From: at(60), To: at(70)}}
	for how, want := range map[sources.Known]string{sources.AtLeast: "0-50 60-70 ", sources.Seen: "0-10 20-50 60-70 "} {
		lane := history.Lane{Ref: sources.Ref{Source: "leases", Name: "x"}, Kind: sources.KindElection, Since: at(40), Dark: dark,
			Terms: []sources.Term{{Owner: sources.OwnerRef{ID: "a"}, Start: sources.Stamp{At: at(40), How: how}}}}
		var out bytes.Buffer
		if err := headless.History(&out, []history.Lane{lane}, headless.HistoryOptions{Format: headless.JSON, Span: history.Span{From: at(0), To: at(100)}, Zone: time.UTC}); err != nil {
			t.Fatal(err)
		}
		got := ""
		for lines := json.NewDecoder(&out); lines.More(); {
			var line struct {
				What       string
				Start, End time.Time
			}
			if err := lines.Decode(&line); err != nil {
				t.Fatal(err)
			}
			if line.What == "unobserved" {
				got += fmt.Sprintf("%d-%d ", line.Start.Unix(), line.End.Unix())
			}
		}
		if got != want {
			t.Errorf("%v: %s, not %s", how, got, want)
		}
	}
}

func TestHistoryNamesTheZoneOfItsTimes(t *testing.T) {
	t.Parallel()
	vienna := time.FixedZone("CET", 3600)
	lane := history.Lane{Ref: sources.Ref{Source: "leases", Name: "x"}, Kind: sources.KindMutex, Terms: []sources.Term{{
		Owner: sources.OwnerRef{ID: "a"}, Start: sources.Stamp{At: time.Unix(10, 0), How: sources.Told},
	}}}
	for zone, want := range map[*time.Location]string{time.UTC: "START UTC", vienna: "START CET"} {
		var out bytes.Buffer
		o := headless.HistoryOptions{Span: history.Span{From: time.Unix(0, 0), To: time.Unix(60, 0)}, Zone: zone}
		if err := headless.History(&out, []history.Lane{lane}, o); err != nil || !bytes.Contains(out.Bytes(), []byte(want)) {
			t.Errorf("it does not say %q, %v:\n%s", want, err, out.String())
		}
	}
}

// TestHistoryOfAWindowTellsWhatTouchesIt has windows that begin behind a term, and end before now.
func TestHistoryOfAWindowTellsWhatTouchesIt(t *testing.T) {
	t.Parallel()
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	term := func(owner string, from, to int64) sources.Term {
		x := sources.Term{Owner: sources.OwnerRef{ID: owner}, Start: sources.Stamp{At: at(from), How: sources.Told}}
		if to > 0 {
			x.End, x.Cause, x.How = sources.Stamp{At: at(to), How: sources.Told}, sources.CauseReleased, sources.Told
		}
		return x
	}
	before := term("a", 1, 10)
	for name, c := range map[string]struct {
		terms []sources.Term
		past  bool
		want  string
	}{
		"nobody led, up to now":  {nil, false, "gap   s/x   00:00:10.000  it lasts  20 s    -      -      -      -"},
		"nobody led then":        {nil, true, "gap   s/x   00:00:10.000  ≥ 00:00:40.000  20 s"},
		"another began in it":    {[]sources.Term{term("b", 25, 0)}, false, "it lasts  ≥ 15 s  b      -      -      15 s"},
		"and led when it ended":  {[]sources.Term{term("b", 25, 0)}, true, "≥ 00:00:40.000  ≥ 15 s  b      -      -      15 s"},
		"and its end is in it":   {[]sources.Term{term("b", 25, 30)}, true, "00:00:30.000  5.0 s   b      -      released  15 s"},
		"one that led all along": {[]sources.Term{term("b", 12, 0)}, false, "it lasts  ≥ 28 s"},
	} {
		l := history.Lane{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: sources.KindElection, Since: at(0), Before: &before, Terms: c.terms}
		var out strings.Builder
		if err := headless.History(&out, []history.Lane{l}, headless.HistoryOptions{Span: history.Span{From: at(20), To: at(40)}, Past: c.past, Zone: time.UTC}); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(out.String(), "1970-01-01 ", ""); !strings.Contains(got, c.want) {
			t.Errorf("%s: want %q in\n%s", name, c.want, got)
		}
	}
}
