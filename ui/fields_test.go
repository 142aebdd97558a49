package ui

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	bubbles "charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/internal/ground/raced"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/uitest"
)

// editKeys are all keys that the text fields of bubbles, and the board, are bound to.
func editKeys(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, keyMap := range []any{textinput.DefaultKeyMap(), textarea.DefaultKeyMap()} {
		v := reflect.ValueOf(keyMap)
		for i := range v.NumField() {
			names = append(names, v.Field(i).Interface().(bubbles.Binding).Keys()...)
		}
	}
	for _, b := range slices.Concat(keys.Bindings(), keys.DialogBindings()) {
		names = append(names, b.Keys...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fielded opens each kind of field of the board, by name.
func fielded(t *testing.T) map[string]func() *driver {
	t.Helper()
	board := func(press ...string) func() *driver {
		return func() *driver {
			a, b, c := three()
			d := hand(a, b, c)
			d.press(press...)
			return d
		}
	}
	open := map[string]func() *driver{
		"filter": board("/"), "filter on the Timeline": board("3", "/"), "filter of events": board("5", "/"), "filter of the audit": board("6", "/"),
		"command": board(":"), "help": board("?", "/"), "help, typed at once": board("?", "x"),
		"command with an argument": func() *driver { d := board(":")(); d.typed("acquire "); return d },
		"name of a protected source": func() *driver {
			d, op, _ := armedOne()
			d.disarm(op)
			op.ArmErr = fmt.Errorf("leases is protected: type its name")
			d.press("W", "y")
			return d
		},
	}
	box := func(kind sources.Kind, verb action.Verb, menuKey string, e action.Effect, n int) {
		fields := func() *driver {
			p := uitest.Led("a", "host-1", noon())
			p.Kind, p.Limit = kind, 3
			d, op := armed(p)
			op.Offer, op.Effect = []action.Choice{{Verb: verb}}, e
			d.act("a", menuKey)
			return d
		}
		for i := range n {
			open[fmt.Sprintf("%v, field %d", verb, i)] = func() *driver {
				d := fields()
				d.act(slices.Repeat([]string{"tab"}, i)...)
				return d
			}
		}
	}
	e := effect()
	e.NeedsName, e.NeedsReason, e.TakesData, e.TakesLimit, e.TakesMode, e.DataMax = "a", true, true, true, true, 100
	box(sources.KindSemaphore, action.Acquire, "a", e, 9)
	e.TakesData, e.TakesLimit, e.TakesMode = false, false, false
	box(sources.KindMutex, action.Release, "x", e, 4)
	return open
}

// alive says what ended the board; "": nothing did.
func alive(do func()) (ended string) {
	defer func() {
		if v := recover(); v != nil {
			ended = fmt.Sprint(v)
		}
	}()
	do()
	return ""
}

// TestNoKeyInAnyFieldEndsTheBoard presses every key before the last character, where bubbles is wrong;
// the tests of package dialog press them everywhere. A frame is drawn once for each key, and a board
// that then looks as it did at first serves the next key.
func TestNoKeyInAnyFieldEndsTheBoard(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it presses some thousand keys; those of package dialog press each key in a line")
	}
	raced.Alone(t, "it presses some thousand keys in one goroutine")
	all := editKeys(t)
	for field, open := range fielded(t) {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			var d *driver
			var first string
			for _, k := range all {
				if d == nil {
					d = open()
					first = d.drawn.frame.Content
				}
				if why := alive(func() {
					for _, press := range []string{"x", "left", k, "z", "backspace", "end"} {
						d.handle(key(press))
					}
					d.press("ctrl+u")
				}); why != "" {
					t.Errorf("%s: %s", k, why)
				}
				if d.drawn.frame.Content != first {
					d = nil
				}
			}
		})
	}
}

func TestNoPasteOrSizeInAnyFieldEndsTheBoard(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it draws some thousand frames")
	}
	raced.Alone(t, "it draws some thousand frames in one goroutine")
	pastes := []string{"", "x", "\n", "x\n\ny\r\n", "\x1b[31m\x00", strings.Repeat("界 ", 80), "\u0301\u200d", "\xff\xfe", "a\tb", "x\x1b[201~y\n"}
	for field, open := range fielded(t) {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			d := open()
			for _, text := range pastes {
				for _, size := range []tea.WindowSizeMsg{{}, {Width: 1, Height: 1}, {Width: 10, Height: 3}, {Width: 80, Height: 2}, {Width: 3, Height: 40}} {
					if why := alive(func() { d.send(size); d.send(tea.PasteMsg{Content: text}); d.press("left", "alt+d", "end") }); why != "" {
						t.Fatalf("paste of %.20q at %dx%d: %s", text, size.Width, size.Height, why)
					}
				}
			}
		})
	}
}
