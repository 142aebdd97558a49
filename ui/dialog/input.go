package dialog

import (
	"charm.land/bubbles/v2/textarea"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"coordtop/ui/paint"
)

// maxInput bounds what is typed or pasted, in characters.
const maxInput = 200

// Input is a line that a person types. All lines of the board are one, because bubbles edits them
// and some of its edits panic (v2.2.1: deleteWordForward before the last character).
type Input struct{ textinput.Model }

// NewInput returns an empty line. It is drawn as a part of what it stands in, with the terminal's
// own cursor.
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
	if survives(func() { in.Model, _ = in.Model.Update(msg) }) { // its command is the blinking of a cursor that we do not draw
		return
	}
	*in = NewInput()
	in.SetValue(text)
	in.SetCursor(at)
	if focused {
		in.Focus()
	}
}

// Before is what stands before the cursor, fit for drawing.
func (in *Input) Before() string {
	text := []rune(in.Value())
	return paint.Clean(string(text[:min(in.Position(), len(text))]))
}

// inputLines are several lines that a person types, see Input.
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

// guard calls f, which edits or draws the lines; where that panics they are made anew with their text.
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

// survives calls f and reports whether it came back without a panic.
func survives(f func()) (whole bool) {
	defer func() { whole = recover() == nil }()
	f()
	return true
}
