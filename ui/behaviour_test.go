package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/uitest"
)

func three() (a, b, c *sources.Primitive) { return uitest.Three() }

// lost is a primitive whose leader went away a minute ago.
func lost(name string) *sources.Primitive { return uitest.Lost(name) }

func TestTroubleOfAMomentDoesNotMoveRows(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	d := hand(a, b, uitest.Leaderless("z", noon()))
	if got := d.names(); got[0] != "a" {
		t.Errorf("the order is %v, though z has had no leader for no time", got)
	}
	d.shows(t, "no leader") // its state is told at once
	d.shows(t, "no problems")
	d.pass(6)
	if got := d.names(); got[0] != "z" {
		t.Errorf("after 6 s the order is %v", got)
	}
	d.shows(t, "1 problem")
}

func TestSelectionFollowsARowThatComesBackUnderAnotherHandle(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d := hand(a, b, c)
	d.press("j")
	d.show(uitest.State(noon(), b, c, a, uitest.Led("a0", "host-4", noon()))) // in other slots
	if d.cursor() != "b" {
		t.Errorf("the cursor went to %q", d.cursor())
	}
}

func TestSelectedRowThatIsGoneIsAnnounced(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d := hand(a, b, c)
	d.press("j")
	st := uitest.State(noon(), a, b, c)
	st.Rows[1] = nil
	d.show(st)
	d.shows(t, "b does not exist any more")
	if d.cursor() != "c" {
		t.Errorf("the cursor went to %q", d.cursor())
	}
	d.pass(5)
	d.showsNot(t, "does not exist any more")
}

func TestFilterShowsWhatMatchesAsItIsTyped(t *testing.T) {
	t.Parallel()
	orders, search := uitest.Led("orders/outbox", "host-1", noon()), uitest.Led("search", "Worker-9", noon())
	for _, c := range []struct {
		typed string
		want  []string
	}{
		{"ord", []string{"orders/outbox"}},
		{"WORKER", []string{"search"}},
		{"leases", []string{"orders/outbox", "search"}},
		{"election out", []string{"orders/outbox"}},
		{"nothing", nil},
	} {
		d := hand(orders, search)
		d.press("/")
		d.typed(c.typed)
		if got := d.names(); !slices.Equal(got, c.want) {
			t.Errorf("%q shows %v", c.typed, got)
		}
		d.shows(t, "/ "+c.typed)
		d.press("esc")
		if len(d.names()) != 2 || d.rowList.filtering.typing {
			t.Errorf("esc left %v", d.names())
		}
	}
}

func TestFilterIsKeptByEnterAndClearedByEsc(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d := hand(a, b, c)
	d.press("/", "b", "enter", "!")
	d.shows(t, "filter b")
	d.press("!")
	if d.cursor() != "b" {
		t.Errorf("the cursor is on %q", d.cursor())
	}
	d.press("esc")
	d.showsNot(t, "filter b")
	if len(d.names()) != 3 {
		t.Errorf("shown: %v", d.names())
	}
}

func TestEscTakesTheFilterAwayBeforeTheProblems(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	d := hand(a, b, lost("c"))
	d.press("!", "/", "a", "esc", "/", "esc")
	if got := d.names(); !slices.Equal(got, []string{"c"}) {
		t.Errorf("esc while typing left %v", got)
	}
	d.shows(t, "esc clear")
	d.press("esc")
	if len(d.names()) != 3 {
		t.Errorf("esc in the list left %v", d.names())
	}
	d.showsNot(t, "esc clear")
}

func TestTypingAFilterEdits(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := hand(a)
	d.press("/")
	d.typed("some words")
	d.press("backspace", "ctrl+w")
	if d.rowList.filtering.typed() != "some " {
		t.Errorf("the input is %q", d.rowList.filtering.typed())
	}
	d.press("ctrl+u")
	d.send(tea.PasteMsg{Content: "  q\x1b[A\nrm -rf  "})
	if d.rowList.filtering.typed() != `q\x1b[A` {
		t.Errorf("the input is %q", d.rowList.filtering.typed())
	}
}

func TestPasteOutsideOfTheFilterDoesNothing(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d := hand(a, b, c)
	before := d.View().Content
	if cmd := d.send(tea.PasteMsg{Content: "q!jjp"}); cmd != nil || d.View().Content != before {
		t.Error("a paste acted")
	}
}

func TestPauseHoldsThePictureAndSaysSo(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	d := hand(a, b)
	d.press("p")
	d.show(uitest.State(noon(), a, b, lost("c")))
	d.pass(12)
	d.shows(t, "PAUSED 12s")
	d.shows(t, "12:00:12") // the clock goes on
	d.shows(t, "1m00s")    // ages do not
	d.showsNot(t, "1m12s")
	d.showsNot(t, "no leader")
	d.press("p")
	d.showsNot(t, "PAUSED")
	d.shows(t, "no leader")
	d.shows(t, "1m12s")
}

func TestUnknownIsAQuestionMarkAndNeverAZero(t *testing.T) {
	t.Parallel()
	p := uitest.Led("key", "someone", noon())
	p.Owners[0].Expires, p.Owners[0].Lease, p.Owners[0].Since = sources.Stamp{}, 0, sources.Stamp{}
	d := hand(p)
	row := strings.Fields(strings.Split(d.text(), "\n")[4])
	if want := []string{"key", "leases", "election", "A", "someone", "?", "?", "?", "0"}; !slices.Equal(row[1:10], want) {
		t.Errorf("the row says %q, not %q", row[1:10], want)
	}
	d.shows(t, "WAITING ?")
}

