package dialog

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"coordtop/internal/ground/format"
	"coordtop/ui/paint"
)

// fieldKind is the meaning of a field.
type fieldKind uint8

const (
	fieldData fieldKind = iota
	fieldMode           // chosen, not typed
	fieldPermits
	fieldLimit
	fieldWait
	fieldReason
	fieldName
)

// fieldNames are the labels of fields.
var fieldNames = [...]string{fieldData: "data", fieldMode: "mode", fieldPermits: "permits", fieldLimit: "limit", fieldWait: "wait",
	fieldReason: "reason", fieldName: "type the name to confirm"}

// field is an input of a box: a line, or several lines for data.
type field struct {
	kind  fieldKind
	line  Input
	text  inputLines // of fieldData
	note  string     // below it
	empty string     // shown while it is empty

	shared  bool // of fieldMode
	focused bool
}

// waitForever is the text for a wait without an end.
const waitForever = "forever"

func newField(kind fieldKind, empty string) *field {
	f := &field{kind: kind, line: NewInput(), empty: empty}
	if kind == fieldData {
		f.text = newInputLines()
	}
	return f
}

func (f *field) value() string {
	if f.kind == fieldData {
		return f.text.Value()
	}
	return strings.TrimSpace(f.line.Value())
}

// fill sets a value that was not typed. Invisible characters are written as escapes.
func (f *field) fill(value string) {
	if shown := visible(value); shown != value {
		f.note = "not plain text: what you see is what would be sent"
		value = shown
	}
	f.text.SetValue(value)
}

// visible writes invisible characters in a text of several lines as escapes.
func visible(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = format.Clean(lines[i], 0)
	}
	return strings.Join(lines, "\n")
}

func (f *field) focus(on bool) {
	f.focused = on
	switch {
	case f.kind == fieldData && on:
		f.text.Focus() // its command blinks a cursor that we do not draw
	case f.kind == fieldData:
		f.text.Blur()
	case on:
		f.line.Focus()
	default:
		f.line.Blur()
	}
}

// edit handles a key or a paste.
func (f *field) edit(msg tea.Msg) {
	switch k := msg.(type) {
	case tea.PasteMsg:
		text := visible(strings.ReplaceAll(k.Content, "\r\n", "\n"))
		if f.kind != fieldData {
			text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
		}
		msg = tea.PasteMsg{Content: text}
	case tea.KeyPressMsg:
		if k.Text != "" && paint.Clean(k.Text) != k.Text {
			return
		}
	}
	switch f.kind {
	case fieldData:
		f.text.Update(msg)
	case fieldMode:
		f.editMode(msg)
	default:
		f.line.Update(msg)
	}
}

// wrong returns why the value is not valid; "": it is.
func (f *field) wrong() string {
	v := f.value()
	switch {
	case v == "":
	case f.kind == fieldWait:
		if d, ok := format.ParseLength(v); v != waitForever && (!ok || d == 0) {
			return "write " + format.LengthForms + ", or forever"
		}
	case f.kind == fieldPermits || f.kind == fieldLimit:
		if n, err := strconv.ParseUint(v, 10, 64); err != nil || n == 0 {
			return fieldNames[f.kind] + " is a number from 1"
		}
	}
	return ""
}

// shown draws a line of the field, or f.empty if text is "".
func (f *field) shown(th *paint.Theme, w int, text string) string {
	if text == "" {
		return th.Line(w).Put(th.Dim, f.empty).Done()
	}
	return th.Line(w).Put("", text).Done()
}

// draw returns the field's lines in w cells, and the place of its cursor.
func (f *field) draw(th *paint.Theme, w, h int) (lines []string, x, y int) {
	if f.kind == fieldMode {
		text, x := f.drawMode(th, w)
		return []string{text}, x, 0
	}
	if f.kind != fieldData {
		text := paint.Clean(f.line.Value())
		x = format.Width(f.line.Before())
		if x >= w { // the text before the cursor must be visible
			text = ansi.Cut(text, x-w+1, format.Width(text))
			x = w - 1
		}
		return []string{f.shown(th, w, text)}, x, 0
	}
	if f.text.Value() == "" {
		return th.Box([]string{f.shown(th, w, "")}, w, h), 0, 0
	}
	f.text.guard(func() {
		f.text.SetWidth(w)
		f.text.SetHeight(h)
		for _, s := range strings.Split(ansi.Strip(f.text.View()), "\n") {
			lines = append(lines, th.Line(w).Put("", strings.TrimRight(s, " ")).Done())
		}
		if c := f.text.Cursor(); c != nil {
			x, y = min(c.X, max(w-1, 0)), c.Y
		}
	})
	return th.Box(lines, w, h), x, y
}
