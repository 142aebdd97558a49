package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/screen"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// took is the event that an owner took a row.
func took(seq uint64, at time.Time, p *sources.Primitive, owner string) sources.Event {
	return sources.Event{Seq: seq, At: at, Kind: sources.EventAcquired, RefKind: p.Kind, Ref: p.Ref, How: sources.Told,
		Owner: sources.OwnerRef{ID: owner, Label: owner}}
}

func TestTabsShowOnlyTheScreensThatExist(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := hand(a)
	d.shows(t, "1 Pulse  2 Locks  3 Timeline  4 Owners  5 Events  6 Audit  o Sources")
	for key, want := range map[string]string{"1": "NORMAL LIFE", "3": "LANE  ", "4": "counting who owns", "5": "EVENTS newest first", "6": "AUDIT newest first", "o": "SOURCES how each", "2": "NAME  "} {
		d.press(key)
		d.shows(t, want)
	}
}

func TestKindFilterShowsOneKindAndSaysSo(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	b.Kind, c.Kind = sources.KindMutex, sources.KindSemaphore
	d := drive(newTestFeed(uitest.State(noon(), a, b, c)), Options{Width: 80, Height: 24})
	for _, want := range []struct{ name, word string }{{"a", "only elections"}, {"b", "only mutexes"}, {"c", "only semaphores"}} {
		d.press("K")
		if got := d.names(); !slices.Equal(got, []string{want.name}) {
			t.Errorf("%s shows %v", want.word, got)
		}
		d.shows(t, want.word+" · 1 of 3")
	}
	d.press("K")
	d.showsNot(t, "only")
	d.press("K", "esc")
	if len(d.names()) != 3 {
		t.Errorf("esc left %v", d.names())
	}
}

func TestModeWordsAreNeverHiddenAt80x24(t *testing.T) {
	t.Parallel()
	d := drive(newTestFeed(uitest.State(noon(), uitest.Many(50, noon())...)), Options{Width: 80, Height: 24})
	d.press("/")
	d.typed("host a-filter-that-is-longer-than-the-room-for-it-is")
	d.press("enter", "K", "!", "p")
	d.pass(12)
	for _, want := range []string{"PAUSED 12s", "filter host", "only problems", "only elections", "0 of 50"} {
		d.shows(t, want)
	}
	d.press("p")
	d.showsNot(t, "PAUSED")
}

func TestEventsScreenScrollsFiltersAndOpensTheRow(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d := hand(a, b, c)
	for i := range uint64(60) {
		d.feed.Tell(took(i+1, noon().Add(time.Duration(i)*time.Second), []*sources.Primitive{a, b, c}[i%3], "host-9"))
	}
	d.send(terminal.WakeMsg{})
	d.press("5")
	d.shows(t, "1 of 60")
	d.press("G")
	d.shows(t, "60 of 60")
	d.shows(t, "acquired, told by the server")
	d.press("/")
	d.typed("b")
	d.press("enter")
	d.shows(t, "of 20")
	d.press("g", "enter")
	d.shows(t, " b  led")
	d.shows(t, "EVENTS of this row")
	d.press("esc")
	d.shows(t, "of 20")
	d.press("esc")
	d.shows(t, "of 60")
	d.press("esc")
	d.shows(t, "OWNER")
}

func TestTheCursorStaysOnItsEvent(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := hand(a)
	d.feed.Tell(took(1, noon(), a, "x"), took(2, noon(), a, "y"))
	d.send(terminal.WakeMsg{})
	d.press("5", "j")
	d.shows(t, "owner x")
	d.feed.Tell(took(3, noon(), a, "z"))
	d.send(terminal.WakeMsg{})
	d.shows(t, "owner x")
	d.shows(t, "3 of 3")
}

func TestAnEventOfAHiddenRowDoesNotOpenAnother(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	d := hand(a, b)
	gone := *a
	gone.Name = "gone"
	d.feed.Tell(took(1, noon(), b, "x"), took(2, noon(), &gone, "x"))
	d.send(terminal.WakeMsg{})
	d.press("!", "5", "enter")
	d.shows(t, "gone does not exist any more")
	d.press("j", "enter")
	d.shows(t, "the list does not show b")
	if d.Shown != screen.Events {
		t.Errorf("view %d is shown", d.Shown)
	}
}

func TestTheIntervalOfAnEventIsNeverCut(t *testing.T) {
	t.Parallel()
	p := uitest.Led(strings.Repeat("a-long-name/", 6), "host", noon())
	e := took(1, noon(), p, strings.Repeat("owner", 20))
	e.After = noon().Add(-2500 * time.Millisecond)
	for _, w := range []int{80, 120, 160} {
		d := drive(newTestFeed(uitest.State(noon(), p)), Options{Width: w, Height: 48})
		d.feed.Tell(e)
		d.send(terminal.WakeMsg{})
		if w >= 150 {
			d.shows(t, "within 2.5 s")
		}
		d.press("5")
		d.shows(t, "~12:00:00.0")
		d.shows(t, "within 2.5 s")
		d.shows(t, "after 2026-11-21 11:59:57.500")
	}
}

