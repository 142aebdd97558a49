package uitest

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Noon is when hand-made states were read.
func Noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// Key is the press of a key by its name; a name of one character is typed.
func Key(name string) tea.KeyPressMsg {
	named := map[string]rune{"esc": tea.KeyEscape, "enter": tea.KeyEnter, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace}
	if code, ok := named[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if name == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	if c, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(c[0]), Mod: tea.ModCtrl}
	}
	if c, ok := strings.CutPrefix(name, "alt+"); ok {
		return tea.KeyPressMsg{Code: rune(c[0]), Mod: tea.ModAlt}
	}
	return tea.KeyPressMsg{Code: rune(name[0]), Text: name}
}
