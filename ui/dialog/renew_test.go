package dialog

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
	"coordtop/ui/uitest"
)

func TestADecisionIsTooOldAfterAMinuteOfTheWallClock(t *testing.T) {
	t.Parallel()
	at := time.Now() // with a monotonic reading, which a suspend stops
	for _, c := range []struct {
		after        time.Duration
		old, stepped bool
	}{
		{0, false, false}, {time.Second, false, false}, {5*time.Second - 1, false, false}, {5 * time.Second, false, true},
		{time.Minute - 1, false, true}, {time.Minute, true, true}, {time.Hour, true, true},
		{-time.Second, false, false}, {-5 * time.Second, false, true}, {-time.Minute, true, true},
	} {
		now := at.Round(0).Add(c.after)
		if tooOld(at, now) != c.old || Stepped(at, now) != c.stepped {
			t.Errorf("after %v: too old %v, stepped %v", c.after, tooOld(at, now), Stepped(at, now))
		}
	}
}

func TestADialogFitsWhereItsLinesAndButtonsDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines, w, h int
		fits        bool
	}{
		{9, 80, 24, true}, {9, 30, 9, true}, {9, 29, 9, false}, {9, 30, 8, false}, {9, 1, 1, false}, {9, 0, 0, false},
		{0, 80, 24, true}, {0, 80, 4, true}, {0, 80, 3, false}, {0, 10, 2, false}, {25, 80, 24, false},
	} {
		if fits(c.lines, c.w, c.h) != c.fits {
			t.Errorf("%d lines fit in %dx%d: %v", c.lines, c.w, c.h, !c.fits)
		}
	}
}

func TestOnlyWhatBeginsSomethingIsHeldBack(t *testing.T) {
	t.Parallel()
	always := map[keys.Intent]bool{keys.Yes: true, keys.ResignAll: true, keys.RunOut: true, keys.CallOff: true}
	for _, b := range keys.DialogBindings() {
		for _, onVerb := range []bool{false, true} {
			if want := always[b.Intent] || b.Intent == keys.Press && onVerb; confirms(b.Intent, onVerb) != want {
				t.Errorf("%s confirms: %v, on the verb %v", b.Intent, !want, onVerb)
			}
		}
	}
}

func TestTheLeastWidthHasRoomForTheButtonsOfEveryVerb(t *testing.T) {
	t.Parallel()
	for _, v := range action.Verbs() {
		if n := len(" Cancel ") + 8 + len(verbButton(v.Verb)) + 2; n > leastWidth {
			t.Errorf("%v needs %d cells", v.Verb, n)
		}
	}
}

// testBoard is a board with one row, a clock that a test sets, an operator that begins nothing, and the
// messages that were shown.
type testBoard struct {
	Operator
	state *sources.State
	now   time.Time
	said  []string
}

func (b *testBoard) Say(text string)                     { b.said = append(b.said, text) }
func (b *testBoard) SayFor(_ time.Duration, text string) { b.Say(text) }
func (b *testBoard) State() *sources.State               { return b.state }
func (b *testBoard) Now() time.Time                      { return b.now }
func (b *testBoard) Caps() []action.Ability              { return nil }
func (b *testBoard) Status() *action.Status              { return &action.Status{Always: true} }
func (b *testBoard) Choices(*sources.Row) []action.Choice {
	return []action.Choice{{Verb: action.Release}}
}
func (b *testBoard) NotEnded(*sources.Row, action.Target) string { return "" }
func (b *testBoard) Row(st *sources.State, _ sources.Ref) *sources.Row {
	return st.Rows[0]
}

// board returns a board with a row that host-1 owns, at noon.
func board() (*Acting, *testBoard) {
	b := &testBoard{now: uitest.Noon()}
	b.own("host-1")
	a := New(&screen.Scene{State: b.state, Theme: (&paint.Scheme{}).Theme(false), Keys: keys.DialogBindings()}, b, b, b)
	a.Describer = func(func(context.Context) error) <-chan error { return make(chan error, 1) } // no answer comes
	return &a, b
}

// own replaces the owner.
func (b *testBoard) own(owner string) {
	p := uitest.Led("app:lock", owner, uitest.Noon())
	p.Owners[0].Guard = "guard of " + owner
	b.state = uitest.State(uitest.Noon(), p)
}

// releaseBox opens the box of a release with a reason, filled, and the focus there.
func releaseBox(a *Acting, b *testBoard, focus int) *box {
	row := b.state.Rows[0]
	a.pressing = true
	a.OpenBox(action.Request{Verb: action.Release, Target: action.TargetOf(row, &row.Owners[0])})
	a.pressing = false
	box := a.dialog.(*box)
	box.answered(a, box.asked, action.Effect{}, nil)
	box.fields[0].line.SetValue("INC-7")
	box.point(focus)
	return box
}

