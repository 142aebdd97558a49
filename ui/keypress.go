package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// press acts on keys.
func (m *model) press(pressed []tea.KeyPressMsg) tea.Cmd {
	var cmds []tea.Cmd
	m.acting.Press(func() {
		for _, k := range pressed {
			s := m.keyContext()
			m.Menu = 0 // a menu is for one key
			if _, replay := m.keys[keys.InReplay][keys.Name(k)]; replay && s&keys.InScreens != 0 && m.feeds.replaying() {
				s = keys.InReplay
			}
			if do, ok := m.keys[s][keys.Name(k)]; ok {
				cmds = append(cmds, m.do(do))
				m.rowList.holdOrder(do)
			} else if s&keys.InScreens != 0 {
				m.Say(m.noKey(keys.Name(k)))
			} else {
				cmds = append(cmds, m.edit(k))
			}
		}
	})
	return tea.Batch(cmds...)
}

// noKey says of a key that does nothing here where it does something.
func (m *model) noKey(key string) string {
	if m.Keys.Bound(keys.InReplay, key) {
		return paint.Clean(key) + " works in the past; " + m.Keys.KeyOf(keys.At) + " goes there"
	}
	return "no such key here: " + paint.Clean(key) + "; " + m.Keys.KeyOf(keys.Help) + " lists them"
}

func (m *model) keyContext() keys.Context {
	switch {
	case m.acting.Open():
		return m.acting.KeyContext()
	case m.Menu != 0:
		return m.Menu
	case m.line.context != 0:
		return m.line.context
	case m.rowList.filtering.typing:
		return keys.InInput
	}
	return m.Shown.KeyContext()
}

// edit changes the filter as it is typed or pasted. Nowhere else does a paste do
// anything.
func (m *model) edit(msg tea.Msg) tea.Cmd {
	if m.acting.Open() {
		return m.acting.Edit(msg)
	}
	if !m.rowList.filtering.typing && m.line.context == 0 && m.Shown != screen.Help {
		return nil
	}
	if paste, ok := msg.(tea.PasteMsg); ok {
		line, _, _ := strings.Cut(strings.TrimSpace(paste.Content), "\n")
		msg = tea.PasteMsg{Content: paint.Clean(line)}
	}
	switch {
	case m.Shown == screen.Help && m.line.context != keys.InCommand:
		return m.typeHelp(msg)
	case m.line.context != 0:
		m.line.edit(msg)
		return nil
	}
	m.rowList.filtering.input.Update(msg)
	m.rowList.refilter()
	return nil
}
