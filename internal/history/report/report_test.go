package report_test

import (
	"context"
	"encoding/xml"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/recordtest"
	"coordtop/internal/history/report"
	"coordtop/sources"
)

// hour reports on the recorded hour.
func hour(t *testing.T) *report.Report {
	t.Helper()
	r := &report.Report{Title: "prod-eu", Zone: time.UTC, Picture: "timeline.svg"}
	var log *historytest.Log
	synctest.Test(t, func(t *testing.T) {
		r.Span = history.Span{From: time.Now(), To: time.Now().Add(62 * time.Minute)}
		log = historytest.Hour(t, nil, nil)
	})
	reader, _ := recordtest.File(t, log)
	if err := r.Read(t.Context(), reader, nil); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAReportOfTheRecordedHour(t *testing.T) {
	t.Parallel()
	r := hour(t)
	var text, picture strings.Builder
	if err := errors.Join(r.Markdown(&text), r.SVG(&picture)); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(t *testing.T, text, picture string){
		"tells gaps, outages and what was not recorded":      tellsGaps,
		"does not take the end of a run for that of a term":  endOfARun,
		"has a picture that is well-formed and hides no gap": wellFormed,
	} {
		t.Run(name, func(t *testing.T) { test(t, text.String(), picture.String()) })
	}
}

func tellsGaps(t *testing.T, text, _ string) {
	t.Helper()
	for _, want := range []string{
		"# Leadership in prod-eu, 2000-01-01 00:00:00.000 to 2000-01-01 01:02:00.000",
		"| 2000-01-01 00:10:00.000 | 2000-01-01 00:10:00.300 | 300 ms | leases/billing/cron | host-1 | expired | host-2 |",
		"| 2000-01-01 00:10:02.500 | 2000-01-01 00:10:04.001 | 1.5 s | leases/billing/cron | host-1 | released | host-2 |",
		"| 2000-01-01 00:51:30.000 | 2000-01-01 00:51:37.000 | 7.0 s | leases/billing/cron | host-2 | expired | host-3 |",
		"| leases did not answer | no answer for 3s | then it answered again |", "| clock step |", "- 2000-01-01 00:41:30.000 to 2000-01-01 00:43:00.000 (90 s)", "](<timeline.svg>)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
			return
		}
	}
}

func endOfARun(t *testing.T, text, picture string) {
	t.Helper()
	if strings.Contains(text, "it lasts") { // all were owned when the recorder stopped
		t.Errorf("nobody is said to own what was not recorded:\n%s", text)
	}
	if n := strings.Count(picture, `<rect class="gap"`); n != 3 {
		t.Errorf("%d gaps are drawn, want 3:\n%s", n, picture)
	}
}

