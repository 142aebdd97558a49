package uitest

import (
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// Noon returns the time at which hand-made states were read.
func Noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// Key is the press of a key by its name, with ctrl+, alt+ and shift+ before it; a name of one
// character is typed.
func Key(name string) tea.KeyPressMsg {
	named := map[string]rune{"esc": tea.KeyEscape, "enter": tea.KeyEnter, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "insert": tea.KeyInsert, "space": tea.KeySpace}
	var k tea.KeyPressMsg
	for _, m := range []struct {
		name string
		mod  tea.KeyMod
	}{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}} {
		if rest, ok := strings.CutPrefix(name, m.name); ok {
			name, k.Mod = rest, k.Mod|m.mod
		}
	}
	code, ok := named[name]
	if !ok {
		code, _ = utf8.DecodeRuneInString(name)
		if k.Mod == 0 {
			k.Text = name
		}
	}
	k.Code = code
	return k
}
