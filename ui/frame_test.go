package ui

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"coordtop/sources"
	"coordtop/ui/uitest"
)

// exact fails unless the frame is h lines of w cells without a control character.
func exact(t interface {
	Helper()
	Fatalf(string, ...any)
}, d *driver) {
	t.Helper()
	if d.w <= 0 || d.h <= 0 {
		if d.View().Content != "" {
			t.Fatalf("something is drawn on %dx%d", d.w, d.h)
		}
		return
	}
	lines := strings.Split(d.View().Content, "\n")
	if len(lines) != d.h {
		t.Fatalf("%d lines on %dx%d", len(lines), d.w, d.h)
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n != d.w {
			t.Fatalf("line %d of %dx%d has %d cells: %q", i, d.w, d.h, n, line)
		}
		if j := strings.IndexFunc(ansi.Strip(line), unicode.IsControl); j >= 0 {
			t.Fatalf("line %d has a control character: %q", i, line)
		}
	}
}

func TestEveryFrameFillsTheScreenExactly(t *testing.T) {
	t.Parallel()
	scene := scene(t)
	events, _ := scene.Events(1 << 20)
	keys := [][]string{nil, {"?"}, {"enter"}, {"j", "enter", "G"}, {"/", "s"}, {"/", "~", "enter"}, {"!"}, {"p"}, {"tab"}, {"G"},
		{"5"}, {"5", "G", "enter"}, {"o"}, {"o", "G"}, {"K"}, {"5", "K", "/", "s"}, {"1"}, {"1", "G", "enter"}, {"1", "j", "t"}}
	rapid.Check(t, func(t *rapid.T) {
		o := Options{Width: rapid.IntRange(0, 300).Draw(t, "w"), Height: rapid.IntRange(0, 300).Draw(t, "h"),
			ASCII: rapid.Bool().Draw(t, "ascii"), NoColor: rapid.Bool().Draw(t, "nocolor")}
		feed := newTestFeed(scene.State())
		feed.Tell(events...)
		d := drive(feed, o)
		d.send(tea.WindowSizeMsg{Width: o.Width, Height: o.Height})
		d.press(rapid.SampledFrom(keys).Draw(t, "keys")...)
		d.pass(1)
		exact(t, d)
		d.send(tea.WindowSizeMsg{Width: rapid.IntRange(0, 90).Draw(t, "w2"), Height: rapid.IntRange(0, 30).Draw(t, "h2")})
		exact(t, d)
	})
}

// hostile are texts that would do harm if they reached the terminal.
var hostile = []string{
	"", "\x1b[2J\x1b[H", "\x1b]0;owned\x07", "\r\n\n", "a\x00b\x7f", "\u202egnp.exe", "\xff\xfe", "日本語の鍵", "👩‍👩‍👧‍👦 family", "e\u0301\u0301\u0301",
	strings.Repeat("x", 10_000), strings.Repeat("界", 3_000), "\u009b31mred", "\x1bP+q544e\x1b\\", "a\tb", "\u2028\u2029", "🇩🇪🇫🇷", "각",
}

func TestHostileTextChangesNothingButItsOwnCell(t *testing.T) {
	t.Parallel()
	for i, text := range hostile {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			checkHostile(t, text)
		})
	}
}

func FuzzHostileText(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkHostile(t, text) })
}

