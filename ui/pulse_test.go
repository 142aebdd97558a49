package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/screen"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// lostAll is a state in which a host has lost elections 8 s before noon; another one is led.
func lostAll(host string, names ...string) *sources.State {
	calm := uitest.Led("calm", "host-1:1", noon())
	calm.Owners[0].Session, calm.Owners[0].NoExpiry = "1", true
	prims := []*sources.Primitive{calm}
	for _, name := range names {
		prims = append(prims, uitest.Leaderless(name, noon().Add(-8*time.Second)))
	}
	st := uitest.State(noon(), prims...)
	for _, row := range st.Rows[1:] {
		gone := sources.Stamp{At: noon().Add(-8 * time.Second), How: sources.Seen}
		row.Terms = []sources.Term{{Owner: sources.OwnerRef{ID: host, Label: host + ":61"}, Start: sources.Stamp{At: noon().Add(-time.Hour), How: sources.Seen}, End: gone, Cause: sources.CauseExpired}}
	}
	return st
}

// unread is a state without an answer.
func unread() *sources.State {
	st := uitest.State(noon())
	st.Scopes[0].Synced, st.Scopes[0].Health, st.Sources[0].Health = false, sources.HealthConnecting, sources.HealthConnecting
	return st
}

func TestTheFirstScreenIsPulseIfSomethingNeedsAPersonAtTheFirstCompleteLook(t *testing.T) {
	t.Parallel()
	bad, calm := lostAll("host-22", "billing", "search"), lostAll("host-22")
	half := lostAll("host-22", "billing", "search")
	half.Scopes[0].Synced = false
	const ms = time.Millisecond
	for _, c := range []struct {
		name  string
		start Start
		after []time.Duration // the board has begun
		shown []*sources.State
		key   bool // pressed before
		want  screen.View
	}{
		{"at once", StartAuto, []time.Duration{50 * ms}, []*sources.State{bad}, false, screen.Pulse},
		{"just before two seconds", StartAuto, []time.Duration{1900 * ms}, []*sources.State{bad}, false, screen.Pulse},
		{"after two seconds", StartAuto, []time.Duration{2100 * ms}, []*sources.State{bad}, false, screen.Locks},
		{"nothing is wrong", StartAuto, []time.Duration{50 * ms}, []*sources.State{calm}, false, screen.Locks},
		{"it is decided once", StartAuto, []time.Duration{50 * ms, 60 * ms}, []*sources.State{calm, bad}, false, screen.Locks},
		{"a key was pressed", StartAuto, []time.Duration{50 * ms}, []*sources.State{bad}, true, screen.Locks},
		{"the look is not complete", StartAuto, []time.Duration{50 * ms}, []*sources.State{half}, false, screen.Locks},
		{"the rest comes", StartAuto, []time.Duration{50 * ms, 900 * ms}, []*sources.State{half, bad}, false, screen.Pulse},
		{"the rest does not come in time", StartAuto, []time.Duration{50 * ms, 1500 * ms}, []*sources.State{half, half}, false, screen.Pulse},
		{"always Locks", StartLocks, []time.Duration{50 * ms}, []*sources.State{bad}, false, screen.Locks},
		{"always Pulse", StartPulse, []time.Duration{50 * ms}, []*sources.State{calm}, false, screen.Pulse},
	} {
		d := drive(newTestFeed(unread()), Options{Width: 120, Height: 30, Start: c.start})
		if c.key {
			d.press("j")
		}
		passed := time.Duration(0)
		for i, at := range c.after {
			d.feed.Pass(at - passed)
			passed = at
			d.show(c.shown[i])
			if at >= time.Second {
				d.send(terminal.SecondMsg{})
			}
		}
		if d.Shown != c.want {
			t.Errorf("%s: the screen %d is shown, not %d", c.name, d.Shown, c.want)
		}
	}
}

func TestASourceThatDoesNotAnswerDoesNotHoldTheFirstScreenUp(t *testing.T) {
	t.Parallel()
	d := drive(newTestFeed(unread()), Options{Width: 80, Height: 24, Start: StartAuto})
	st := lostAll("host-22", "billing", "search")
	st.Sources = append(st.Sources, sources.SourceStatus{Name: "dead", Type: "ydb", Health: sources.HealthConnecting, Err: sources.ErrSilent})
	d.show(st)
	d.shows(t, "NEEDS A PERSON 1")
	d.shows(t, "WORTH A LOOK 1")
	d.press("G", "enter") // none of its rows is known
	d.shows(t, "SOURCES how each is read")
	d.press("esc")
	d.pass(60)
	d.shows(t, "NEEDS A PERSON 2")
	d.shows(t, "ydb dead does not answer")
}

