package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/screen"
	"coordtop/ui/uitest"
)

// command types a command and runs it.
func (d *driver) command(text string) tea.Cmd {
	d.press(":")
	d.typed(text)
	return d.send(key("enter"))
}

func TestCommandsDoWhatTheirKeysDo(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	d := hand(a, b, lost("c"))
	d.command("sort name")
	if got := d.names(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("by name: %v", got)
	}
	d.command("sort na")
	d.shows(t, "by name, reversed")
	d.command("filter owner=host-2")
	if got := d.names(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("filtered: %v", got)
	}
	d.command("source leases")
	d.shows(t, "source=leases")
	d.command("source all")
	if len(d.names()) != 3 {
		t.Errorf("all: %v", d.names())
	}
	d.command("pause")
	d.shows(t, "PAUSED")
	d.command("pa")
	d.showsNot(t, "PAUSED")
	d.command("help")
	d.shows(t, "SIGNS")
	d.press("esc")
	if cmd := d.command("q"); cmd == nil {
		t.Error(":q does not quit")
	}
}

func TestCommandsThatCannotBeObeyedSayWhy(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	for text, want := range map[string]string{
		"frobnicate":    "no command frobnicate",
		"s x":           "no command s:", // source or sort
		"sort colour":   "no column colour: sort by problems, name",
		"sort":          "sort by problems, name",
		"sort sinse":    "no column sinse: did you mean since?",
		"pause now":     ":pause takes nothing behind it",
		"source nobody": "no rows of a source nobody: there are leases", "source lease": "no rows of a source lease: did you mean leases?",
		"srot name":  "no command srot: did you mean sort?",
		"filter a~[": "no field or label a",
	} {
		d := hand(a, b, c)
		d.command(text)
		d.shows(t, want)
		if len(d.names()) != 3 {
			t.Errorf("%s: it shows %v", text, d.names())
		}
	}
}

func TestCommandLineCompletesAndRemembers(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d := hand(a, b, c)
	d.press(":")
	d.shows(t, "tab completes")
	d.typed("so")
	d.press("tab", "tab")
	if got := d.line.input.Value(); got != "source " && got != "sort " {
		t.Fatalf("the line is %q", got)
	}
	d.press("ctrl+u")
	d.typed("sort o")
	d.press("tab")
	if got := d.line.input.Value(); got != "sort owner" {
		t.Errorf("the line is %q", got)
	}
	d.press("enter")
	d.shows(t, "by owner")
	d.command("filter kind=election")
	d.press(":", "up", "up")
	if got := d.line.input.Value(); got != "sort owner" {
		t.Errorf("two commands back is %q", got)
	}
	d.press("down", "down")
	if got := d.line.input.Value(); got != "" {
		t.Errorf("after the last is %q", got)
	}
	d.typed("filter kind=m")
	d.press("tab")
	if got := d.line.input.Value(); got != "filter kind=m" { // no mutex is there
		t.Errorf("the line is %q", got)
	}
	d.press("esc")
	if d.line.context != 0 {
		t.Error("esc does not leave the line")
	}
	d.press(":", "backspace")
	if d.line.context != 0 {
		t.Error("backspace does not leave an empty line")
	}
}

func TestHelpIsFilteredByTypingAndRunsItsLines(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	d := hand(a, b, lost("c"))
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.press("?")
	d.shows(t, "more lines below")
	d.typed("only problems")
	d.shows(t, "/only problems")
	d.showsNot(t, "one line up")
	d.showsNot(t, "below")
	d.press("enter")
	if got := d.names(); !slices.Equal(got, []string{"c"}) {
		t.Errorf("after running the line: %v", got)
	}
	d.press("?")
	d.typed("expr")
	d.press("enter")
	if got := d.line.input.Value(); got != "filter " {
		t.Errorf("the line is %q", got)
	}
	d.press("esc", "?")
	d.typed("zzz")
	d.shows(t, "nothing in the help holds these words")
	d.press("esc", "esc")
	d.shows(t, "OWNER")
}