// checkHostile compares a board on which a stranger has put text wherever strangers
// can with one on which all is harmless.
func checkHostile(t *testing.T, text string) {
	t.Helper()
	board := func(name, owner string) *driver {
		// The row with the text stands between two others, whatever its name. The last row has
		// the longest name and owner that get room, so that columns do not follow the text.
		middle := uitest.Led(name, owner, noon())
		middle.Owners[0].Label, middle.Owners[0].Session = owner, owner
		middle.Owners[0].Data = sources.Blob{Head: owner, Len: len(owner)}
		middle.Queue = sources.Queue{How: sources.Told, Len: 1, At: noon(), Waiters: []sources.Waiter{{Label: owner}}}
		st := uitest.State(noon(), uitest.Led("before", "a", noon()), middle, uitest.Led("other", "b", noon()),
			uitest.Led(strings.Repeat("z", 60), strings.Repeat("y", 60), noon()))
		feed := newTestFeed(st)
		feed.Tell(sources.Event{Seq: 1, At: noon(), Kind: sources.EventProclaimed, Ref: middle.Ref, Owner: sources.OwnerRef{ID: owner, Label: owner}, Detail: owner})
		return drive(feed, Options{Width: 160, Height: 40})
	}
	nasty, calm := board(text, text), board("calm", "owner")
	exact(t, nasty)
	row := func(d *driver, name string) string {
		for i, h := range d.Locks.Visible() {
			if r, _ := d.Rows.At(h); r.Name == name {
				return ansi.Strip(strings.Split(d.View().Content, "\n")[d.Layout.Header+d.Layout.Trouble+2+i])
			}
		}
		t.Fatalf("no row %q", name)
		return ""
	}
	for _, neighbour := range []string{"before", "other"} {
		if got, want := row(nasty, neighbour)[1:], row(calm, neighbour)[1:]; got != want {
			t.Errorf("the row %s changed:\n%s\n%s", neighbour, got, want)
		}
	}
	cut := func(line string, from, to int) string { return ansi.Cut(line, from, to) }
	mine, other := row(nasty, text), row(calm, "calm")
	heads := nasty.lines()[nasty.Layout.Header+nasty.Layout.Trouble+1]
	source, owner := strings.Index(heads, "  SOURCE"), strings.Index(heads, "    OWNER")
	since := strings.Index(heads, "SINCE") + len("SINCE") - 7 - 1 // cells of the column, and the gap
	if got, want := cut(mine, source, owner), cut(other, source, owner); got != want {
		t.Errorf("source and kind changed: %q, not %q", got, want)
	}
	if got, want := cut(mine, since, 160), cut(other, since, 160); got != want {
		t.Errorf("what follows the owner changed: %q, not %q", got, want)
	}
	nasty.press("enter", "G", "g", "esc", "/")
	nasty.send(tea.PasteMsg{Content: text})
	exact(t, nasty)
	nasty.press("esc", "esc", "1")
	nasty.pass(14) // its renewal is late by then
	exact(t, nasty)
	nasty.press("enter")
	exact(t, nasty)
}

func TestTheScreenShowsHostileTextAsItWasMeasured(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		p := uitest.Led("row "+text, text, noon())
		d := hand(p)
		s := uitest.NewScreen(t, 120, 30)
		if _, err := s.Write([]byte(d.View().Content)); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(s.Text(), "\n") {
			want := strings.TrimRight(d.lines()[i], " ")
			if got := strings.TrimRight(line, " "); got != want {
				t.Errorf("%q: line %d is %q on the screen, not %q", text[:min(len(text), 20)], i, got, want)
			}
		}
	}
}

func TestAScreenOfNoSizeIsLeftEmpty(t *testing.T) {
	t.Parallel()
	m := newModel(Options{Feed: newTestFeed(uitest.State(noon())), Environ: []string{"TERM=xterm"}})
	if m.View().Content != "" {
		t.Errorf("drew %q before the size was known", m.View().Content)
	}
	if !m.View().AltScreen {
		t.Error("the first view does not take the alternate screen")
	}
}

// The demo says what there is to try, with the keys that do it, and begins on a leader; what it
// says goes by itself, and stands in no other run.
func TestTheDemoSaysWhatToTryAndBeginsOnALeader(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	lock := uitest.Led("0", "host-1", noon())
	lock.Kind = sources.KindMutex
	st := uitest.State(noon(), lock, a)
	const text = "Try X: it crashes the leader's process. Then enter, 5 (events), ? (signs)."
	d := drive(newTestFeed(st), Options{Width: 80, Height: 24, Demo: true})
	exact(t, d)
	d.shows(t, "Demo: programs lead and queue on private servers; 4242 is never given back.")
	d.shows(t, text)
	d.shows(t, "? help  q quit  X crash its process")
	if d.cursor() != a.Name {
		t.Errorf("the cursor is on %s", d.cursor())
	}
	d.press("k")
	d.show(uitest.State(noon(), lock, a))
	if d.cursor() != lock.Name {
		t.Error("the cursor went back to the leader")
	}
	d.pass(45)
	d.showsNot(t, text)
	drive(newTestFeed(st), Options{Width: 80, Height: 24}).showsNot(t, "Try X")
}
