package ui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestChangedKeysAreWhatActsAndWhatHelpAndFooterShow(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	keys := map[string][]string{"pause": {"x"}, "write": {"w", "f2"}, "back": {"esc", "q", "left"}, "quit": {"ctrl+x", "q"}, "up": {"k", "up", "i"}, "acquire": {"g"}}
	if wrong := CheckKeys(keys); len(wrong) > 0 {
		t.Fatalf("wrong: %v", wrong)
	}
	d := hand(a, b, c)
	d.model.table = rebound(bindings(), keys)
	d.model.keys = newKeymap(d.model.table)
	d.send(tea.WindowSizeMsg{Width: 160, Height: 200})
	d.press("p")
	if !d.paused.IsZero() {
		t.Error("the old key acts")
	}
	d.press("x")
	if d.paused.IsZero() {
		t.Error("the new key does not act")
	}
	d.press("x", "j", "i")
	if d.cursor() != "a" {
		t.Errorf("the cursor is on %s", d.cursor())
	}
	d.shows(t, "x pause")
	d.press("?")
	d.shows(t, "w f2 ")
	d.press("left", ":")
	d.typed("pause") // letters stay text, commands stay
	d.press("enter")
	if d.paused.IsZero() {
		t.Error("the command is gone")
	}
	quits := func(k string) bool {
		cmd := d.send(key(k))
		return cmd != nil
	}
	d.press("/", "q", "i", "esc")
	if !quits("ctrl+c") || !quits("ctrl+x") || !quits("q") {
		t.Error("a key that quits does not")
	}
}

func TestAllThatIsWrongWithChangedKeysIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		says string
	}{
		"fly":          {[]string{"x"}, "no such action"},
		"utc":          {[]string{"x"}, "no such action"}, // it has a command alone
		"yes":          {[]string{"enter"}, "cannot be changed"},
		"press-button": {[]string{"space"}, "cannot be changed"},
		"pause":        {[]string{"n"}, `"n" is the key of next-match too`},
		"mouse":        {nil, "has no key"},
		"sort":         {[]string{"ctrl+s"}, "is never a command"},
		"kind":         {[]string{"alt+k"}, "is never a command"},
		"open":         {[]string{"A"}, "arrives in parts"},
		"filter":       {[]string{"Q"}, "arrives in parts"},
		"mark":         {[]string{"backspace"}, "is never a command"},
		"top":          {[]string{"hyper+x"}, "is no key that is known"},
		"bottom":       {[]string{"v", "v"}, "is there twice"},
		"width":        {[]string{"f3"}, "function keys alone"},
		"copy":         {[]string{":copy"}, "is a command"},
	} {
		wrong := CheckKeys(map[string][]string{name: c.keys})
		if len(wrong) == 0 || wrong[0].Action != name || !strings.Contains(wrong[0].Text, c.says) {
			t.Errorf("%s %v: %v, want %q", name, c.keys, wrong, c.says)
		}
	}
	wrong := CheckKeys(map[string][]string{"fly": {"x"}, "pause": {"y", "ctrl+q"}, "actions": {"v"}, "write": {"v"}})
	var of []string
	for _, w := range wrong {
		of = append(of, w.Action)
	}
	slices.Sort(of)
	if !slices.Equal(of, []string{"actions", "fly", "pause", "pause", "write"}) {
		t.Errorf("found %v", wrong)
	}
}

func TestTheTableItselfHasNoClash(t *testing.T) {
	t.Parallel()
	if found := clashes(bindings()); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	for _, name := range actionNames() {
		if wrong := CheckKeys(map[string][]string{name: usualKeysOnly(name)}); len(wrong) > 0 {
			t.Errorf("%s with its own keys: %v", name, wrong)
		}
	}
}

// usualKeysOnly are the keys of an action, without its commands.
func usualKeysOnly(name string) []string {
	keys := slices.DeleteFunc(usualKeys(bindings(), intent(name)), isCommand)
	slices.Sort(keys)
	return slices.Compact(keys)
}
