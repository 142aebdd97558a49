package ui

import (
	"image/color"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

var colour = regexp.MustCompile(`\x1b\[[0-9;]*\b(3[0-7]|4[0-7]|9[0-7]|10[0-7]|38|48)\b[0-9;]*m`)

func TestNoColorOfAnyValueTakesTheColoursAway(t *testing.T) {
	t.Parallel()
	scene := scene(t)
	for _, value := range []string{"1", "true", "yes", "on", "0", "false", "please"} {
		d := drive(scene, Options{Environ: []string{"TERM=xterm", "NO_COLOR=" + value}})
		if c := colour.FindString(d.View().Content); c != "" {
			t.Errorf("NO_COLOR=%s: the frame holds %q", value, c)
		}
	}
	for _, env := range [][]string{{"TERM=xterm"}, {"TERM=xterm", "NO_COLOR="}} {
		if d := drive(scene, Options{Environ: env}); !colour.MatchString(d.View().Content) {
			t.Errorf("%v: no colours", env)
		}
	}
}

func TestTextAloneSaysTheSameWithAndWithoutColour(t *testing.T) {
	t.Parallel()
	st := scene(t).State()
	plain, coloured := drive(newTestFeed(st), Options{NoColor: true}), drive(newTestFeed(st), Options{})
	got := strings.Replace(plain.text(), "\n>!", "\n !", 1) // the cursor is a sign where reverse may be all there is
	if got != coloured.text() {
		t.Error("the texts differ")
	}
}

func TestASCIITerminalsGetNothingElse(t *testing.T) {
	t.Parallel()
	scene := scene(t)
	for _, env := range [][]string{{"TERM=linux"}, {"TERM=dumb"}, {"TERM=xterm", "LANG=C"}, {"TERM=xterm", "LC_ALL=POSIX", "LANG=de_DE.UTF-8"}} {
		d := drive(scene, Options{Environ: env})
		for _, keys := range [][]string{nil, {"?"}, {"q", "enter"}} {
			d.press(keys...)
			if i := strings.IndexFunc(d.View().Content, func(r rune) bool { return r > 0x7e }); i >= 0 {
				t.Errorf("%v: %q", env, d.View().Content[i:i+10])
			}
		}
	}
	for _, env := range [][]string{{"TERM=xterm"}, {"TERM=xterm", "LANG=en_GB.utf8"}, {"TERM=xterm", "LANG=C", "LC_CTYPE=C.UTF-8"}} {
		if terminal.Environ(env).ASCII() {
			t.Errorf("%v: taken for an ASCII terminal", env)
		}
	}
}

func TestNamesBeyondASCIIAreQuestionMarksOnAnASCIITerminal(t *testing.T) {
	t.Parallel()
	d := drive(newTestFeed(uitest.State(noon(), uitest.Led("schlüssel", "日本", noon()))), Options{ASCII: true})
	d.shows(t, "schl?ssel")
	exact(t, d)
}

func TestBothSidesOfATurnoverHaveTheirLetters(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "new", noon())
	st := uitest.State(noon(), p)
	at := func(ago time.Duration) sources.Stamp { return sources.Stamp{At: noon().Add(-ago), How: sources.Seen} }
	st.Rows[0].Terms = []sources.Term{
		{Owner: sources.OwnerRef{ID: "old", Label: "old"}, Hue: 0, Start: at(time.Hour), End: at(5 * time.Minute)},
		{Owner: sources.OwnerRef{ID: "new", Label: "new"}, Hue: 1, Start: at(4 * time.Minute)},
	}
	d := drive(newTestFeed(st), Options{Width: 160, Height: 40})
	d.Started = noon().Add(-time.Hour) // so that the strips are of their whole length
	d.send(terminal.SecondMsg{})
	d.shows(t, "B new")  // in the list and in the pane
	d.shows(t, "A━━━━━") // the strip
	d.shows(t, "━!   B━━━")
	d.shows(t, "A old")
}

