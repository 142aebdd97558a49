package ui

import (
	"testing"
	"time"

	"coordtop/ui/screen"
	"coordtop/ui/uitest"
)

func TestColumnsOfStripsGrowWithWhatWasObserved(t *testing.T) {
	t.Parallel()
	d := drive(newTestFeed(uitest.State(noon(), uitest.Led("a", "host-1", noon()))), Options{Width: 160, Height: 48})
	seconds := 0
	until := func(observed time.Duration) time.Duration {
		d.pass(int(observed/time.Second) - seconds)
		seconds = int(observed / time.Second)
		return screen.StripWindow(&d.Scene).Step
	}
	first := until(10 * time.Second)
	if first != 2*time.Second {
		t.Errorf("after 10 s a column is %v, not 2 s", first)
	}
	last := first
	for _, observed := range []time.Duration{3 * time.Minute, 6 * time.Minute, 20 * time.Minute} {
		step := until(observed)
		if step <= last {
			t.Errorf("after %v a column is %v, as short as before", observed, step)
		}
		last = step
		if win := screen.StripWindow(&d.Scene); win.Span() < min(observed, 15*time.Minute) {
			t.Errorf("of %v only %v are shown", observed, win.Span())
		}
	}
	if step := until(40 * time.Minute); step != last {
		t.Errorf("the columns grow on, to %v", step)
	}
}
