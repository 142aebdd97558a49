package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"charm.land/bubbles/v2/textinput"

	"coordtop/internal/format"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// draw makes the frame that View returns until the next one. It is the end of every
// Update that changed something.
func (m *model) draw() {
	m.settled()
	m.stage()
	f := m.picture()
	m.scroll, m.helpAt = f.scroll, f.helpAt
	m.frame = tea.NewView(strings.Join(f.lines, "\n"))
	m.frame.AltScreen = true
	m.frame.WindowTitle = m.tabTitle.at(m.clock, windowTitle(&m.scene))
	if m.lay.h > 0 && m.hands.dialog == nil {
		if x, y, typed := m.typedAt(); typed {
			m.frame.Cursor = tea.NewCursor(min(x, max(m.w-1, 0)), y)
		}
	}
	if m.mouse {
		m.frame.MouseMode = tea.MouseModeCellMotion
	}
	if m.hands.dialog != nil {
		m.frame.Cursor = m.hands.cursor
	}
	m.watch()
}

// stage puts into the scene what follows from the rest of the model.
func (m *model) stage() {
	m.slow = m.slowly != nil && m.slowly()
	m.scene.scope = m.keyScope()
	m.command = typedText{scope: m.line.scope, text: m.line.input.Value(), before: beforeCursor(&m.line.input), offers: m.line.offer.others(m.line.input.Value())}
	m.filter = typedText{text: m.typed(), before: beforeCursor(&m.input), offers: m.offer.others(m.input.Value())}
	if m.typing {
		m.filter.scope = keys.InInput
	}
	_, choosing := m.hands.dialog.(*menu)
	m.dialog, m.deciding = m.hands.dialog != nil, m.hands.dialog != nil && !choosing
	if m.view == viewEvents {
		m.listEvents()
		m.told.SetHeight(eventRows(m.lay.body()))
	}
}

// picture draws the scene, and the dialog over it.
func (m *model) picture() frame {
	f := drawScene(&m.scene)
	if m.hands.dialog != nil && len(f.lines) > 0 {
		_, alone := m.hands.dialog.(*box)
		f.lines, m.hands.cursor = overlay(&m.scene, f.lines, alone, func(w, h int) picture { return m.hands.dialog.picture(m, w, h) })
	}
	return f
}

// beforeCursor is what stands before the cursor of a line, fit for drawing.
func beforeCursor(in *textinput.Model) string {
	return paint.Clean(string([]rune(in.Value())[:in.Position()]))
}

// typedAt is where the next character goes; false: nothing is typed.
func (m *model) typedAt() (x, y int, typed bool) {
	switch {
	case m.command.scope != 0:
		return 2 + format.Width(m.command.before), m.lay.h - 1, true
	case m.filter.scope == 0:
		return 0, 0, false
	case m.lay.small:
		return 3 + format.Width(m.filter.before), m.lay.h - 1, true
	}
	return 3 + format.Width(m.filter.before), 1, true
}

// heldTitle is the title that the terminal's window has.
type heldTitle struct {
	text  string
	since time.Time
}

// titleHeld is how long a title stands at least: the row of tabs in which it is drawn must
// not flicker, and some terminals tell each change aloud.
const titleHeld = 5 * time.Second

// at is the title at now: the one that is wanted, or the last for as long as that is held.
func (t *heldTitle) at(now time.Time, wanted string) string {
	if t.text != wanted && now.Sub(t.since).Abs() >= titleHeld {
		t.text, t.since = wanted, now
	}
	return t.text
}
