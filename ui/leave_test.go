package ui

import (
	"slices"
	"testing"
	"time"
)

func TestQuittingWithEmptyHandsAsksNothing(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	for _, k := range []string{"q", "ctrl+c"} {
		if d, _ := armed(a); !d.quits(k) {
			t.Errorf("%s does not quit", k)
		}
	}
}

func TestQuittingAsksWhatIsToBecomeOfWhatWeHold(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	for _, c := range []struct {
		key    string
		quits  bool
		called []string
	}{
		{"r", true, nil}, {"l", true, []string{"let run out"}}, {"esc", false, nil}, {"enter", false, nil}, {"n", false, nil}, {"j", false, nil},
	} {
		d, op := armed(a, b)
		holding(op, d, a, true)
		holding(op, d, b, false)
		for _, k := range []string{"q", "ctrl+c"} {
			if d.quits(k) {
				t.Fatalf("%s quits without a word", k)
			}
			d.shows(t, "We hold 2 leases")
			d.shows(t, "quit and let 1 run out: the rest ends with our connection")
			d.press("esc")
			d.feed.Pass(2 * time.Second)
		}
		d.press("q")
		d.showsNot(t, "ctrl+c")
		if d.quits(c.key) != c.quits || !slices.Equal(op.Called(), c.called) {
			t.Errorf("%s: quits %v, called %v", c.key, !c.quits, op.Called())
		}
	}
}

func TestNothingIsLeftToRunOutThatCannot(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	holding(op, d, a, false)
	d.press("q")
	d.showsNot(t, "run out")
	if d.quits("l") || len(op.Called()) > 0 {
		t.Errorf("l quits, called %v", op.Called())
	}
}

func TestASecondInterruptWithinASecondQuits(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	holding(op, d, a, true)
	d.press("ctrl+c")
	d.feed.Pass(1100 * time.Millisecond)
	if d.quits("ctrl+c") {
		t.Error("it quits though more than a second went by")
	}
	d.feed.Pass(900 * time.Millisecond)
	if !d.quits("ctrl+c") {
		t.Error("it does not quit")
	}
	if slices.Contains(op.Called(), "let run out") {
		t.Error("what we hold is not resigned")
	}
}