func TestAThemeIsAGreyThatCanBeReadWhereTheTerminalHasIt(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	frame := func(o Options, msgs ...tea.Msg) string {
		d := drive(newTestFeed(uitest.State(noon(), a)), o)
		for _, msg := range msgs {
			d.send(msg)
		}
		return d.View().Content
	}
	rich, poor := tea.ColorProfileMsg{Profile: colorprofile.ANSI256}, tea.ColorProfileMsg{Profile: colorprofile.ANSI}
	black, white := tea.BackgroundColorMsg{Color: color.Black}, tea.BackgroundColorMsg{Color: color.White}
	for _, c := range []struct {
		name string
		o    Options
		msgs []tea.Msg
		want string // the SGR of dim text
	}{
		{"nobody said", Options{}, []tea.Msg{rich}, "\x1b[90m"},
		{"the terminal said dark", Options{Theme: "auto"}, []tea.Msg{black, rich}, "\x1b[38;5;245m"},
		{"the terminal said light", Options{}, []tea.Msg{rich, white}, "\x1b[38;5;242m"},
		{"the person said light", Options{Theme: "light"}, []tea.Msg{rich, black}, "\x1b[38;5;242m"},
		{"the person said dark", Options{Theme: "dark"}, []tea.Msg{rich}, "\x1b[38;5;245m"},
		{"sixteen colours", Options{Theme: "dark"}, []tea.Msg{poor}, "\x1b[90m"},
	} {
		if got := frame(c.o, c.msgs...); !strings.Contains(got, c.want) || strings.Contains(got, "38;5") != strings.Contains(c.want, "38;5") {
			t.Errorf("%s: no %q", c.name, c.want)
		}
	}
	if got := frame(Options{NoColor: true, Theme: "light"}, rich, white); colour.MatchString(got) {
		t.Errorf("no colours, but %q", colour.FindString(got))
	}
}

func TestTheTerminalIsAskedForItsBackgroundOnlyWhereThatMatters(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	for _, c := range []struct {
		o     Options
		asked bool
	}{{Options{}, true}, {Options{Theme: "auto"}, true}, {Options{Theme: "dark"}, false}, {Options{NoColor: true}, false}} {
		d := drive(newTestFeed(uitest.State(noon(), a)), c.o)
		if asked := d.Init() != nil; asked != c.asked {
			t.Errorf("%+v: asked is %v", c.o, asked)
		}
	}
	d := hand(a)
	d.command("theme pink")
	d.shows(t, "themes: auto, dark, light")
	d.command("theme light")
	d.send(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	if !strings.Contains(d.View().Content, "38;5;242m") {
		t.Error("the theme is not light")
	}
}

func TestCursorRowKeepsTheColourOfItsMark(t *testing.T) {
	t.Parallel()
	d := hand(uitest.Leaderless("a", noon().Add(-time.Minute)), uitest.Led("b", "host-1", noon()))
	d.pass(3)
	if d.cursor() != "a" {
		t.Fatalf("the cursor is on %s", d.cursor())
	}
	if mark := string(d.Theme.Selected+d.Theme.Bad) + "!"; !strings.Contains(d.View().Content, mark) {
		t.Errorf("the mark is not drawn as %q", mark)
	}
}

// An absent semaphore looks like no free one, and two leaders like no single one.
func TestAStripShowsAbsenceAndConflict(t *testing.T) {
	t.Parallel()
	two := uitest.Led("two", "host-1", noon())
	second := two.Owners[0]
	second.ID, second.Label = "host-2", "host-2"
	two.Owners = append(two.Owners, second)
	d := hand(two, uitest.Led("one", "host-1", noon()))
	d.shows(t, "1 in conflict")
	if line := d.lines()[4]; !strings.Contains(line, " two ") || !strings.Contains(line, " 2════") || strings.Contains(line[len(line)/2:], "━") {
		t.Errorf("two leaders: %q", line)
	}
	d.press("?", "/")
	d.typed("exist")
	d.shows(t, "····")
}

func TestASemaphoreSaysHowManyPermitsAreTakenAlsoWithoutALimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit uint64
		how   sources.Known
		want  string
	}{{5, sources.Told, "0/5"}, {0, sources.Unknown, "0/?"}, {sources.NoLimit, sources.Told, "0 taken"}} {
		p := uitest.Led("pool", "", noon())
		p.Kind, p.Owners, p.Taken, p.Limit, p.LimitHow = sources.KindSemaphore, nil, 0, c.limit, c.how
		hand(p).shows(t, c.want)
	}
}
