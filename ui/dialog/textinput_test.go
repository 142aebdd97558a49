package dialog

import (
	"reflect"
	"slices"
	"testing"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"coordtop/internal/ground/raced"
	"coordtop/ui/paint"
	"coordtop/ui/uitest"
)

// texts returns texts of 0 to 3 characters on which an edit may fail.
var texts = []string{"", "x", " ", "界", "é", "xy", "x ", " x", "  ", "界x", "e\u0301", "👍🏽", "xyz", "x y", " x ", "   ", "xy ", "  x", "界界界", "a\u0301b", "\u200dab"}

// bound are the keys of a map of keys of bubbles, whatever its fields are called.
func bound(t *testing.T, keyMap any) (names []string) {
	t.Helper()
	v := reflect.ValueOf(keyMap)
	for i := range v.NumField() {
		b, ok := v.Field(i).Interface().(key.Binding)
		if !ok {
			t.Fatalf("%s is no binding", v.Type().Field(i).Name)
		}
		for _, name := range b.Keys() {
			if got := uitest.Key(name).String(); got != name {
				t.Fatalf("the key %s is pressed as %s", name, got)
			}
			names = append(names, name)
		}
	}
	if len(names) < 20 {
		t.Fatalf("only %v are bound", names)
	}
	return names
}

// edited calls edit with each text and each place of the cursor in it.
func edited(edit func(text string, at int)) {
	for _, text := range texts {
		for at := range len([]rune(text)) + 1 {
			edit(text, at)
		}
	}
}

func TestNoBindingOfALinePanicsAnywhereInAShortText(t *testing.T) {
	t.Parallel()
	mended := map[string]bool{}
	for _, name := range bound(t, NewInput().KeyMap) {
		edited(func(text string, at int) {
			typed := func() Input {
				in := NewInput()
				in.Focus()
				in.SetValue(text)
				in.SetCursor(at)
				return in
			}
			in, raw := typed(), typed()
			in.Update(uitest.Key(name))
			if !survives(func() { raw.Model, _ = raw.Model.Update(uitest.Key(name)) }) {
				mended[name] = true
				if in.Value() != text || in.Position() != at {
					t.Errorf("%s at %d of %q leaves %q at %d", name, at, text, in.Value(), in.Position())
				}
			} else if in.Value() != raw.Value() || in.Position() != raw.Position() {
				t.Errorf("%s at %d of %q: %q at %d, without a guard %q at %d", name, at, text, in.Value(), in.Position(), raw.Value(), raw.Position())
			}
			before := in.Value()
			if in.Update(uitest.Key("z")); len(in.Value()) != len(before)+1 || in.Before() == "" {
				t.Errorf("after %s at %d of %q nothing can be typed: %q", name, at, text, in.Value())
			}
			if in.Update(uitest.Key("ctrl+v")); in.KeyMap.Paste.Enabled() || in.CharLimit != maxInput {
				t.Errorf("after %s the line is another one", name)
			}
		})
	}
	if len(mended) == 0 {
		t.Log("bubbles panics no more: the guard has nothing to do")
	}
}

func TestNoBindingOfSeveralLinesPanicsAnywhereInAShortText(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it edits some thousand fields")
	}
	raced.Alone(t, "it edits some thousand fields in one goroutine")
	th := (&paint.Scheme{}).Theme(false)
	texts := slices.Concat(texts, []string{"\n", "x\n", "\nx", "x\ny", "\n\n\n"})
	for _, name := range bound(t, newInputLines().KeyMap) {
		for _, text := range texts {
			for at := range len([]rune(text)) + 1 {
				f := newField(fieldData, "")
				f.focus(true)
				f.text.SetValue(text)
				f.text.MoveToBegin()
				for range at {
					f.edit(uitest.Key("right"))
				}
				f.edit(uitest.Key(name))
				for _, w := range []int{0, 1, 2, 40} {
					f.draw(&th, w, 1+w%3)
				}
				before := len(f.value())
				if f.edit(uitest.Key("z")); !f.text.Focused() || len(f.value()) > before+1 || f.text.KeyMap.Paste.Enabled() {
					t.Errorf("after %s at %d of %q the field has %q", name, at, text, f.value())
				}
			}
		}
	}
}

func TestAPanicCostsALineItsLastEditAlone(t *testing.T) {
	t.Parallel()
	text := newInputLines()
	text.SetValue("a\nb")
	text.Focus()
	text.guard(func() { text.SetValue("half done"); panic("a defect") })
	if text.Value() != "a\nb" || !text.Focused() || text.CharLimit != dataChars {
		t.Errorf("left: %q", text.Value())
	}
	in := NewInput()
	in.SetValue("ab")
	in.Focus()
	in.Validate = func(string) error { panic("a defect") }
	if in.Update(tea.PasteMsg{Content: "c"}); in.Value() != "ab" || in.Position() != 2 || !in.Focused() {
		t.Errorf("left: %q at %d", in.Value(), in.Position())
	}
	if in.Update(uitest.Key("c")); in.Value() != "abc" {
		t.Errorf("then: %q", in.Value())
	}
}