func TestTimesSayHowTheyAreKnown(t *testing.T) {
	t.Parallel()
	d := hand(uitest.Led("a", "o", noon()))
	at := noon().Add(-3 * time.Hour)
	for how, want := range map[sources.Known]string{
		sources.Told: "3h00m", sources.Seen: "3h00m", sources.AtLeast: "≥3h00m", sources.Bound: "≤3h00m", sources.Claimed: "(3h00m)", sources.Unknown: "?",
	} {
		if got := d.Theme.Age(sources.Stamp{At: at, How: how}, d.Now); got != want {
			t.Errorf("%v: %q, not %q", how, got, want)
		}
	}
	for ago, want := range map[time.Duration]string{0: "?", 9 * time.Second: "?", 10 * time.Second: "≥10s"} {
		if got := d.Theme.Age(sources.Stamp{At: noon().Add(-ago), How: sources.AtLeast}, d.Now); got != want {
			t.Errorf("at least %v: %q, not %q", ago, got, want)
		}
	}
}

func TestStaleRowsLookStaleAndSayWhy(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	st := uitest.State(noon(), a, b, c)
	st.Scopes[0].Health, st.Sources[0].Health = sources.HealthStale, sources.HealthStale
	st.Sources[0].Err, st.Sources[0].Retry = errors.New("dial tcp: \x1b[31mrefused"), noon().Add(2*time.Second)
	feed := newTestFeed(st)
	feed.Pass(14 * time.Second)
	st.Sources[0].Retry = noon().Add(16 * time.Second)
	d := drive(feed, Options{Width: 120, Height: 30})
	d.shows(t, "leases STALE 14s")
	d.shows(t, `dial tcp: \x1b[31mrefused`)
	d.shows(t, "next try in 2s")
	d.shows(t, " ? b ")
	d.shows(t, "old")
	d.showsNot(t, "no problems")
}

func TestEmptyBoardsSayWhatIsGoingOn(t *testing.T) {
	t.Parallel()
	base := func() *sources.State { return uitest.State(noon()) }
	for _, c := range []struct {
		name, want string
		state      func(*sources.State)
	}{
		{"no sources", "no source has started yet", func(st *sources.State) { st.Sources, st.Scopes = nil, nil }},
		{"connecting", "connecting to leases (redis redis-leases:6379/0)", func(st *sources.State) { st.Sources[0].Health, st.Scopes = sources.HealthConnecting, nil }},
		{"reading", "reading leases", func(st *sources.State) { st.Scopes[0].Synced = false }},
		{"nothing there", "nothing there matches what is watched", func(*sources.State) {}},
		{"refused", "does not answer: wrong password", func(st *sources.State) {
			st.Sources[0].Health, st.Sources[0].Err, st.Scopes = sources.HealthConnecting, errors.New("wrong password"), nil
		}},
	} {
		st := base()
		c.state(st)
		d := drive(newTestFeed(st), Options{Width: 120, Height: 30})
		d.shows(t, c.want)
		if c.name != "nothing there" && c.name != "reading" {
			d.showsNot(t, "no problems")
		}
	}
	a, b, _ := three()
	d := hand(a, b)
	d.press("!")
	d.shows(t, "no problems among 2 primitives")
	d.press("!", "/")
	d.typed("xyz")
	d.shows(t, "the filter selects none of 2 rows: xyz")
}

func TestManySourcesAreCountedByTheirStateOnANarrowScreen(t *testing.T) {
	t.Parallel()
	st := uitest.State(noon())
	st.Sources = nil
	for i := range 30 {
		s := sources.SourceStatus{Name: strings.Repeat("s", 12), Health: sources.HealthConnecting}
		if i < 5 {
			s.Health = sources.HealthStale
		} else if i < 10 {
			s.Health = sources.HealthLive
		}
		st.Sources = append(st.Sources, s)
	}
	d := drive(newTestFeed(st), Options{Width: 120, Height: 30})
	for _, want := range []string{"5 live", "20 connecting", "5 sources down", "more about sources"} {
		d.shows(t, want)
	}
}

func TestFeedIsToldWhatIsOnScreen(t *testing.T) {
	t.Parallel()
	d := drive(newTestFeed(uitest.State(noon(), uitest.Many(100, noon())...)), Options{Width: 80, Height: 24})
	d.press("G")
	visible, selected, calls := d.feed.Focused()
	if len(visible) != d.Layout.List || visible[len(visible)-1] != selected || selected.Name != "app:leader:shard-000099" {
		t.Errorf("told %d rows, selected %v", len(visible), selected)
	}
	d.pass(3)
	if _, _, again := d.feed.Focused(); again != calls {
		t.Error("told again though nothing changed")
	}
}

func TestRefreshAsksTheSources(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := hand(a)
	d.press("r")
	if d.feed.Refreshes() != 1 {
		t.Errorf("asked %d times", d.feed.Refreshes())
	}
	d.shows(t, "asked 1 source to look again")
}

func TestOpenShowsTheRowAndEscGoesBack(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	b.Owners[0].Data = sources.Blob{Head: "some proclaimed data", Len: 20}
	d := hand(a, b, c)
	d.press("j", "enter")
	d.shows(t, "DATA of host-2, 20 bytes")
	d.showsNot(t, "host-3")
	d.show(uitest.State(noon(), lost("a"), b, c)) // the row stays though the order changes
	d.shows(t, "some proclaimed data")
	d.press("?")
	d.shows(t, "SIGNS")
	d.press("esc")
	d.shows(t, "some proclaimed data")
	d.press("q")
	d.shows(t, "host-3")
}