func wellFormed(t *testing.T, _, picture string) {
	t.Helper()
	if path := os.Getenv("COORDTOP_TEST_SVG"); path != "" {
		if err := os.WriteFile(path, []byte(picture), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := xml.Unmarshal([]byte(picture), new(struct{ XMLName xml.Name })); err != nil {
		t.Fatal(err)
	}
	gaps := strings.Count(picture, `<rect class="gap"`)
	if gaps < 3 || !strings.Contains(picture, `role="img"`) || !strings.Contains(picture, "prefers-color-scheme:dark") {
		t.Errorf("%d gaps are drawn:\n%s", gaps, picture)
	}
}

// made answers with what a test made.
type made struct {
	history.Reader
	runs   []history.Run
	lanes  []history.Lane
	events []history.Event
}

func (m made) Runs(context.Context) ([]history.Run, error) { return m.runs, nil }

func (m made) Lanes(context.Context, []sources.Ref, history.Span) ([]history.Lane, error) {
	return slices.Clone(m.lanes), nil
}

func (m made) Events(_ context.Context, _ time.Time, _, after int, _ history.EventFilter) ([]history.Event, error) {
	return m.events[:min(after, len(m.events))], nil
}

// minute is the report on a minute that one run recorded.
func minute(t *testing.T, m made) string {
	t.Helper()
	text, _ := both(t, m)
	return text
}

// both are the report on a minute that one run recorded, and its picture.
func both(t *testing.T, m made) (text, picture string) {
	t.Helper()
	span := history.Span{From: time.Unix(0, 0), To: time.Unix(60, 0)}
	m.runs = []history.Run{{ID: 1, Span: span}}
	r := report.Report{Zone: time.UTC, Span: span}
	var b, svg strings.Builder
	if err := errors.Join(r.Read(t.Context(), m, []sources.Ref{{}}), r.Markdown(&b), r.SVG(&svg)); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal([]byte(svg.String()), new(struct{ XMLName xml.Name })); err != nil {
		t.Error(err)
	}
	return b.String(), svg.String()
}

func TestAReportDoesNotSayThatAllWasRecordedWhereARunLostSome(t *testing.T) {
	t.Parallel()
	lost := sources.Dark{From: time.Unix(10, 0), To: time.Unix(15, 0)}
	text := minute(t, made{lanes: []history.Lane{{Ref: sources.Ref{Source: "s", Name: "a"}, Since: time.Unix(0, 0), Dark: []sources.Dark{lost}, Holes: []history.Hole{{Dark: lost}}}}})
	if strings.Contains(text, "ll of the time") || !strings.Contains(text, "00:00:15.000 (5.0 s): not recorded\n") || !strings.Contains(text, "| not recorded 5.0 s |") {
		t.Errorf("five seconds were lost, and the report says\n%s", text)
	}
}

func TestAReportSaysFirstThatTheRecordingBeginsLater(t *testing.T) {
	t.Parallel()
	for from, want := range map[int64]bool{0: false, 20: true} {
		r := report.Report{Zone: time.UTC, Span: history.Span{From: time.Unix(0, 0), To: time.Unix(60, 0)}}
		var b strings.Builder
		m := made{lanes: []history.Lane{{Holes: []history.Hole{{Dark: sources.Dark{To: time.Unix(from, 0)}}}}}}
		if err := errors.Join(r.Read(t.Context(), m, []sources.Ref{{}}), r.Markdown(&b)); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(b.String(), "## Numbers")
		if got := strings.Contains(head, "The time before 1970-01-01 00:00:20.000 is not recorded"); got != want {
			t.Errorf("recorded from second %d on: %v\n%s", from, got, head)
		}
	}
}

func TestAReportSaysUpToWhenTheEventsWereRead(t *testing.T) {
	t.Parallel()
	const said = "Only the first 20,000 events were read, up to 1970-01-01 00:00:19.999."
	for n, want := range map[int]int{20_000: 0, 20_001: 1} {
		events := make([]history.Event, n)
		for i := range events {
			events[i].At = time.UnixMilli(int64(i))
		}
		if text := minute(t, made{events: events}); strings.Count(text, said) != want {
			t.Errorf("of %d events the report says\n%s", n, text)
		}
	}
}

// term is one of owner, in seconds.
func term(owner string, start, end int64, began, ended sources.Known) sources.Term {
	return sources.Term{Owner: sources.OwnerRef{ID: owner}, Start: sources.Stamp{At: time.Unix(start, 0), How: began}, End: sources.Stamp{At: time.Unix(end, 0), How: ended}}
}

func TestAReportCountsOfAGapItsPartInTheTime(t *testing.T) {
	t.Parallel()
	before := term("a", -100, -40, sources.Seen, sources.Seen)
	since := "| began before: 1969-12-31 23:59:20.000 | "
	for want, terms := range map[string][]sources.Term{
		since + "1970-01-01 00:00:05.000 | 5.0 s |": {term("b", 5, 0, sources.Seen, sources.Unknown)},
		since + "it lasts | 60 s |":                 nil,
	} {
		text := minute(t, made{lanes: []history.Lane{{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: sources.KindElection, Before: &before, Terms: terms}}})
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
}

func TestAReportOfAPrimitiveLeavesOutTheEventsOfOthers(t *testing.T) {
	t.Parallel()
	var events []history.Event
	for _, ref := range []sources.Ref{{Source: "a", Name: "x"}, {Source: "a", Name: "y"}, {Source: "a"}, {Source: "b"}, {}} {
		e := history.Event{Event: sources.Event{At: time.Unix(1, 0), Kind: sources.EventAction, Ref: ref, Detail: "of " + ref.Source + "/" + ref.Name + "."}}
		events = append(events, e)
	}
	r := report.Report{Zone: time.UTC, Span: history.Span{From: time.Unix(0, 0), To: time.Unix(60, 0)}}
	var b strings.Builder
	if err := errors.Join(r.Read(t.Context(), made{events: events}, []sources.Ref{{Source: "a", Name: "x"}}), r.Markdown(&b)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"of a/x.": true, "of a/y.": false, "of a/.": true, "of b/.": false, "of /.": true} {
		if strings.Contains(b.String(), text) != want {
			t.Errorf("that it says %q is not %v:\n%s", text, want, b.String())
		}
	}
}

func TestAReportCountsTheChangesThatWereSeen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terms []sources.Term
		want  string
	}{
		"the first one began in the span": {[]sources.Term{term("a", 10, 0, sources.Seen, sources.Unknown)}, "| a | 1 |"},
		"it had begun when first seen":    {[]sources.Term{term("a", 10, 20, sources.Seen, sources.Bound), term("a", 30, 0, sources.AtLeast, sources.Unknown)}, "| a | 1 |"},
		"it began before the span":        {[]sources.Term{term("a", -10, 20, sources.Seen, sources.Seen), term("b", 20, 0, sources.Told, sources.Unknown)}, "| b, a | 1 |"},
	} {
		text := minute(t, made{lanes: []history.Lane{{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: sources.KindMutex, Terms: c.terms}}})
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: the report does not say %q:\n%s", name, c.want, text)
		}
	}
}

