package ui

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"coordtop/ui/keys"
)

func TestChangedKeysAreWhatActsAndWhatHelpAndFooterShow(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	changed := map[string][]string{"pause": {"x"}, "write": {"v", "f2"}, "back": {"esc", "q", "insert"}, "quit": {"ctrl+x", "q"}, "up": {"k", "up", "b"}, "acquire": {"g"}}
	if wrong := keys.Check(changed); len(wrong) > 0 {
		t.Fatalf("wrong: %v", wrong)
	}
	d := hand(a, b, c)
	d.model.Keys = keys.Rebound(keys.Bindings(), changed)
	d.model.keys = keys.NewMap(d.model.Keys)
	d.send(tea.WindowSizeMsg{Width: 160, Height: 200})
	d.press("p")
	if !d.Paused.IsZero() {
		t.Error("the old key acts")
	}
	d.press("x")
	if d.Paused.IsZero() {
		t.Error("the new key does not act")
	}
	d.press("x", "j", "b")
	if d.cursor() != "a" {
		t.Errorf("the cursor is on %s", d.cursor())
	}
	d.shows(t, "x pause")
	d.press("?")
	d.shows(t, "v f2 ")
	d.press("insert", ":")
	d.typed("pause") // letters stay text, commands stay
	d.press("enter")
	if d.Paused.IsZero() {
		t.Error("the command is gone")
	}
	quits := func(k string) bool {
		cmd := d.send(key(k))
		return cmd != nil
	}
	d.press("/", "q", "b", "esc")
	if !quits("ctrl+c") || !quits("ctrl+x") || !quits("q") {
		t.Error("a key that quits does not")
	}
}
