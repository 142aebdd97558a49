package notify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// finding is one of a pattern, about rows of source a.
func finding(p diagnose.Pattern, names ...string) diagnose.Finding {
	f := diagnose.Finding{Pattern: p, Source: "a", Title: p.String() + " " + strings.ToValidUTF8(strings.Join(names, "+"), "?")}
	for _, name := range names {
		row := &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "a", Name: name}}}
		f.Rows = append(f.Rows, diagnose.Row{Row: row})
	}
	return f
}

// newRule is a rule that tells all.
func newRule() Rule {
	return Rule{
		Matches: func(*diagnose.Finding) bool { return true },
		Encode:  func(f *diagnose.Finding) json.RawMessage { return json.RawMessage(strconv.Quote(f.Title)) },
	}
}

// play is a run of a Tracker, second by second.
type play struct {
	tracker *Tracker
	now     time.Time
	silent  string // a source that does not answer
	keeps   bool   // receivers take nothing
	muted   int    // so many of the last findings are muted
	all     []string
	ids     []string // of the causes that were told, in their order
}

func newPlay() *play { return &play{tracker: NewTracker(newRule()), now: noon} }

// last lets so many seconds pass in which the findings are these.
func (p *play) last(seconds int, findings ...diagnose.Finding) *play {
	for range seconds {
		for _, m := range p.tracker.Step(&Look{p.now, findings, p.muted, func(r sources.Ref) bool { return r.Source != p.silent }}) {
			p.all = append(p.all, p.said(m))
			if !p.keeps {
				m.settled()
			}
		}
		p.now = p.now.Add(time.Second)
	}
	return p
}

func (p *play) said(m Message) string {
	if m.Event == More {
		return fmt.Sprintf("%d: more %d %d", p.now.Sub(noon)/time.Second, m.Counts[Found], m.Counts[Ended])
	}
	if !slices.Contains(p.ids, m.ID) {
		p.ids = append(p.ids, m.ID)
	}
	return fmt.Sprintf("%d: %s %d %s, at %d", p.now.Sub(noon)/time.Second, m.Event, slices.Index(p.ids, m.ID)+1, m.Title, m.At.Sub(noon)/time.Second)
}

func (p *play) want(t *testing.T, lines ...string) {
	t.Helper()
	if !slices.Equal(p.all, lines) {
		t.Errorf("told\n  %s\nwant\n  %s", strings.Join(p.all, "\n  "), strings.Join(lines, "\n  "))
	}
}

const gone, wait = diagnose.OwnerTogether, diagnose.LongWait

func TestACauseIsToldOnceAndItsEndOnce(t *testing.T) {
	t.Parallel()
	newPlay().last(100, finding(gone, "x")).last(500).
		want(t, "2: found 1 owner-gone x, at 0", "400: ended 1 owner-gone x, at 100")
}

func TestWhatDoesNotLastIsNotTold(t *testing.T) {
	t.Parallel()
	newPlay().last(2, finding(gone, "x")).last(400).want(t)
	newPlay().last(9, finding(gone, "x")).last(1).last(400, finding(gone, "x")).want(t, "2: found 1 owner-gone x, at 0")
}

func TestAnEndAndAReturnWithinFiveMinutesAreOneMessage(t *testing.T) {
	t.Parallel()
	newPlay().last(10, finding(gone, "x")).last(299).last(10, finding(gone, "x")).last(301).
		want(t, "2: found 1 owner-gone x, at 0", "309: found_again 1 owner-gone x, at 309", "619: ended 1 owner-gone x, at 319")
	newPlay().last(10, finding(gone, "x")).last(301).last(10, finding(gone, "x")).
		want(t, "2: found 1 owner-gone x, at 0", "310: ended 1 owner-gone x, at 10", "313: found 2 owner-gone x, at 311")
}

func TestACauseThatComesAndGoesIsToldAgainOnceInFiveMinutes(t *testing.T) {
	t.Parallel()
	p := newPlay()
	for range 30 {
		p.last(10, finding(gone, "x")).last(10)
	}
	p.want(t, "2: found 1 owner-gone x, at 0", "20: found_again 1 owner-gone x, at 20", "320: found_again 1 owner-gone x, at 320")
	if c := p.tracker.causes[0]; c.Returns != 29 {
		t.Errorf("it returned %d times", c.Returns)
	}
}

func TestACauseGoesOnWhileItHasOneOfItsRows(t *testing.T) {
	t.Parallel()
	newPlay().last(9, finding(gone, "x")).last(9, finding(gone, "x", "y", "z")).last(9, finding(gone, "z")).last(9, finding(gone, "z", "w")).
		want(t, "2: found 1 owner-gone x, at 0")
	newPlay().last(9, finding(gone, "x", "y")).last(9, finding(gone, "y"), finding(gone, "x")).last(9, finding(gone, "x", "y")).
		want(t, "2: found 1 owner-gone x+y, at 0")
	newPlay().last(9, finding(gone, "x"), finding(gone, "y")).want(t, "2: found 1 owner-gone x, at 0", "2: found 2 owner-gone y, at 0")
}

