package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// offVerb stands beside the button with the verb where it has not the focus, and could.
const offVerb = "Release  (tab goes here)"

// filledRelease opens the box of a release with a reason and the name, and its button focused.
func filledRelease(t *testing.T) (*driver, *testOperator, *sources.Primitive) {
	t.Helper()
	d, op, p := stuck("host-1")
	d.act("a", "x", "tab")
	d.typed("INC-7")
	d.act("tab")
	d.typed(stuckName)
	d.act("tab", "tab")
	d.shows(t, "Release ")
	d.showsNot(t, offVerb)
	return d, op, p
}

func TestABoxIsDecidedAnewAfterTheProgramStoodStill(t *testing.T) {
	t.Parallel()
	for name, still := range map[string]func(d *driver){
		"told":                       func(d *driver) { d.await(d.send(tea.ResumeMsg{})) },
		"the clock, at a key":        func(d *driver) { d.feed.Pass(7 * time.Second) },
		"the clock, a second first":  func(d *driver) { d.feed.Pass(time.Hour); d.await(d.send(terminal.SecondMsg{})) },
		"the clock was set back":     func(d *driver) { d.feed.Pass(-time.Hour) },
		"suspended, keys come first": func(d *driver) { d.press("ctrl+z"); d.press("enter"); d.await(d.send(tea.ResumeMsg{})) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, op, _ := filledRelease(t)
			if strings.HasPrefix(name, "suspended") {
				d.acting.Suspending() // there is no shell here that would do it
			}
			refreshes := d.feed.refreshes
			still(d)
			d.act("enter", "enter")
			d.feed.Pass(399 * time.Millisecond)
			d.act("tab", "enter", "y")
			if got := op.Begun(); len(got) > 0 || !d.acting.Open() {
				t.Fatalf("begun %+v:\n%s", got, d.text())
			}
			d.shows(t, offVerb)
			for _, kept := range []string{"reason    INC-7", stuckName, "host-1", "stood still: look again before you confirm"} {
				d.shows(t, kept)
			}
			if d.feed.refreshes == refreshes {
				t.Error("the sources were not asked to look again")
			}
			d.feed.Pass(time.Second)
			d.await(d.send(terminal.SecondMsg{}))
			d.act("tab", "enter")
			if got := op.Begun(); len(got) != 1 || got[0].Reason != "INC-7" || got[0].Typed != stuckName {
				t.Errorf("begun %+v", got)
			}
		})
	}
}

func TestABoxThatGrowsOldShowsItsFocusOnCancelAndKeepsWhatIsTyped(t *testing.T) {
	t.Parallel()
	d, _, _ := filledRelease(t)
	d.pass(60)
	d.shows(t, "Release  (asking anew)")
	d.shows(t, "a minute old")
	d.pass(1)
	d.act("shift+tab", "shift+tab")
	d.pass(70)
	d.typed("8") // in a field nothing is lost, however long it takes
	d.shows(t, "INC-78")
}

func TestABoxWhoseOwnerChangedWhileTheProgramStoodStillSaysSo(t *testing.T) {
	t.Parallel()
	d, op, p := filledRelease(t)
	other := *p
	other.Owners = slices.Clone(p.Owners)
	other.Owners[0].ID, other.Owners[0].Label = "host-2", "host-2"
	d.feed.Set(uitest.State(noon(), &other))
	d.act("enter", "enter") // the state is there, its message is not
	d.send(tea.ResumeMsg{})
	d.act("enter", "enter")
	d.says(t, "changed: host-1 owned it when you decided, now host-2 does")
	d.says(t, "owner host-2")
	if got := op.Begun(); len(got) > 0 {
		t.Errorf("begun %+v", got)
	}
}

