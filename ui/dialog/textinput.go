package dialog

import (
	"charm.land/bubbles/v2/textarea"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"coordtop/ui/paint"
)

// maxInput bounds a typed or pasted line, in characters.
const maxInput = 200

// Input is a line of typed text. All lines of the board use it instead of a textinput, because some
// edits of bubbles panic (v2.2.1: deleteWordForward before the last character).
type Input struct{ textinput.Model }

// NewInput returns an empty line. Its owner draws it, with the terminal's own cursor.
func NewInput() Input {
	in := Input{textinput.New()}
	in.CharLimit = maxInput
	in.SetVirtualCursor(false)
	in.KeyMap.Paste.SetEnabled(false) // the terminal pastes; reading the clipboard starts programs
	return in
}

// Update edits the line by a key or a paste. One that panics changes nothing.
func (in *Input) Update(msg tea.Msg) {
	text, at, focused := in.Value(), in.Position(), in.Focused()
	if survives(func() { in.Model, _ = in.Model.Update(msg) }) { // its command blinks a cursor that we do not draw
		return
	}
	*in = NewInput()
	in.SetValue(text)
	in.SetCursor(at)
	if focused {
		in.Focus()
	}
}

// Before returns the text before the cursor, fit for drawing.
func (in *Input) Before() string {
	text := []rune(in.Value())
	return paint.Clean(string(text[:min(in.Position(), len(text))]))
}

// inputLines are several lines of typed text, see Input.
type inputLines struct{ textarea.Model }

const (
	dataLines = 3     // shown at once
	dataChars = 65536 // more than any backend takes
)

func newInputLines() inputLines {
	t := inputLines{textarea.New()}
	t.Prompt, t.ShowLineNumbers, t.CharLimit, t.EndOfBufferCharacter = "", false, dataChars, ' '
	t.SetVirtualCursor(false)
	t.KeyMap.Paste.SetEnabled(false) // as NewInput does
	t.KeyMap.CopySelection.SetEnabled(false)
	t.SetHeight(dataLines)
	return t
}

// Update edits the lines as Input does; after a panic the cursor stands at their end.
func (t *inputLines) Update(msg tea.Msg) { t.guard(func() { t.Model, _ = t.Model.Update(msg) }) }

// guard calls f, which edits or draws the lines. If f panics, guard replaces the lines by new ones with the same text.
func (t *inputLines) guard(f func()) {
	text, focused := t.Value(), t.Focused()
	if survives(f) {
		return
	}
	*t = newInputLines()
	t.SetValue(text)
	if focused {
		t.Focus()
	}
}

// survives calls f and reports whether it returned without a panic.
func survives(f func()) (whole bool) {
	defer func() { whole = recover() == nil }()
	f()
	return true
}