func TestPulseLeadsToExactlyTheRowsOfACauseAndBack(t *testing.T) {
	t.Parallel()
	d := drive(newTestFeed(lostAll("host-22", "billing", "search", "mail")), Options{Width: 120, Height: 30})
	d.press("/", "c", "a", "l", "m", "enter", "!")
	d.pass(1)
	d.press("1")
	d.shows(t, "NEEDS A PERSON 1")
	d.shows(t, "3 elections")
	d.showsNot(t, "filter calm") // it leaves nothing out
	d.press("enter")
	if got := d.names(); !slices.Equal(got, []string{"billing", "mail", "search"}) || d.cursor() != "billing" {
		t.Errorf("listed are %v, with the cursor on %s", got, d.cursor())
	}
	d.shows(t, "3 of 4")
	d.shows(t, "esc Pulse")
	d.press("/", "m", "a", "i", "l", "enter")
	if got := d.names(); !slices.Equal(got, []string{"mail"}) {
		t.Errorf("a filter among them lists %v", got)
	}
	d.press("esc")
	if len(d.names()) != 3 {
		t.Errorf("without the filter %v are listed", d.names())
	}
	d.press("enter", "esc", "esc")
	d.shows(t, "NEEDS A PERSON 1")
	d.press("2")
	d.shows(t, "filter calm · only problems · 0 of 4")
	d.press("1", "t")
	if d.Shown != screen.Timeline || d.Time.Lanes.Len() != 3 {
		t.Errorf("screen %d has %d lanes", d.Shown, d.Time.Lanes.Len())
	}
	d.press("esc")
	d.shows(t, "NEEDS A PERSON 1")
	d.feed.Tell(took(1, noon(), uitest.Lost("mail"), "host-3"), took(2, noon(), uitest.Lost("calm"), "host-3"))
	d.press("enter", "5") // other screens are about these rows, too
	d.pass(1)
	d.shows(t, "EVENTS newest first")
	d.shows(t, "1 of 1")
	d.press("esc")
	d.shows(t, "NEEDS A PERSON 1")
	d.press("enter", "1") // back by its own key
	d.press("esc")
	d.shows(t, "filter calm · only problems · 0 of 4")
}

func TestTheRowsOfASilentSourceAreAllItsRows(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	st := uitest.State(noon(), a, b)
	st.Sources = append(st.Sources, sources.SourceStatus{Name: "other", Type: "ydb", Health: sources.HealthLive})
	st.Rows[1].Primitive.Ref.Source = "other"
	st.Scopes[0].Health, st.Sources[0].Health = sources.HealthStale, sources.HealthStale
	d := drive(newTestFeed(st), Options{Width: 120, Height: 30})
	d.pass(1)
	d.press("1", "enter")
	if got := d.names(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("listed are %v", got)
	}
	d.press("*") // what its owner has is looked for everywhere
	d.shows(t, "filter owner=host-1")
	d.showsNot(t, "does not answer")
}

func TestActionsOnPulseAreThoseOfTheGravestRow(t *testing.T) {
	t.Parallel()
	op := newTestOperator()
	op.Offer = []action.Choice{{Verb: action.Campaign}}
	d := drive(newTestFeed(lostAll("host-22", "billing", "search")), Options{Width: 120, Height: 40, Operator: op})
	d.press("1", "a")
	d.shows(t, "nothing is wrong here") // nobody has looked yet
	d.pass(1)
	d.press("a")
	if !d.acting.Open() || d.cursor() != "billing" {
		t.Errorf("the menu is open: %v, about %s", d.acting.Open(), d.cursor())
	}
	d.press("esc", "esc")
	d.shows(t, "NEEDS A PERSON 1")
}

func TestOwnersOpensAtWhomAProblemIsAbout(t *testing.T) {
	t.Parallel()
	d := drive(newTestFeed(lostAll("host-22", "billing", "search")), Options{Width: 120, Height: 40})
	d.pass(1)
	d.press("1")
	d.answer(d.send(key("4")))
	if p := d.Owners.Selected(); p == nil || p.Name != "host-22" {
		t.Errorf("the cursor is on %+v", p)
	}
}

