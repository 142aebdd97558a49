package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/ui/paint"
)

// draw makes the frame that View returns until the next one. It is the end of every
// Update that changed something.
func (m *model) draw() {
	m.settled()
	if m.view == viewEvents {
		m.listEvents()
	}
	m.frame = tea.NewView(strings.Join(m.screen(), "\n"))
	m.frame.AltScreen = true
	m.frame.WindowTitle = m.tabTitle.at(m.clock, m.windowTitle())
	if m.typing && m.lay.h > 0 {
		x, y := m.inputAt()
		m.frame.Cursor = tea.NewCursor(min(x, max(m.w-1, 0)), y)
	}
	if m.line.scope != 0 && m.lay.h > 0 {
		x, y := m.lineAt()
		m.frame.Cursor = tea.NewCursor(min(x, max(m.w-1, 0)), y)
	}
	if m.mouse {
		m.frame.MouseMode = tea.MouseModeCellMotion
	}
	if m.hands.dialog != nil {
		m.frame.Cursor = m.hands.cursor
	}
	m.watch()
}

// windowTitle says which environment this is and how many problems there are, for whoever
// looks at another window.
func (m *model) windowTitle() string {
	if m.title == "coordtop" {
		return "coordtop: " + m.problems(fullWidth)
	}
	return "coordtop " + m.title + ": " + m.problems(fullWidth)
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

// screen returns exactly h lines of w cells; none where the size is not known yet.
func (m *model) screen() []string {
	l := m.lay
	if l.w == 0 || l.h == 0 {
		return nil
	}
	lines := make([]string, 0, l.h)
	lines = append(lines, m.header(l.w, l.header)...)
	switch m.view {
	case viewHelp:
		lines = append(lines, m.helpScreen(l.w, l.body())...)
	case viewEvents:
		lines = append(lines, m.eventScreen(l.w, l.body())...)
	case viewSources:
		lines = append(lines, m.scrolled(m.sourceScreen(l.w), l.w, l.body())...)
	case viewCaps:
		lines = append(lines, m.scrolled(m.capsScreen(l.w), l.w, l.body())...)
	case viewDetail:
		lines = append(lines, m.scrolled(m.fullDetail(l.w), l.w, l.body())...)
	default:
		lines = append(lines, m.board(l)...)
	}
	lines = append(lines, m.footer(l.w))
	lines = m.th.Box(lines, l.w, l.h)
	if m.hands.dialog != nil {
		return m.overlay(lines)
	}
	return lines
}

// board is the list and what stands around it.
func (m *model) board(l layout) []string {
	lines := m.troubleLines(l.w, l.trouble)
	if l.rules > 0 {
		lines = append(lines, m.th.Line(l.w).Rule().Done())
	}
	lines = append(lines, m.list(l.w, l.list)...)
	if l.rules > 0 {
		rule := m.th.Line(l.w)
		if l.split > 0 {
			rule.Put(m.th.Dim, strings.Repeat(m.th.Glyphs.Rule, l.split)).Put(m.th.Dim, m.th.Tee)
		}
		lines = append(lines, rule.Rule().Done())
	}
	return append(lines, m.lower(l)...)
}

// lower is what stands below the list: one pane, or two.
func (m *model) lower(l layout) []string {
	switch {
	case l.lower == 0:
		return nil
	case l.split > 0:
		left, right := m.detail(l.split, l.lower), m.eventPane(l.w-l.split-2, l.lower)
		lines := make([]string, l.lower)
		for i := range lines {
			lines[i] = left[i] + string(m.th.Dim) + m.th.Upright + paint.Reset + " " + right[i]
		}
		return lines
	case l.stacked > 0:
		lines := m.detail(l.w, l.stacked-1)
		lines = append(lines, m.th.Line(l.w).Done())
		return append(lines, paint.Indented(m.eventPane(l.w-1, l.lower-l.stacked))...)
	case m.pane == paneEvents:
		return paint.Indented(m.eventPane(l.w-1, l.lower))
	}
	return m.detail(l.w, l.lower)
}

// scrolled returns the h lines at the scroll position, which it brings back to the
// last page first.
func (m *model) scrolled(lines []string, w, h int) []string {
	m.scroll = max(min(m.scroll, len(lines)-h), 0)
	return m.th.Box(lines[min(m.scroll, len(lines)):], w, h)
}