func TestTheCursorOfTheHelpStaysOnTheScreen(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := hand(a)
	d.send(tea.WindowSizeMsg{Width: 100, Height: 48})
	d.press("?")
	all := screen.HelpLines(&d.Scene, "")
	for range all {
		d.press("j")
		if at := all[d.HelpAt]; at.Cells() > 100 && len(at.Text) < 70 {
			d.shows(t, at.Text) // in full below, though its line cuts it
		}
		if !strings.Contains(d.View().Content, string(d.Theme.Selected)) {
			t.Fatal("the cursor has left the screen")
		}
	}
}

func TestHelpNamesEachIntentOnce(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := hand(a)
	seen := map[string]bool{}
	for _, l := range screen.HelpLines(&d.Scene, "") {
		if l.ID != "" && seen[l.ID] {
			t.Errorf("%s is named twice", l.ID)
		}
		seen[l.ID] = true
	}
	for _, b := range keys.Bindings() {
		if !seen[string(b.Intent)] {
			t.Errorf("%s is not named", b.Intent)
		}
	}
}

func TestEveryOrderCanBeChosenAndReversed(t *testing.T) {
	t.Parallel()
	at := func(ago time.Duration) sources.Stamp {
		return sources.Stamp{At: noon().Add(-ago), How: sources.Seen}
	}
	x, y, z := uitest.Led("x", "b-host", noon()), uitest.Led("y", "a-host", noon()), uitest.Led("z", "", noon())
	x.Owners[0].Since, y.Owners[0].Since = at(time.Hour), at(time.Minute)
	x.Owners[0].Expires, y.Owners[0].Expires = at(-5*time.Second), at(-9*time.Second)
	x.Kind, y.Kind = sources.KindMutex, sources.KindElection
	x.Queue = sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{Since: at(time.Second)}}}
	y.Queue = sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{Since: at(2 * time.Second)}}}
	z.Owners, z.Taken, z.OwnersHow, z.Kind, z.Queue = nil, 0, sources.Unknown, sources.KindUnknown, sources.Queue{}
	for letter, want := range map[string][2]string{
		"n": {"x y z", "z y x"},
		"s": {"x y z", "x y z"},
		"k": {"y x z", "x y z"}, // what is not known stands last either way
		"o": {"y x z", "x y z"},
		"t": {"y x z", "x y z"},
		"l": {"x y z", "y x z"},
		"w": {"y x z", "x y z"},
		"c": {"x y z", "x y z"},
		"p": {"x y z", "x y z"},
	} {
		d := hand(x, y, z)
		d.press("s")
		d.shows(t, "order by")
		d.press(letter)
		if letter == "p" {
			d.press("s", "p") // it was so already
		}
		got := strings.Join(d.names(), " ")
		d.press("s", letter)
		if back := strings.Join(d.names(), " "); got != want[0] || back != want[1] {
			t.Errorf("%s: %q, reversed %q", letter, got, back)
		}
		d.shows(t, "reversed")
	}
}

func TestRowsKeepTheirPlacesWhileTheCursorIsInUse(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d := hand(a, b, c)
	d.press("j")
	st := uitest.State(noon(), a, b, lost("c"), lost("d"))
	d.show(st)
	d.shows(t, "held")
	d.shows(t, "no leader") // values are live
	if got := strings.Join(d.names(), ""); got != "abcd" {
		t.Errorf("the order is %s", got)
	}
	gone := uitest.State(noon(), a, b, lost("c"), lost("d"))
	gone.Rows[0] = nil
	d.show(gone)
	if got := strings.Join(d.names(), ""); got != "bcd" {
		t.Errorf("a row that is gone still stands: %s", got)
	}
	d.press("k")
	d.pass(4)
	d.shows(t, "held")
	d.pass(2)
	d.showsNot(t, "held")
	if got := strings.Join(d.names(), ""); got != "cdb" || d.cursor() != "b" {
		t.Errorf("afterwards the order is %s, and the cursor is on %s", got, d.cursor())
	}
}

