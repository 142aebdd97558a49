package ui

import (
	"testing"
	"time"

	"coordtop/ui/uitest"
)

func TestStripGivesWayToNamesAndOwners(t *testing.T) {
	t.Parallel()
	short, long := fitColumns(80, longest{name: 12, owner: 14}), fitColumns(80, longest{name: 24, owner: 20})
	if short[colStrip] == 0 || short[colOwner] < 14 {
		t.Errorf("short names leave no strip: %v", short)
	}
	if long[colName] < 24 || long[colOwner] < 20 || long[colStrip] > 0 {
		t.Errorf("long names are cut: %v", long)
	}
	huge := fitColumns(80, longest{name: 300, owner: 300})
	if huge[colWait] == 0 || huge[colLease] == 0 || huge.width() > 80 {
		t.Errorf("names of 300 cells leave %v", huge)
	}
}

func TestColumnsOfStripsGrowWithWhatWasObserved(t *testing.T) {
	t.Parallel()
	d := drive(uitest.NewFeed(uitest.State(noon(), uitest.Led("a", "host-1", noon()))), Options{Width: 160, Height: 48})
	seconds := 0
	until := func(observed time.Duration) time.Duration {
		d.pass(int(observed/time.Second) - seconds)
		seconds = int(observed / time.Second)
		return stripWindow(&d.scene).Step
	}
	first := until(10 * time.Second)
	if first != leastStep {
		t.Errorf("after 10 s a column is %v, not %v", first, leastStep)
	}
	last := first
	for _, observed := range []time.Duration{2 * time.Minute, 5 * time.Minute, 20 * time.Minute} {
		step := until(observed)
		if step <= last {
			t.Errorf("after %v a column is %v, as short as before", observed, step)
		}
		last = step
		if win := stripWindow(&d.scene); win.Span() < min(observed, stripSpan) {
			t.Errorf("of %v only %v are shown", observed, win.Span())
		}
	}
	if step := until(40 * time.Minute); step != last {
		t.Errorf("the columns grow on, to %v", step)
	}
}
