package ui

import (
	"cmp"
	"slices"

	"coordtop/internal/format"
	"coordtop/ui/keys"
)

// footer is the last line: a message while there is one, else the keys that matter
// here, as many as fit.
func (m *model) footer(w int) string {
	l := m.th.Line(w).Skip(1)
	switch {
	case m.line.scope != 0:
		return m.typedFooter(w)
	case m.menu != 0:
		return m.menuFooter(w)
	case m.message != "" && !m.deciding():
		return l.Put(m.th.Strong, m.message).Done()
	case m.lay.small && m.typing:
		l.Put(m.th.Strong, "/").Skip(1).Put("", m.typed()).Skip(2)
		m.advise(l)
		return l.Done()
	case m.lay.small && m.hands.dialog == nil:
		return l.Put(m.th.Dim, "small screen: list only, 80x24 shows all").Done()
	}
	scope := m.scope()
	hints := make([]keys.Binding, 0, 32)
	for i := range m.table {
		if a := &m.table[i]; a.Hint != "" && a.Scope&scope != 0 {
			hints = append(hints, *a)
		}
	}
	if m.typing || m.scope() == keys.InList && (m.idx.Problems || !m.idx.Filter.Empty()) {
		hints = append(hints, keys.Binding{Intent: keys.Clear, Keys: []string{m.table.KeyIn(scope, keys.Clear)}, Hint: "clear"})
	}
	slices.SortStableFunc(hints, func(a, b keys.Binding) int { return cmp.Compare(quits(a), quits(b)) })
	for _, a := range hints {
		if a.Intent == keys.Pane && (m.lay.split > 0 || m.lay.stacked > 0) {
			continue
		}
		if l.X+format.Width(a.Keys[0])+1+len(a.Hint) >= w {
			break
		}
		l.Put(m.th.Strong, a.Keys[0]).Skip(1).Put(m.th.Dim, a.Hint).Skip(2)
	}
	return l.Done()
}

// deciding says whether a dialog is open whose keys matter more than any message. The menu
// speaks by messages itself.
func (m *model) deciding() bool {
	_, choosing := m.hands.dialog.(*menu)
	return m.hands.dialog != nil && !choosing
}

// quits puts the way out first among the hints: it must be seen on any screen.
func quits(a keys.Binding) int {
	switch a.Intent {
	case keys.Help:
		return 0
	case keys.Quit, keys.Back, keys.Clear, keys.Cancel:
		return 1
	}
	return 2
}

// menuFooter draws the menu that is open: its next key chooses, any other closes it.
func (m *model) menuFooter(w int) string {
	l := m.th.Line(w).Skip(1).Put(m.th.Strong, menuTitle(m.menu)).Skip(2)
	for _, b := range m.table {
		if b.Scope == m.menu {
			l.Put(m.th.Strong, b.Keys[0]).Skip(1).Put(m.th.Dim, b.Hint).Skip(2)
		}
	}
	return l.Done()
}

func menuTitle(s keys.Scope) string {
	return map[keys.Scope]string{keys.InSort: "order by", keys.InCopy: "copy", keys.InExport: "export as", keys.InKeep: "quit and leave this screen as text?"}[s]
}
