package keys

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestNoKeyMeansTwoThingsInOneScope(t *testing.T) {
	t.Parallel()
	for _, s := range []Context{InLocks, InDetail, InHelp, InInput, InEvents, InSources, InCommand, InHelpText, InSort, InTimeline, InWindow, InLaneSort} {
		seen := map[string]Intent{}
		for _, a := range Bindings() {
			for _, k := range a.Keys {
				if other, ok := seen[k]; ok && a.Context&s != 0 {
					t.Errorf("%s means %s and %s", k, other, a.Intent)
				}
				if a.Context&s != 0 {
					seen[k] = a.Intent
				}
			}
		}
	}
}

func TestTheKeyThatTextsNameForQuitIsQ(t *testing.T) {
	t.Parallel()
	if all, list := Bindings().KeyOf(Quit), Bindings().KeyIn(InLocks, Quit); all != "q" || list != "q" {
		t.Errorf("%s, on the list %s", all, list)
	}
}

func TestKeysThatOthersTakeAreNotBound(t *testing.T) {
	t.Parallel()
	banned := strings.Fields("ctrl+a ctrl+b ctrl+space ctrl+s ctrl+q ctrl+h ctrl+i ctrl+j ctrl+k ctrl+m A B C D H F P R S [ O backspace delete")
	for _, a := range Bindings() {
		for _, k := range a.Keys {
			if slices.Contains(banned, k) && !onlyMoves(a.Intent) || strings.HasPrefix(k, "alt+") {
				t.Errorf("%s is bound to %s", k, a.Intent)
			}
		}
	}
}

func TestKeysOnALayoutThatIsNotLatinCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k    tea.KeyPressMsg
		want string
	}{
		{tea.KeyPressMsg{Code: 'о', Text: "о", BaseCode: 'j'}, "j"},
		{tea.KeyPressMsg{Code: 'п', Text: "П", BaseCode: 'g', Mod: tea.ModShift}, "G"},
		{tea.KeyPressMsg{Code: 'ö', Text: "ö"}, "ö"},
		{tea.KeyPressMsg{Code: tea.KeyUp}, "up"},
	} {
		if got := Name(c.k); got != c.want {
			t.Errorf("%v is %q, not %q", c.k, got, c.want)
		}
	}
}
