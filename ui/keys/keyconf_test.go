package keys

import (
	"slices"
	"strings"
	"testing"
)

func TestAllThatIsWrongWithChangedKeysIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		says string
	}{
		"fly":          {[]string{"x"}, "no such action"},
		"quitt":        {[]string{"x"}, "no such action as quitt: did you mean quit?"},
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
		wrong := Check(map[string][]string{name: c.keys})
		if len(wrong) == 0 || wrong[0].Action != name || !strings.Contains(wrong[0].Text, c.says) {
			t.Errorf("%s %v: %v, want %q", name, c.keys, wrong, c.says)
		}
	}
	wrong := Check(map[string][]string{"fly": {"x"}, "hunter2": {"x"}})
	if len(wrong) != 2 || !strings.Contains(wrong[0].Text, ", pause, ") || wrong[1].Text != "no such action" {
		t.Errorf("the actions are not listed once: %v", wrong)
	}
	wrong = Check(map[string][]string{"fly": {"x"}, "pause": {"y", "ctrl+q"}, "actions": {"v"}, "write": {"v"}})
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
	if found := clashes(Bindings()); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	for _, name := range ActionNames() {
		if wrong := Check(map[string][]string{name: usualKeysOnly(name)}); len(wrong) > 0 {
			t.Errorf("%s with its own keys: %v", name, wrong)
		}
	}
}

// usualKeysOnly returns the keys of an action without its commands.
func usualKeysOnly(name string) []string {
	keys := slices.DeleteFunc(usualKeys(Bindings(), Intent(name)), isCommand)
	slices.Sort(keys)
	return slices.Compact(keys)
}
