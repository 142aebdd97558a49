package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
)

// Init starts nothing: what comes by itself comes from the pump.
func (m *model) Init() tea.Cmd { return nil }

// Update takes a message and draws the next frame if it changed anything.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd, changed := m.handle(msg)
	if changed {
		m.draw()
	}
	return m, cmd
}

// View returns the frame of the last Update: Bubble Tea asks after every message.
func (m *model) View() tea.View { return m.frame }

func (m *model) handle(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	switch msg := msg.(type) {
	case wakeMsg:
		m.take()
		return nil, m.paused.IsZero()
	case secondMsg:
		m.second()
		return nil, true
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		m.arrange()
		return nil, true
	case tea.KeyPressMsg:
		keys, cmd := m.split.press(msg)
		return tea.Batch(cmd, m.press(keys)), true
	case splitTimeout:
		return m.press(m.split.timeout(msg)), true
	case tea.PasteMsg:
		m.paste(msg.Content)
		return nil, true
	case tea.ResumeMsg:
		m.second()
		return nil, true
	}
	return nil, false
}

// second lets time pass: ages, countdowns and what depends on them.
func (m *model) second() {
	m.clock = m.feed.Now()
	if m.message != "" && !m.clock.Before(m.until) {
		m.message = ""
	}
	if !m.paused.IsZero() {
		return
	}
	m.now = m.clock
	m.take()
	if m.idx.sweep(m.now, m.tbl.Visible()) {
		m.tbl.SetKeys(m.idx.order)
	}
}

// press acts on keys.
func (m *model) press(keys []tea.KeyPressMsg) tea.Cmd {
	var cmds []tea.Cmd
	for _, k := range keys {
		if do, ok := m.keys[m.scope()][keyName(k)]; ok {
			cmds = append(cmds, m.do(do))
		} else if m.typing {
			m.edit(k)
		}
	}
	return tea.Batch(cmds...)
}

func (m *model) scope() scope {
	switch {
	case m.typing:
		return inInput
	case m.view == viewDetail:
		return inDetail
	case m.view == viewHelp:
		return inHelp
	}
	return inList
}

// edit changes the filter as it is typed.
func (m *model) edit(k tea.KeyPressMsg) {
	switch k.String() {
	case "backspace":
		if r := []rune(m.input); len(r) > 0 {
			m.setFilter(string(r[:len(r)-1]))
		}
	case "ctrl+u":
		m.setFilter("")
	case "ctrl+w":
		m.setFilter(m.input[:strings.LastIndex(strings.TrimRight(m.input, " "), " ")+1])
	default:
		m.setFilter(m.input + clean(k.Text))
	}
}

// maxInput bounds what is typed or pasted, in bytes.
const maxInput = 200

// paste puts pasted text into the filter while one is typed. Nowhere else does a
// paste do anything.
func (m *model) paste(text string) {
	if m.typing {
		text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
		m.setFilter(m.input + clean(text[:min(len(text), maxInput)]))
	}
}

func (m *model) setFilter(text string) {
	if len(text) > maxInput {
		return
	}
	m.input = text
	m.idx.filter = newFilter(text)
	m.relist()
}

// relist makes the list anew; the cursor stays on its row if that is still there.
func (m *model) relist() {
	m.idx.rebuild()
	m.tbl.SetKeys(m.idx.order)
}

// settled notes which row the cursor has come to.
func (m *model) settled() {
	m.picked = sources.Ref{}
	if row, _ := m.selected(); row != nil {
		m.picked = row.Ref
	}
}
