package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/mute"
	"coordtop/sources"
	"coordtop/ui/dialog"
	"coordtop/ui/screen"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// testMuter keeps mutes in memory. It is safe for concurrent use.
type testMuter struct {
	mu   sync.Mutex
	list []mute.Mute
	pins int   // how often Pin was called
	err  error // of Add and End
}

func (k *testMuter) List() ([]mute.Mute, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.list), nil
}

func (k *testMuter) Add(_ context.Context, m mute.Mute) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if m.ID == "" {
		m.ID, m.By = string(rune('a'+len(k.list))), "ana@jump"
	}
	if k.err == nil {
		k.list = append(k.list, m)
	}
	return k.err
}

func (k *testMuter) End(_ context.Context, m mute.Mute) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = slices.DeleteFunc(slices.Clone(k.list), func(other mute.Mute) bool { return other.ID == m.ID })
	return k.err
}

func (k *testMuter) Pin(copies []mute.Mute) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pins++
	k.list = mute.Pinned(k.list, copies)
	return nil
}

// heeds sends a message and lets what it asks for be answered.
func (d *driver) heeds(msg tea.Msg) { d.answers(d.send(msg)) }

func (d *driver) answers(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			d.answers(c)
		}
	case dialog.DoneMsg, mutesMsg:
		d.answers(d.send(msg))
	}
}

// muting presses keys, of which those of several letters that are no names are typed.
func (d *driver) muting(keys ...string) {
	for _, k := range keys {
		if text, typed := strings.CutPrefix(k, "'"); typed {
			d.typed(text)
			continue
		}
		d.heeds(key(k))
	}
}

// waitedFor is a mutex for which somebody has waited for so long before noon.
func waitedFor(name string, wait time.Duration) *sources.Primitive {
	p := uitest.Led(name, "host-2:9", noon())
	p.Kind, p.Owners[0].NoExpiry, p.Owners[0].Session = sources.KindMutex, false, "s"
	p.Owners[0].Expires = sources.Stamp{}
	p.Queue = sources.Queue{How: sources.Told, Len: 1, At: noon(), Waiters: []sources.Waiter{{ID: "w", Label: "w", Since: sources.Stamp{At: noon().Add(-wait), How: sources.Told}}}}
	return p
}

// mutedBoard drives a board over a lock that was waited for and two elections that were lost.
func mutedBoard(w, h int) (*driver, *testMuter) {
	keeper := &testMuter{}
	well := uitest.Led("well", "host-1", noon())
	well.Owners[0].Expires = sources.Stamp{} // its session has no end
	st := uitest.State(noon(), waitedFor("stuck", 5*time.Minute), lost("app:a"), lost("app:b"), well)
	d := drive(newTestFeed(st), Options{Width: w, Height: h, Mutes: keeper})
	d.heeds(terminal.SecondMsg{})
	return d, keeper
}

