package ui

// menuFooter draws the menu that is open: its next key chooses, any other closes it.
func (m *model) menuFooter(w int) string {
	l := m.th.line(w).skip(1).put(m.th.strong, menuTitle(m.menu)).skip(2)
	for _, b := range m.table {
		if b.scope == m.menu {
			l.put(m.th.strong, b.keys[0]).skip(1).put(m.th.dim, b.hint).skip(2)
		}
	}
	return l.done()
}

func menuTitle(s scope) string {
	return map[scope]string{inSort: "order by", inCopy: "copy", inExport: "export as"}[s]
}
