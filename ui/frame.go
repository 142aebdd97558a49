package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/ground/format"
	"coordtop/ui/keys"
	"coordtop/ui/screen"
)

// draw makes the frame that View returns until the next one. It is the end of every
// Update that changed something.
func (m *model) draw() {
	m.rowList.notePicked()
	m.stage()
	f := m.picture()
	m.Scroll, m.HelpAt = f.Scroll, f.HelpAt
	m.drawn.frame = tea.NewView(strings.Join(f.Lines, "\n"))
	m.drawn.frame.AltScreen, m.drawn.frame.ReportFocus = true, m.alerts.On()
	m.drawn.frame.WindowTitle = m.drawn.tabTitle.at(m.Clock, screen.WindowTitle(&m.Scene))
	if m.Layout.Height > 0 && !m.acting.Open() {
		if x, y, typed := m.typedAt(); typed {
			m.drawn.frame.Cursor = tea.NewCursor(min(x, max(m.w-1, 0)), y)
		}
	}
	if m.mouse {
		m.drawn.frame.MouseMode = tea.MouseModeCellMotion
	}
	if m.acting.Open() {
		m.drawn.frame.Cursor = m.acting.Cursor
	}
	m.focus.notify()
}

// stage puts into the scene what follows from the rest of the model.
func (m *model) stage() {
	m.Slow = m.options.slow != nil && m.options.slow()
	if m.options.Recording != nil {
		m.Recording, m.Unrecorded = m.options.Recording()
	}
	if m.options.Seen != nil {
		m.Seen, m.SeenOld = m.options.Seen()
	}
	m.Scene.KeyContext = m.keyContext()
	m.Command = screen.Typed{Context: m.line.context, Text: m.line.input.Value(), Before: m.line.input.Before(), Offers: m.line.offer.others(m.line.input.Value())}
	m.Filter = screen.Typed{Text: m.rowList.filtering.typed(), Before: m.rowList.filtering.input.Before(), Offers: m.rowList.filtering.offer.others(m.rowList.filtering.input.Value())}
	if m.rowList.filtering.typing {
		m.Filter.Context = keys.InInput
	}
	m.DialogOpen, m.Deciding = m.acting.Open(), m.acting.Deciding()
	if m.Shown == screen.Pulse {
		m.pulse.show()
	}
	if m.Shown == screen.Events {
		m.listEvents()
		m.EventList.SetHeight(screen.EventRows(m.Layout.Body()))
	}
	if m.Shown == screen.Timeline {
		m.timeline.listLanes()
	}
	if m.Shown == screen.Owners {
		m.Owners.List.SetHeight(screen.PartyRows(&m.Scene))
	}
	if m.Shown == screen.Trouble {
		m.Trouble.List.SetHeight(screen.TroubleRows(&m.Scene))
	}
	if m.Shown == screen.Audit {
		m.audit.show()
		m.AuditList.SetHeight(screen.AuditRows(m.Layout.Body()))
	}
}

// picture draws the scene, and the dialog over it.
func (m *model) picture() screen.Frame {
	f := screen.Draw(&m.Scene)
	f.Lines = m.acting.Draw(f.Lines)
	return f
}

// typedAt returns the place of the next typed character; false: nothing is typed.
func (m *model) typedAt() (x, y int, typed bool) {
	switch {
	case m.Command.Context != 0:
		return 2 + format.Width(m.Command.Before), m.Layout.Height - 1, true
	case m.Filter.Context == 0:
		return 0, 0, false
	case m.Layout.Small:
		return 3 + format.Width(m.Filter.Before), m.Layout.Height - 1, true
	}
	return 3 + format.Width(m.Filter.Before), m.Layout.Header - 1, true
}

// heldTitle is the title that the terminal's window has.
type heldTitle struct {
	text  string
	since time.Time
}

// titleHeld is the shortest time for which a title stands: the row of tabs in which it is drawn must
// not flicker, and some terminals tell each change aloud.
const titleHeld = 5 * time.Second

// at is the title at now: the one that is wanted, or the last for as long as that is held.
func (t *heldTitle) at(now time.Time, wanted string) string {
	if t.text != wanted && now.Sub(t.since).Abs() >= titleHeld {
		t.text, t.since = wanted, now
	}
	return t.text
}