// The places of the focus in a box with one field.
const (
	onField  = 0
	onCancel = 1 + buttonCancel
	onAct    = 1 + buttonAct
)

// plain is a dialog without fields or focus.
type plain struct {
	Dialog
	drawn screen.Picture
}

func (d *plain) update(*Acting) {}

func (d *plain) picture(*Acting, int, int) screen.Picture { return d.drawn }

func TestTheAgeOfADecisionIsThatOfTheWallThoughTheMonotonicClockStopped(t *testing.T) {
	t.Parallel()
	monotonic := func(t *time.Time) *int64 { return &(*[2]int64)(unsafe.Pointer(t))[1] }
	for _, asleep := range []time.Duration{5 * time.Second, time.Minute, 10 * time.Hour} {
		before := time.Now()
		woken := before.Add(asleep)
		*monotonic(&woken) = *monotonic(&before)
		if woken.Sub(before) != 0 || woken.Round(0).Sub(before.Round(0)) != asleep {
			t.Fatalf("a suspend of %v is not imitated: %v", asleep, woken.Sub(before))
		}
		if !Stepped(before, woken) || tooOld(before, woken) != (asleep >= time.Minute) {
			t.Errorf("after %v: too old %v, stepped %v", asleep, tooOld(before, woken), Stepped(before, woken))
		}
		*monotonic(&woken) = int64(asleep) + *monotonic(&before)
		if asleep = 0; tooOld(woken, woken) || Stepped(woken, woken) {
			t.Error("no time at all is too long")
		}
	}
}

func TestWhatConfirmsIsWithheldInABoxThatIsOldOrSmall(t *testing.T) {
	t.Parallel()
	intents := map[keys.Intent]bool{}
	for _, b := range keys.DialogBindings() {
		intents[b.Intent] = true
	}
	begins := []keys.Intent{keys.Yes, keys.ResignAll, keys.RunOut, keys.CallOff}
	for name, focus := range map[string]int{"no box": -1, "field": onField, "Cancel": onCancel, "verb": onAct} {
		for i := range intents {
			for _, age := range []time.Duration{0, time.Minute - 1, time.Minute, -time.Minute} {
				for _, small := range []bool{false, true} {
					a, b := board()
					if a.show(&plain{}); focus >= 0 {
						releaseBox(a, b, focus)
					}
					a.small, b.now = small, b.now.Add(age)
					confirming := slices.Contains(begins, i) || i == keys.Press && (focus == onAct || focus < 0)
					old := age.Abs() >= time.Minute && confirming && !small
					if got, want := withheld(a, i), small && i != keys.Cancel || old; got != want {
						t.Errorf("%s on %s after %v, small %v: withheld %v", i, name, age, small, got)
					}
					if renewed := a.decided.Equal(b.now) && age != 0; renewed != old {
						t.Errorf("%s on %s after %v, small %v: decided anew %v", i, name, age, small, renewed)
					}
				}
			}
		}
	}
}

func TestKeysWaitForTheResumeAndAMomentMore(t *testing.T) {
	t.Parallel()
	pressed := func(a *Acting) (did bool) {
		a.Press(func() { did = true })
		return did
	}
	a, b := board()
	a.Resumed()
	if len(b.said) > 0 || !a.decided.IsZero() || !a.quiet.IsZero() || !pressed(a) {
		t.Errorf("without a dialog: said %q", b.said)
	}
	releaseBox(a, b, onAct)
	if !pressed(a) {
		t.Error("a box that a key opened takes no key")
	}
	a.Suspending()
	for _, step := range []struct {
		pass time.Duration
		does bool
	}{{0, false}, {10*time.Second - 1, false}, {1, true}} { // a shell that does not stop us
		if b.now = b.now.Add(step.pass); pressed(a) != step.does {
			t.Errorf("suspending, %v on: a key does something: %v", step.pass, !step.does)
		}
	}
	a.Suspending()
	a.Resumed()
	for _, step := range []struct {
		pass time.Duration
		does bool
	}{{0, false}, {quietTime - 1, false}, {1, true}} {
		if b.now = b.now.Add(step.pass); pressed(a) != step.does {
			t.Errorf("resumed, %v on: a key does something: %v", step.pass, !step.does)
		}
	}
}

