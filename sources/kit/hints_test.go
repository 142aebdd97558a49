package kit_test

import (
	"slices"
	"testing"

	"coordtop/sources"
	"coordtop/sources/kit"
)

func TestHintsWakeWhoeverWaitsAtEachFocusAndRefresh(t *testing.T) {
	t.Parallel()
	var h kit.Hints
	closed := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	for _, c := range []struct {
		name string
		ask  func()
	}{{"Refresh", h.Refresh}, {"Focus", func() { h.Focus(nil, sources.Ref{}) }}} {
		one, other := h.Changed(), h.Changed()
		if closed(one) {
			t.Errorf("before %s somebody is woken", c.name)
		}
		c.ask()
		if !closed(one) || !closed(other) || closed(h.Changed()) {
			t.Errorf("%s does not wake every waiter, or wakes a later one too", c.name)
		}
	}
}

func TestARefreshIsServedOnceByEachReader(t *testing.T) {
	t.Parallel()
	var h kit.Hints
	var one, other uint64
	if h.Refreshed(&one) {
		t.Error("refreshed without being asked to")
	}
	h.Refresh()
	h.Refresh()
	if !h.Refreshed(&one) || h.Refreshed(&one) || !h.Refreshed(&other) {
		t.Error("want two refreshes served by one reading of each reader")
	}
}

func TestHintsKnowTheRowsOfASpaceThatAreOnScreen(t *testing.T) {
	t.Parallel()
	var h kit.Hints
	if visible, selected := h.OnScreen().In("0"); len(visible) != 0 || selected != "" {
		t.Errorf("at first %v and %q are on screen", visible, selected)
	}
	h.Focus([]sources.Ref{{Space: "0", Name: "a"}, {Space: "1", Name: "b"}}, sources.Ref{Space: "1", Name: "b"})
	if visible, selected := h.OnScreen().In("0"); !slices.Equal(visible, []string{"a"}) || selected != "" {
		t.Errorf("of one space %v and %q are on screen", visible, selected)
	}
	if visible, selected := h.OnScreen().In("1"); !slices.Equal(visible, []string{"b"}) || selected != "b" {
		t.Errorf("of the other %v and %q are on screen", visible, selected)
	}
}