func TestACauseIsCopied(t *testing.T) {
	t.Parallel()
	d := drive(newTestFeed(lostAll("host-22", "billing", "search")), Options{Width: 120, Height: 40})
	d.pass(1)
	d.press("1")
	text := clipboard(d.send(key("y")))
	for _, want := range []string{"! 2 elections", "\n    why      all were owned by host-22", "\n    next     ", "\n    rows     leases/0/billing, leases/0/search"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestACalmPulseSaysSinceWhenAllIsWell(t *testing.T) {
	t.Parallel()
	d := drive(newTestFeed(unread()), Options{Width: 80, Height: 24})
	d.press("1")
	d.shows(t, "1 source not read in full yet: nothing is known to be wrong so far")
	d.feed.Pass(5 * time.Second)
	d.show(lostAll("host-22"))
	d.pass(1)
	d.shows(t, "All is well since 12:00:06, as far as coordtop has seen")
	d.pass(3)
	d.shows(t, "All is well since 12:00:06")
	d.show(lostAll("host-22", "billing"))
	d.pass(1)
	d.shows(t, "NEEDS A PERSON 1")
	d.showsNot(t, "All is well")
	d.show(lostAll("host-22"))
	d.pass(1)
	d.shows(t, "All is well since 12:00:11")
}

func TestTheCursorOfPulseStaysOnItsCauseWhileRowsRecover(t *testing.T) {
	t.Parallel()
	several := func(names ...string) *sources.State {
		st := lostAll("host-22", append(names, "z1", "z2", "z3", "z4")...)
		for _, row := range st.Rows[len(st.Rows)-4:] {
			row.Terms[0].Owner.Label, row.Terms[0].End.At = "host-9:1", noon().Add(-time.Minute)
			row.Nobody.At = row.Terms[0].End.At
		}
		return st
	}
	d := drive(newTestFeed(several("a", "b", "c", "d", "e")), Options{Width: 120, Height: 40})
	d.pass(1)
	d.press("1", "k") // the first is chosen
	if n := len(d.pulse.finding().Rows); n != 5 {
		t.Fatalf("the cursor is on a cause of %d rows", n)
	}
	d.show(several("d", "e"))
	d.pass(1)
	if f := d.pulse.finding(); len(f.Rows) != 2 || d.Pulse.List.Pos() != 1 {
		t.Errorf("the cursor is on %q", f.Title)
	}
	d.press("n")
	if f := d.pulse.finding(); len(f.Rows) != 4 {
		t.Errorf("n leads to %q", f.Title)
	}
	d.press("N")
	if f := d.pulse.finding(); len(f.Rows) != 2 {
		t.Errorf("N leads to %q", f.Title)
	}
}

// crowd is a state with n causes that need a person and as many that are worth a look.
func crowd(n int) *sources.State {
	var prims []*sources.Primitive
	for i := range n {
		prims = append(prims, uitest.Leaderless(fmt.Sprintf("lost-%02d", i), noon().Add(-time.Minute)))
		late := uitest.Led(fmt.Sprintf("late-%02d", i), "host-1:1", noon())
		late.Owners[0].Expires.At = noon().Add(2 * time.Second)
		prims = append(prims, late)
	}
	return uitest.State(noon(), prims...)
}

func TestWhatHasNoRoomOnPulseIsCounted(t *testing.T) {
	t.Parallel()
	d := drive(newTestFeed(crowd(12)), Options{Width: 80, Height: 24})
	d.pass(1)
	d.press("1")
	bad, all := 12, len(d.Findings)
	first := d.Pulse.List.Height()
	d.shows(t, fmt.Sprintf("── %d more, %d !: j ──", all-first, bad-first))
	exact(t, d)
	d.press("G")
	d.shows(t, fmt.Sprintf("── %d more, %d !: j ──", all-first, bad))
	d.press("g")
	d.shows(t, "lost-00")
}

func TestPulseCostsNothingWhileItIsNotShown(t *testing.T) {
	t.Parallel()
	d := drive(newTestFeed(crowd(3)), Options{Width: 80, Height: 24})
	d.pass(3)
	if d.Pulse.Counts != nil || d.Pulse.List.Len() != 0 {
		t.Errorf("it was made: %+v", d.Pulse)
	}
}

func TestPulseShowsTheLastActionsAndWhatIsNormal(t *testing.T) {
	t.Parallel()
	st := lostAll("host-22")
	d := drive(newTestFeed(st), Options{Width: 120, Height: 40})
	event := func(seq uint64, kind sources.EventKind, e sources.Event) sources.Event {
		e.Seq, e.Kind, e.At, e.Ref = seq, kind, noon().Add(-time.Duration(20-seq)*time.Minute), st.Rows[0].Ref
		return e
	}
	d.feed.Tell(event(1, sources.EventOwnerChanged, sources.Event{}), event(2, sources.EventOwnerChanged, sources.Event{Loss: true}),
		event(3, sources.EventReleased, sources.Event{Cause: sources.CauseReleased, RefKind: sources.KindElection}),
		event(4, sources.EventReleased, sources.Event{Cause: sources.CauseReleased, RefKind: sources.KindMutex}),
		event(5, sources.EventAction, sources.Event{Detail: "release by ana@jump-2: seen"}))
	d.pass(1)
	d.press("1")
	d.shows(t, "NORMAL LIFE, since 11:41:00: 1 hand-over, 1 leader resigned, 1 release")
	d.shows(t, "LAST ACTIONS")
	d.shows(t, "11:45:00.0  X calm  release by ana@jump-2: seen")
	exact(t, d)
}

func TestACalmPulseLooksAsItWasReviewed(t *testing.T) {
	t.Parallel()
	d := drive(newTestFeed(lostAll("host-22")), Options{Width: 80, Height: 24})
	d.feed.Tell(sources.Event{Seq: 1, At: noon().Add(-time.Minute), Kind: sources.EventAction, Ref: d.State.Rows[0].Ref, Detail: "resign by ana@jump-2 (\"draining\"): seen after 0.8 s"})
	d.pass(1)
	d.press("1")
	golden(t, "pulse-calm-80x24.txt", d.text())
}