func TestADialogDecidedAnewKeepsWhatIsTypedAndAsksAgain(t *testing.T) {
	t.Parallel()
	const why = "look again"
	for name, c := range map[string]struct {
		before           func(a *Acting, b *testBoard)
		focus            int    // after it
		hint, said       string // where why is to be read
		pending, refresh bool
	}{
		"as it was":     {func(*Acting, *testBoard) {}, onCancel, why, "", true, true},
		"of another":    {func(_ *Acting, b *testBoard) { b.own("host-2") }, onCancel, "", "", false, true},
		"being written": {func(a *Acting, _ *testBoard) { a.dialog.(*box).writing = true }, onAct, "", why, false, false},
		"no box":        {func(a *Acting, _ *testBoard) { a.show(&plain{}) }, onAct, "", why, false, false},
	} {
		a, b := board()
		box := releaseBox(a, b, onAct)
		c.before(a, b)
		asked := box.asked
		b.now = b.now.Add(time.Hour)
		renew(a, why)
		if !a.decided.Equal(b.now) || !a.quiet.Equal(b.now.Add(quietTime)) {
			t.Errorf("%s: decided %v, quiet until %v", name, a.decided, a.quiet)
		}
		if said := strings.Join(b.said, ""); box.focus != c.focus || box.hint != c.hint || said != c.said || box.pending != c.pending {
			t.Errorf("%s: focus %d, hint %q, said %q, pending %v", name, box.focus, box.hint, said, box.pending)
		}
		if again := box.asked > asked; again != c.refresh || len(a.Later()) > 0 != c.refresh {
			t.Errorf("%s: the operator was asked again: %v", name, again)
		}
		if got := box.filled().Reason; got != "INC-7" || !box.fields[0].line.Focused() && box.focus == onField {
			t.Errorf("%s: the reason is %q", name, got)
		}
	}
}

func TestADialogThatIsNotOnTheScreenWholeHasNoButtonFocused(t *testing.T) {
	t.Parallel()
	lines := func(n int) []string { return slices.Repeat([]string{"line"}, n) }
	for _, c := range []struct {
		drawn screen.Picture
		w, h  int
		small bool
	}{
		{screen.Picture{Lines: lines(9)}, 80, 24, false}, {screen.Picture{Lines: lines(24)}, 80, 24, false},
		{screen.Picture{Lines: lines(25)}, 80, 24, true}, {screen.Picture{Lines: lines(9), Cut: true}, 80, 24, true},
		{screen.Picture{Lines: lines(1)}, leastWidth - 1, 24, true}, {screen.Picture{Lines: lines(1)}, 80, leastHeight - 1, true},
	} {
		for _, before := range []bool{false, true} {
			a, _ := board()
			a.show(&plain{drawn: c.drawn})
			a.small = before
			got := whole(a, c.w, c.h)
			if text := strings.Join(got.Lines, " "); a.small != c.small || got.Cut != c.small || c.small != strings.Contains(text, "too small to act: enlarge") {
				t.Errorf("%d lines, cut %v in %dx%d: small %v, shows %q", len(c.drawn.Lines), c.drawn.Cut, c.w, c.h, a.small, text)
			}
		}
	}
	for before, after := range map[int]int{onField: onField, onCancel: onCancel, onAct: onCancel} {
		a, b := board()
		box := releaseBox(a, b, before)
		if whole(a, leastWidth-1, 24); !a.small || box.focus != after {
			t.Errorf("in a narrow screen the focus goes from %d to %d, small %v", before, box.focus, a.small)
		}
		a, b = board()
		box = releaseBox(a, b, before)
		if a.Draw(nil); !a.small || box.focus != after || box.fields[0].line.Focused() != (after == onField) {
			t.Errorf("without a line on the screen the focus goes from %d to %d, small %v", before, box.focus, a.small)
		}
		if shrink(a); box.focus != after {
			t.Errorf("smaller still, the focus goes to %d", box.focus)
		}
	}
}

func TestABoxDecidedAnewAsksWhatWithTheTypedTextWouldHappen(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"INC-7", ""} {
		a, b := board()
		old := releaseBox(a, b, onField)
		old.fields[0].line.SetValue(typed)
		old.anew(a)
		next := a.dialog.(*box)
		a.Later()
		next.answered(a, next.asked, action.Effect{}, nil)
		asks := len(a.Later()) > 0
		if next == old || next.fields[0].value() != typed || asks != (typed != "") || next.pending != asks || (next.missing() == "asking anew") != asks {
			t.Errorf("%q: the new box has %q, asks %v, and misses %q", typed, next.fields[0].value(), asks, next.missing())
		}
	}
}