func TestOtherQuestionsAreDecidedAnewToo(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	d.disarm(op)
	d.press("W")
	d.feed.Pass(time.Minute)
	d.press("y", "y")
	if len(op.Called()) > 0 {
		t.Fatalf("called %v", op.Called())
	}
	d.feed.Pass(time.Second)
	d.press("y")
	if !slices.Equal(op.Called(), []string{"arm leases "}) {
		t.Errorf("called %v", op.Called())
	}
	holding(op, d, a, true)
	d.press("ctrl+c")
	d.send(tea.ResumeMsg{})
	if d.quits("r") || d.quits("l") {
		t.Error("it quits on keys that came with the resume")
	}
	d.feed.Pass(time.Second)
	if !d.quits("r") {
		t.Error("it does not quit after a moment")
	}
}

func TestNothingIsSentByABoxThatIsNotOnTheScreenWhole(t *testing.T) {
	t.Parallel()
	for _, size := range []tea.WindowSizeMsg{{Width: 1, Height: 1}, {Width: 10, Height: 3}, {Width: 29, Height: 24}, {Width: 80, Height: 6}, {Width: 200, Height: 2}, {}} {
		d, op, _ := filledRelease(t)
		d.send(size)
		d.act("enter", "tab", "enter", "tab", "enter", "y", " ")
		if got := op.Begun(); len(got) > 0 || !d.acting.Open() {
			t.Fatalf("%dx%d: begun %+v", size.Width, size.Height, got)
		}
		if strings.Contains(d.text(), "Release ") {
			t.Errorf("%dx%d has the button:\n%s", size.Width, size.Height, d.text())
		}
		d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		d.shows(t, offVerb)
		d.act("tab", "enter")
		if got := op.Begun(); len(got) != 1 {
			t.Errorf("%v enlarged again: begun %+v\n%s", size, got, d.text())
		}
	}
	d, _, _ := filledRelease(t)
	d.send(tea.WindowSizeMsg{Width: 10, Height: 3})
	if got := strings.Join(strings.Fields(d.text()), " "); got != "too small to act: enlarge" {
		t.Errorf("10x3 says %q", got)
	}
}

func TestTheTargetAndItsOwnerAreNeverOutOfSight(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("app:lock:long-", 9) + "end"
	p := uitest.Led(long, "host-"+strings.Repeat("0123456789", 9)+":9", noon())
	p.Owners[0].Guard = "g"
	p.Kind = sources.KindMutex
	d, op := armed(p)
	op.Offer = []action.Choice{{Verb: action.Release}}
	d.act("a", "x")
	whole := func(size tea.WindowSizeMsg) (shown, button bool) {
		d.send(size)
		text := d.text()
		flat := strings.NewReplacer("\n", "", " ", "").Replace(text)
		if w := d.sentences(); w != "" {
			flat = strings.ReplaceAll(w, " ", "")
		}
		return strings.Contains(flat, long) && strings.Contains(flat, p.Owners[0].Label), strings.Contains(text, "Release ")
	}
	with := 0
	for w := 20; w < 120; w += 7 {
		for h := 3; h < 40; h += 3 {
			shown, button := whole(tea.WindowSizeMsg{Width: w, Height: h})
			if with++; !button {
				with--
			} else if !shown {
				t.Fatalf("%dx%d has a button, but not the names:\n%s", w, h, d.text())
			}
			d.press("pgdown", "pgdown")
			if shown, button = whole(tea.WindowSizeMsg{Width: w, Height: h}); button && !shown {
				t.Fatalf("%dx%d, scrolled:\n%s", w, h, d.text())
			}
		}
	}
	if with < 50 {
		t.Errorf("only %d sizes have a button:\n%s", with, d.text())
	}
}

func TestAPasteWithNewlinesNeverConfirms(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"\n", "\r\r", "\n\ny\n", stuckName + "\n\n", "y\r\n"} {
		d, op, _ := filledRelease(t)
		d.obey(d.send(tea.PasteMsg{Content: text}))
		if got := op.Begun(); len(got) > 0 || !d.acting.Open() {
			t.Errorf("%q: begun %+v", text, got)
		}
		d.disarm(op)
		d.press("esc", "W")
		d.obey(d.send(tea.PasteMsg{Content: text}))
		if got := op.Called(); len(got) > 0 {
			t.Errorf("%q: called %v", text, got)
		}
	}
}