func TestIAcknowledgesTheProblemOfTheRowUnderTheCursor(t *testing.T) {
	t.Parallel()
	d, keeper := mutedBoard(120, 30)
	d.shows(t, "3 problems")
	d.shows(t, "i I know it")
	d.muting("i")
	d.shows(t, ":know ")
	d.muting("'deploy 31d", "enter")
	d.shows(t, "for how long? 30s, 1h30m or 7d, at most 30d")
	d.muting("i", "'deploy 2h", "enter")
	if len(keeper.list) != 1 {
		t.Fatalf("%d are kept", len(keeper.list))
	}
	m := keeper.list[0]
	if m.Text != "deploy" || m.Until.Sub(noon()) != 2*time.Hour || len(m.Pins) != 1 || m.Of.Name != "app:a" || m.What != "app:a" {
		t.Errorf("%+v", m)
	}
	d.shows(t, "2 problems · 1 muted")
	d.shows(t, "app:a is known for at most 2h")
	if got, want := d.names(), []string{"app:b", "stuck", "app:a", "well"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if mark := string(d.Theme.Dim) + "!"; !strings.Contains(d.View().Content, mark) {
		t.Error("its mark stays, and is dim")
	}
	d.showsNot(t, "2 without a leader") // the chips
	d.shows(t, "1 without a leader")
	d.muting("!")
	if got := d.names(); len(got) != 3 || got[2] != "app:a" {
		t.Errorf("only problems: %v", got)
	}
	d.muting("G")
	if d.cursor() != "app:a" {
		t.Fatalf("the cursor is on %s", d.cursor())
	}
	d.shows(t, "KNOWN until 14:00 by ana@jump: deploy; ")
	d.command("know again")
	d.shows(t, "it is known already: i ends that")
	d.muting("i")
	if len(keeper.list) != 0 {
		t.Error("a second time it is ended")
	}
	d.shows(t, "not muted any more: app:a")
	d.shows(t, "3 problems")
	d.showsNot(t, "muted any time")
}

func TestAnAcknowledgedRowIsCountedAgainOnceItGetsWorse(t *testing.T) {
	t.Parallel()
	d, _ := mutedBoard(120, 30)
	d.muting("G", "k", "i", "enter") // stuck, worth a look
	d.shows(t, "2 problems · 1 muted")
	d.pass(301) // now it has waited for ten minutes
	d.shows(t, "3 problems")
	d.showsNot(t, "muted")
}

func TestIDoesNothingWhereNothingIsWrongAndEscChangesNothing(t *testing.T) {
	t.Parallel()
	d, keeper := mutedBoard(120, 30)
	d.muting("G")
	d.showsNot(t, "i I know it")
	d.muting("i")
	d.shows(t, "there is no problem to acknowledge here; ! shows only problems")
	d.muting("g", "i", "'x", "esc")
	if len(keeper.list) > 0 || d.line.context != 0 {
		t.Error("esc changes nothing")
	}
	keeper.err = errors.New("disk\x1b[2J full")
	d.muting("i", "enter")
	d.shows(t, "nothing is changed: disk\\x1b[2J full")
	d.shows(t, "3 problems")
	none := hand(lost("a"))
	none.heeds(key("i"))
	none.shows(t, "this board keeps nothing")
	none.command("mute a")
	none.shows(t, "this board keeps nothing")
}

func TestMuteTakesAFilterAndALength(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typed, says string
		until       time.Duration // 0: nothing is muted
	}{
		{"mute app:", "muted for 1h00m: 2 problems now; :mutes lists and ends it", time.Hour},
		{"mute kind=election 90m", "muted for 1h30m: 2 problems now", 90 * time.Minute},
		{"mute well 2d", "muted for 2d", 48 * time.Hour},
		{"mute source=leases and kind=mutex 2h", "muted for 2h00m: 1 problem now", 2 * time.Hour},
		{"mute", "mute what? a filter, then for how long", 0},
		{"mute 2h", "mute what?", 0},
		{"mute nobody", "muted for 1h00m: 0 problems now", time.Hour},
		{"mute app: 90d", "for how long? 30s, 1h30m or 7d, at most 30d", 0},
		{"mute app: 0s", "for how long?", 0},
		{"mute kind=", "", 0},
		{"mute nosuch=1", "", 0},
	} {
		d, keeper := mutedBoard(160, 30)
		d.press(":")
		d.muting("'"+c.typed, "enter")
		d.shows(t, c.says)
		if (len(keeper.list) == 1) != (c.until > 0) || c.until > 0 && keeper.list[0].Until.Sub(noon()) != c.until {
			t.Errorf("%s: %+v", c.typed, keeper.list)
		}
	}
}

func TestMutesListsAndEndsOne(t *testing.T) {
	t.Parallel()
	d, keeper := mutedBoard(120, 30)
	d.command("mutes")
	d.shows(t, "nothing is muted")
	d.muting("i", "'INC-1", "enter", ":", "'mute kind=election", "enter")
	d.shows(t, "1 problem · 2 muted")
	d.command("mutes")
	d.shows(t, "app:a  until 2026-11-22 12:00 by ana@jump: INC-1")
	d.shows(t, "kind=election  until 13:00 by ana@jump")
	d.muting("j", "enter")
	if len(keeper.list) != 1 || keeper.list[0].Filter != "" {
		t.Errorf("%+v", keeper.list)
	}
	d.shows(t, "2 problems · 1 muted")
	d.muting("enter")
	if d.acting.Open() || len(keeper.list) != 0 {
		t.Error("the list goes with its last line")
	}
	d.shows(t, "3 problems")
}