func TestSourcesScreenSaysAllInFull(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	st := uitest.State(noon(), a)
	warning := "this is a warning " + strings.Repeat("of many words ", 30) + "up-to-its-end"
	st.Scopes[0].About = sources.About{Mode: "polling", Sampling: 2 * time.Second, Version: "17.2", Role: "standby", RoundTrip: 3 * time.Millisecond,
		Warnings: []string{warning}, Config: []sources.Attr{{Key: "lock table", Value: "6,400 entries"}}}
	st.Scopes[0].Dark = []sources.Dark{{From: noon().Add(-time.Minute), To: noon().Add(-50 * time.Second)}}
	st.Sources[0].Health, st.Scopes[0].Health = sources.HealthStale, sources.HealthStale
	st.Sources[0].Err, st.Sources[0].Retry = errors.New("dial "+strings.Repeat("very ", 40)+"refused"), noon().Add(3*time.Second)
	for _, w := range []int{80, 160} {
		d := drive(newTestFeed(st), Options{Width: w, Height: 48})
		d.press("o")
		for _, want := range []string{"polling", "every 2s", "17.2", "standby", "3.0 ms", "up-to-its-end", "refused", "next try in 3s",
			"lock table", "6,400 entries", "redis-leases:6379/0", "STALE", "not observed 1 time, 10 s in all", "1 primitive"} {
			d.shows(t, want)
		}
	}
}

func TestTheNamesOfFactsKeepAGapBehindThem(t *testing.T) {
	t.Parallel()
	st := uitest.State(noon(), uitest.Led("a", "host", noon()))
	long := strings.Repeat("long ", 12) + "end"
	st.Scopes[0].About.Config = []sources.Attr{{Key: "rate limiter counters", Value: "not set"}, {Key: long, Value: "yes"}}
	d := drive(newTestFeed(st), Options{Width: 80, Height: 48})
	d.press("o")
	d.shows(t, "rate limiter counters       not set")
	d.shows(t, "…  yes")
	st.Scopes[0].About.Config = st.Scopes[0].About.Config[:1]
	d.show(st)
	d.shows(t, "rate limiter counters  not set")
}

func TestAgesOfStaleRowsStandStill(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "host", noon()) // since a minute before noon
	st := uitest.State(noon(), p)
	st.Scopes[0].Health, st.Sources[0].Health = sources.HealthStale, sources.HealthStale
	d := drive(newTestFeed(st), Options{Width: 160, Height: 40})
	d.pass(100)
	d.shows(t, "leases STALE 1m40s")
	d.shows(t, "as of 12:00:00")
	for i, line := range d.lines() {
		if strings.Contains(line, "2m40s") {
			t.Errorf("line %d goes on counting: %s", i, line)
		}
	}
	d.press("enter")
	d.shows(t, "as of 12:00:00")
	d.showsNot(t, "2m40s")
}

func TestAKeyShowsTheTimeThatPassedWithoutAMessage(t *testing.T) {
	t.Parallel()
	feed := newTestFeed(uitest.State(noon(), uitest.Led("a", "host", noon())))
	d := drive(feed, Options{Width: 160, Height: 40})
	feed.now = feed.now.Add(1900 * time.Millisecond)
	d.press("j")
	d.shows(t, "12:00:01")
}

func TestATakeOverAcrossAGapShowsItsRange(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "host", noon())
	p.Owners[0].Since = sources.StampBetween(noon().Add(-95*time.Second), noon().Add(-65*time.Second), sources.Seen)
	d := hand(p)
	d.shows(t, "≥1m05s")
	d.press("enter")
	d.shows(t, "11:58:25 to 11:58:55 seen")
}

func TestOnlyProblemsSaysWhatItCannotJudge(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	st := uitest.State(noon(), a, b, lost("c"))
	d := drive(newTestFeed(st), Options{Width: 120, Height: 30})
	d.shows(t, "1 problem ")
	d.press("!")
	if got := d.names(); !slices.Equal(got, []string{"c"}) {
		t.Errorf("1 problem, but ! shows %v", got)
	}
	d.press("/")
	d.typed("host-1")
	d.press("enter")
	d.shows(t, `no problems in what the filter "host-1" selects; 1 elsewhere`)
	d.showsNot(t, "selects none of")
	stale := uitest.State(noon(), a, b)
	stale.Scopes[0].Health, stale.Sources[0].Health = sources.HealthStale, sources.HealthStale
	d.show(stale)
	d.shows(t, "1 source down")
	d.shows(t, "2 rows cannot be judged")
	d.press("esc")
	d.showsNot(t, "no problems")
}

func TestAliasStandsBesideANumber(t *testing.T) {
	t.Parallel()
	p := uitest.Led("4242:17", "host", noon())
	p.Alias = "ledger/compactor"
	d := drive(newTestFeed(uitest.State(noon(), p)), Options{Width: 160, Height: 40})
	d.shows(t, "ledger/compactor  4242:17")
	d = drive(newTestFeed(uitest.State(noon(), p)), Options{Width: 80, Height: 24})
	d.shows(t, "…  4242:17 ")
	p.Alias, p.AliasHow = "Airflow", sources.Inferred
	drive(newTestFeed(uitest.State(noon(), p)), Options{}).shows(t, "~Airflow  4242:17")
	p.Name, p.Alias, p.AliasHow = "demo:leader", "key 77", sources.Told
	drive(newTestFeed(uitest.State(noon(), p)), Options{}).shows(t, "demo:leader  key 77")
}

func TestAScreenThatScrollsSaysHowMuchIsBelow(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d := hand(a, b, c)
	d.send(tea.WindowSizeMsg{Width: 60, Height: 10})
	d.press("enter")
	d.shows(t, "more lines: j")
	for range 3 {
		d.press("pgdown")
	}
	d.showsNot(t, "more line")
}