func TestNamesOfOthersMeanNothingInAReport(t *testing.T) {
	t.Parallel()
	const name = "a|b](javascript:x)<script>&\x1b[31m`"
	log := &historytest.Log{}
	from := time.Unix(0, 0)
	at := func(s int64) sources.Instant {
		return sources.Instant{Wall: time.Unix(s, 0), Mono: time.Duration(s) * time.Second}
	}
	limits := sources.DefaultThresholds()
	owned := func(s int64, owner string) sources.Change {
		return sources.Change{At: time.Unix(s, 0), Synced: s == 1, Relists: s == 1, Alive: []string{""}, Set: []*sources.Primitive{{
			Ref: sources.Ref{Source: "s", Name: name}, Kind: sources.KindElection, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told,
			Taken: 1, Owners: []sources.Owner{{ID: owner, Label: owner}}, At: time.Unix(s, 0)}}}
	}
	if err := log.Add([]sources.Input{
		{Seq: 1, At: at(0), Kind: sources.InputStarted, Thresholds: &limits},
		{Seq: 2, At: at(0), Kind: sources.InputSources, Added: []sources.AddedSource{{Name: "s", Type: "redis"}}},
		{Seq: 3, At: at(1), Kind: sources.InputChange, Source: "s", Change: owned(1, "o1"+name)},
		{Seq: 4, At: at(5), Kind: sources.InputChange, Source: "s", Change: owned(5, "o2"+name)},
		{Seq: 5, At: at(9), Kind: sources.InputPublished},
	}); err != nil {
		t.Fatal(err)
	}
	r := &report.Report{Zone: time.UTC, Span: history.Span{From: from, To: from.Add(10 * time.Second)}}
	reader, _ := recordtest.File(t, log)
	if err := r.Read(t.Context(), reader, nil); err != nil {
		t.Fatal(err)
	}
	var text, picture strings.Builder
	if err := errors.Join(r.Markdown(&text), r.SVG(&picture)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), `s/a\|b\]\(javascript:x\)\<script\>\&`) || strings.Contains(text.String(), "\x1b") {
		t.Errorf("the report has the name as it is:\n%s", text.String())
	}
	if strings.Contains(picture.String(), "<script") || strings.Contains(picture.String(), "\x1b") || xml.Unmarshal([]byte(picture.String()), new(struct{ XMLName xml.Name })) != nil {
		t.Errorf("the picture has the name as it is:\n%s", picture.String())
	}
}
