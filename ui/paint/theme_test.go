package paint

import (
	"slices"
	"strings"
	"testing"
)

func TestOwnersAreNeverRedOrYellow(t *testing.T) {
	t.Parallel()
	th := newTheme(false, false, "")
	for hue := range 256 {
		for _, s := range []Style{th.ownerLine(uint8(hue)), th.OwnerLetter(uint8(hue))} {
			for _, code := range strings.FieldsFunc(string(s), func(r rune) bool { return r < '0' || r > '9' }) {
				if slices.Contains([]string{"31", "33", "91", "93"}, code) {
					t.Fatalf("hue %d is %q", hue, s)
				}
			}
		}
		if hue > 0 && th.ownerLine(uint8(hue)) == th.ownerLine(uint8(hue-1)) {
			t.Fatalf("hue %d looks as the one before", hue)
		}
	}
}

func TestTitleHasItsOwnColour(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"red": "41", "Green": "42", "cyan": "46", "": "45", "no colour": "45"} {
		if got := newTheme(false, false, name).Title; !strings.Contains(string(got), ";"+want) {
			t.Errorf("%q: %q", name, got)
		}
	}
}

func TestOwnersAreCutAtAWord(t *testing.T) {
	t.Parallel()
	th := newTheme(false, true, "")
	for _, c := range []struct{ text, want string }{
		{"vm:29260 pid 1", "vm:29260 pid 1"}, {"vm:29260 pid 29326", "vm:29260…"}, {"vm:29260-29326-1", "vm:29260-29326…"}, {"billing worker eu", "billing worker…"}, {"", ""},
	} {
		if got := th.FitWords(c.text, 15); got != c.want {
			t.Errorf("%q became %q, not %q", c.text, got, c.want)
		}
	}
}