func TestABoardReadsWhatAnotherMutedAndKeepsWhatAFilterMeetsLater(t *testing.T) {
	t.Parallel()
	d, keeper := mutedBoard(120, 30)
	other := mute.Mute{ID: "x", By: "bob@desk", At: noon().Add(-time.Second), Until: noon().Add(time.Minute), Filter: "kind=election", Servers: mute.ServersOf(d.State)}
	if err := keeper.Add(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	for range 12 {
		d.feed.Pass(time.Second)
		d.heeds(terminal.SecondMsg{})
	}
	d.shows(t, "1 problem · 2 muted")
	if keeper.pins != 1 || len(keeper.list[0].Pins) != 2 {
		t.Errorf("pins %+v, kept %d times, want both elections once", keeper.list[0].Pins, keeper.pins)
	}
	d.muting("g", "j")
	if d.cursor() != "app:a" {
		t.Fatalf("the cursor is on %s", d.cursor())
	}
	d.muting("i")
	d.shows(t, "muted by the filter kind=election: :mutes lists it, and ends it")
	d.pass(60)
	d.shows(t, "3 problems")
}

func TestAFindingIsAcknowledgedWithAllItsRows(t *testing.T) {
	t.Parallel()
	d, keeper := mutedBoard(120, 30)
	d.muting("1", "G", "i", "enter")
	if len(keeper.list) != 1 || keeper.list[0].What == "stuck" || keeper.list[0].Of.Source != uitest.Redis || len(keeper.list[0].Pins) != 1 {
		t.Fatalf("%+v", keeper.list)
	}
	d.shows(t, "2 problems · 1 muted")
	d.muting("G", "i")
	d.shows(t, "3 problems")
}

func TestTheHeaderCountsWhatIsMutedInAnyWidth(t *testing.T) {
	t.Parallel()
	for _, w := range []int{200, 120, 80, 60, 40} {
		d, _ := mutedBoard(w, 24)
		d.press(":")
		d.muting("'mute leases", "enter")
		d.shows(t, "no problems · 3 muted")
	}
}

func TestASilentSourceThatIsMutedIsSaidAndNotRed(t *testing.T) {
	t.Parallel()
	d, _ := mutedBoard(120, 30)
	silent := *d.State
	silent.Rev, silent.Sources, silent.Scopes = 2, slices.Clone(silent.Sources), slices.Clone(silent.Scopes)
	silent.Sources[0].Health, silent.Sources[0].Err, silent.Scopes[0].Health = sources.HealthStale, sources.ErrSilent, sources.HealthStale
	d.feed.Pass(2 * time.Minute)
	d.show(&silent)
	d.heeds(terminal.SecondMsg{})
	d.shows(t, "3 problems, 1 source down")
	red := func() bool { return strings.Contains(strings.Split(d.View().Content, "\n")[0], string(d.Theme.Bad)) }
	if !red() {
		t.Error("it is red at first")
	}
	d.press(":")
	d.muting("'mute source=leases", "enter")
	d.shows(t, "1 source down · 3 muted")
	if red() {
		t.Error("it stays red")
	}
}

func TestMutedProblemsLookAsTheyWereReviewed(t *testing.T) {
	t.Parallel()
	scene := scene(t)
	for _, c := range []struct {
		file   string
		w, h   int
		o      Options
		keys   []string
		styled bool
	}{
		{file: "know-80x24.txt", w: 80, h: 24, keys: []string{"i", "'deploy of 12:30"}},
		{file: "known-80x24.ansi", w: 80, h: 24, keys: []string{"i", "'deploy of 12:30", "enter", "!", "G"}, styled: true},
		{file: "known-160x48.ansi", w: 160, h: 48, keys: []string{"i", "'deploy of 12:30", "enter", ":", "'mute kind=mutex 2h", "enter"}, styled: true},
		{file: "known-light-80x24.ansi", w: 80, h: 24, o: Options{Theme: "light"}, keys: []string{"i", "enter"}, styled: true},
		{file: "mutes-80x24.txt", w: 80, h: 24, keys: []string{"i", "'deploy of 12:30", "enter", ":", "'mute kind=mutex 2h", "enter", ":", "'mutes", "enter", "j"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			c.o.Width, c.o.Height, c.o.TitleColor, c.o.Mutes = c.w, c.h, "red", &testMuter{}
			d := drive(newTestFeed(scene.State()), c.o)
			d.feed.Pass(scene.Now().Sub(d.feed.Now()))
			d.send(terminal.SecondMsg{})
			d.muting(c.keys...)
			got := d.View().Content
			if !c.styled {
				got = d.text()
			}
			golden(t, c.file, got)
		})
	}
}

func TestPulseKeepsWhatIsKnownBelowAndCountsItApart(t *testing.T) {
	t.Parallel()
	d, keeper := mutedBoard(120, 30)
	d.muting("1")
	d.shows(t, "NEEDS A PERSON 2")
	d.muting("i", "'INC-7", "enter")
	d.shows(t, "NEEDS A PERSON 1")
	d.shows(t, "WORTH A LOOK 1")
	d.shows(t, "KNOWN 1")
	if len(keeper.list) != 1 || d.Muted.Unmuted != 2 || d.Muted.Findings[2] == nil || d.Muted.Findings[0] != nil {
		t.Errorf("%+v, %d of %d findings are not muted", keeper.list, d.Muted.Unmuted, len(d.Findings))
	}
	d.muting("G", "i")
	d.shows(t, "NEEDS A PERSON 2")
	d.showsNot(t, "KNOWN")
}

func TestPulseIsNotTheFirstScreenForWhatIsKnown(t *testing.T) {
	t.Parallel()
	st := uitest.State(noon(), lost("app:a"))
	for _, known := range []bool{false, true} {
		keeper := &testMuter{}
		if known {
			keeper.list = []mute.Mute{{ID: "x", At: noon().Add(-time.Minute), Until: noon().Add(time.Hour), Filter: "app", Servers: mute.ServersOf(st)}}
		}
		d := drive(newTestFeed(st), Options{Width: 120, Height: 30, Mutes: keeper, Start: StartAuto})
		for range 2 {
			d.feed.Pass(time.Second)
			d.heeds(terminal.SecondMsg{})
		}
		if got := d.Shown == screen.Pulse; got == known {
			t.Errorf("known %v: Pulse is first %v", known, got)
		}
	}
}