func TestTheCursorStaysOnItsRowWhenAllRowsAreShownAgain(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{
		"a filter that was entered": {"/", "n", "a", "m", "e", "=", "c", "enter", "esc"},
		"problems only":             {"!", "!"},
		"one kind":                  {"K", "esc"},
	} {
		a, b, _ := three()
		d := hand(a, b, lost("c"))
		d.press("s", "n") // by name: the one to stay on is not the top one
		d.press(keys...)
		if want := map[bool]string{true: "a", false: "c"}[name == "one kind"]; d.cursor() != want {
			t.Errorf("%s: the cursor is on %s, want %s", name, d.cursor(), want)
		}
	}
}

func TestNextMatchLooksForTheLastFilter(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d := hand(a, b, c, uitest.Led("b2", "x", noon()))
	d.press("n")
	d.shows(t, "nothing to look for")
	d.press("/", "b", "esc", "n")
	if d.cursor() != "b" {
		t.Errorf("the cursor is on %s", d.cursor())
	}
	d.press("n")
	if d.cursor() != "b2" {
		t.Errorf("the cursor is on %s", d.cursor())
	}
	d.press("n")
	if d.cursor() != "b" {
		t.Errorf("the cursor is on %s", d.cursor())
	}
	d.shows(t, "from the other end")
	d.press("N")
	if d.cursor() != "b2" {
		t.Errorf("the cursor is on %s", d.cursor())
	}
}

func TestMarksStayWithTheirRows(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d := hand(a, b, c)
	d.press("space", "space")
	d.show(uitest.State(noon(), b, c, a)) // in other slots
	d.pass(6)
	for _, line := range d.lines() {
		if strings.HasPrefix(line, " ●+c ") || strings.HasPrefix(line, " ● a ") {
			t.Errorf("marked: %q", line)
		}
	}
	d.shows(t, " ●+a ")
	d.shows(t, " ●+b ")
	d.press("g", "space", "u")
	d.showsNot(t, "●+")
}

func TestSameOwnerShowsItsRowsAndThenWhatWasThere(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	d := hand(a, b, uitest.Led("c", "host-1", noon()))
	d.press("/", "l", "enter", "*") // leases: all
	if got := strings.Join(d.names(), ""); got != "ac" {
		t.Errorf("it shows %s", got)
	}
	d.shows(t, "owner=host-1")
	d.press("*")
	if got := strings.Join(d.names(), ""); got != "abc" {
		t.Errorf("it shows %s", got)
	}
	d.shows(t, "filter l")
	d.press("*", "esc")
	if got := d.names(); len(got) != 3 {
		t.Errorf("esc left %v", got)
	}
}

func TestMouseIsOffUntilItIsAskedFor(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d := hand(a, b, c)
	if d.View().MouseMode != tea.MouseModeNone {
		t.Error("it is on")
	}
	d.press("m")
	if d.View().MouseMode == tea.MouseModeNone {
		t.Error("it is off")
	}
	row := slices.IndexFunc(d.lines(), func(s string) bool { return strings.HasPrefix(s, " ● c ") })
	d.send(tea.MouseClickMsg{X: 5, Y: row, Button: tea.MouseLeft})
	if d.cursor() != "c" {
		t.Errorf("a click on line %d selected %s", row, d.cursor())
	}
	d.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	if d.cursor() != "a" {
		t.Errorf("the wheel went to %s", d.cursor())
	}
	d.send(tea.MouseClickMsg{X: 5, Y: 0, Button: tea.MouseLeft})
	if d.cursor() != "a" {
		t.Errorf("a click on the header selected %s", d.cursor())
	}
}

func TestTimesCanBeShownInUTC(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	st := uitest.State(noon().In(time.FixedZone("CET", 3600)), a)
	d := drive(newTestFeed(st), Options{Width: 120, Height: 30})
	d.shows(t, "13:00:00 CET")
	d.command("utc")
	d.shows(t, "12:00:00 UTC")
	d.command("utc")
	d.shows(t, "13:00:00 CET")
}
