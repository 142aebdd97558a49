package ui

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

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
		f.lines = m.overlay(f.lines)
	}
	return f
}

// beforeCursor is what stands before the cursor of a line, fit for drawing.
func beforeCursor(in *textinput.Model) string {
	return paint.Clean(string([]rune(in.Value())[:in.Position()]))
}

// windowTitle says which environment this is and how many problems there are, for whoever
// looks at another window.
func windowTitle(sc *scene) string {
	if sc.title == "coordtop" {
		return "coordtop: " + problemsText(sc, fullWidth)
	}
	return "coordtop " + sc.title + ": " + problemsText(sc, fullWidth)
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

// drawScene returns exactly h lines of w cells; none where the size is not known yet.
func drawScene(sc *scene) frame {
	l, f := sc.lay, frame{scroll: sc.scroll, helpAt: sc.helpAt}
	if l.w == 0 || l.h == 0 {
		return f
	}
	f.lines = make([]string, 0, l.h)
	f.lines = append(f.lines, drawHeader(sc, l.w, l.header)...)
	switch sc.view {
	case viewHelp:
		f.draw(helpScreen(sc, l.w, l.body()))
	case viewEvents:
		f.lines = append(f.lines, eventScreen(sc, l.w, l.body())...)
	case viewSources:
		f.scrolled(sc, sourceScreen(sc, l.w))
	case viewCaps:
		f.scrolled(sc, capsScreen(sc, l.w))
	case viewDetail:
		f.scrolled(sc, detailScreen(sc, l.w))
	default:
		f.lines = append(f.lines, drawBoard(sc, l)...)
	}
	f.lines = append(f.lines, drawFooter(sc, l.w))
	f.lines = sc.th.Box(f.lines, l.w, l.h)
	return f
}

// draw adds what another frame has.
func (f *frame) draw(part frame) {
	f.lines = append(f.lines, part.lines...)
	f.scroll, f.helpAt = part.scroll, part.helpAt
}

// scrolled adds the lines of a screen at the scroll position.
func (f *frame) scrolled(sc *scene, lines []string) {
	h := sc.lay.body()
	f.scroll = max(min(f.scroll, len(lines)-h), 0)
	f.lines = append(f.lines, sc.th.Box(lines[min(f.scroll, len(lines)):], sc.lay.w, h)...)
}

// drawBoard is the list and what stands around it.
func drawBoard(sc *scene, l layout) []string {
	lines := troubleLines(sc, l.w, l.trouble)
	if l.rules > 0 {
		lines = append(lines, sc.th.Line(l.w).Rule().Done())
	}
	lines = append(lines, drawList(sc, l.w, l.list)...)
	if l.rules > 0 {
		rule := sc.th.Line(l.w)
		if l.split > 0 {
			rule.Put(sc.th.Dim, strings.Repeat(sc.th.Glyphs.Rule, l.split)).Put(sc.th.Dim, sc.th.Tee)
		}
		lines = append(lines, rule.Rule().Done())
	}
	return append(lines, drawLower(sc, l)...)
}

// drawLower is what stands below the list: one pane, or two.
func drawLower(sc *scene, l layout) []string {
	switch {
	case l.lower == 0:
		return nil
	case l.split > 0:
		left, right := detailPane(sc, l.split, l.lower), eventPane(sc, l.w-l.split-2, l.lower)
		lines := make([]string, l.lower)
		for i := range lines {
			lines[i] = left[i] + string(sc.th.Dim) + sc.th.Upright + paint.Reset + " " + right[i]
		}
		return lines
	case l.stacked > 0:
		lines := detailPane(sc, l.w, l.stacked-1)
		lines = append(lines, sc.th.Line(l.w).Done())
		return append(lines, paint.Indented(eventPane(sc, l.w-1, l.lower-l.stacked))...)
	case sc.pane == paneEvents:
		return paint.Indented(eventPane(sc, l.w-1, l.lower))
	}
	return detailPane(sc, l.w, l.lower)
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