func TestAnotherCauseOfTheSameRowIsToldAndEndsNothing(t *testing.T) {
	t.Parallel()
	newPlay().last(9, finding(wait, "x")).last(400, finding(gone, "x")).last(9, finding(wait, "x")).last(400).
		want(t, "2: found 1 long-wait x, at 0", "11: found 2 owner-gone x, at 9",
			"718: ended 1 long-wait x, at 418", "718: ended 2 owner-gone x, at 418")
}

func TestACauseThatReturnsBehindAnotherIsToldAgain(t *testing.T) {
	t.Parallel()
	newPlay().last(9, finding(gone, "x")).last(9).last(9, finding(wait, "x")).last(9, finding(gone, "x")).
		want(t, "2: found 1 owner-gone x, at 0", "20: found 2 long-wait x, at 18", "27: found_again 1 owner-gone x, at 27")
}

func TestNothingEndsWhileItsSourceDoesNotAnswer(t *testing.T) {
	t.Parallel()
	p := newPlay().last(9, finding(gone, "x"))
	p.silent = "a"
	p.last(900, finding(diagnose.ServerSilent))
	p.silent = ""
	p.last(9, finding(gone, "x")).last(400).
		want(t, "2: found 1 owner-gone x, at 0", "11: found 2 server-silent , at 9",
			"1209: ended 2 server-silent , at 909", "1218: ended 1 owner-gone x, at 918")
}

func TestMoreThanTenInAMinuteAreCounted(t *testing.T) {
	t.Parallel()
	var many []diagnose.Finding
	for i := range 30 {
		many = append(many, finding(wait, strconv.Itoa(i)))
	}
	p := newPlay().last(200, many...)
	if len(p.all) != 11 || p.all[10] != "62: more 20 0" {
		t.Errorf("told %d: %v", len(p.all), p.all)
	}
	p.last(500) // of those that were only counted no end is told
	if len(p.all) != 21 || !strings.HasPrefix(p.all[20], "500: ended 10 ") {
		t.Errorf("told %d: %v", len(p.all), p.all)
	}
}

func TestOnlyTheFindingsOfTheRuleAreTold(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.tracker.rule.Matches = func(f *diagnose.Finding) bool { return f.Severity == verdict.Bad }
	mild := finding(wait, "x")
	mild.Severity = verdict.Warn
	p.last(9, mild).last(9, finding(wait, "x")).last(400, mild).
		want(t, "11: found 1 long-wait x, at 9", "318: ended 1 long-wait x, at 18")
}

func TestWhatIsMutedIsNotToldBeforeThatEnds(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.muted = 1
	p.last(9, finding(wait, "y"), finding(gone, "x"))
	p.muted = 0
	p.last(9, finding(wait, "y"), finding(gone, "x"))
	p.muted = 2
	p.last(400, finding(wait, "y"), finding(gone, "x"))
	p.muted = 0
	p.last(9, finding(wait, "y"), finding(gone, "x")).last(400).
		want(t, "2: found 1 long-wait y, at 0", "11: found 2 owner-gone x, at 9",
			"727: ended 1 long-wait y, at 427", "727: ended 2 owner-gone x, at 427")
}

func TestCausesAreBounded(t *testing.T) {
	t.Parallel()
	var many []diagnose.Finding
	for i := range mostCauses + 500 {
		many = append(many, finding(wait, strconv.Itoa(i)))
	}
	p := newPlay().last(100, many...)
	if len(p.tracker.causes) != mostCauses || len(p.all) != 11 {
		t.Errorf("%d causes, %d messages", len(p.tracker.causes), len(p.all))
	}
	var names []string
	for i := range 5000 {
		names = append(names, strconv.Itoa(i))
	}
	p = newPlay().last(9, finding(gone, names...))
	if n := len(p.tracker.causes[0].Keys); n != mostKeys {
		t.Errorf("%d rows are remembered", n)
	}
}

func TestARestartTellsNothingTwiceAndWhatWasNotDelivered(t *testing.T) {
	t.Parallel()
	p := newPlay().last(9, finding(gone, "x\xff"))
	p.keeps = true
	p.last(9, finding(gone, "x\xff"), finding(wait, "y"))
	data, err := json.Marshal(p.tracker.snapshot())
	if err != nil {
		t.Fatal(err)
	}
	var kept []*cause
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	again := newPlay()
	again.now = noon.Add(time.Hour)
	again.silent = "a"
	again.ids = p.ids
	again.tracker.restore(kept)
	again.last(9) // it is not listed yet
	again.silent = ""
	again.last(9, finding(gone, "x\xff"), finding(wait, "y")).last(400).
		want(t, "3611: found 3 long-wait y, at 3609", "3918: ended 1 owner-gone x?, at 3618", "3918: ended 3 long-wait y, at 3618")
}
