package dialog

import (
	"testing"
	"time"

	"coordtop/internal/action"
	"coordtop/ui/keys"
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
