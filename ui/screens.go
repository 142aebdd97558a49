package ui

import (
	"coordtop/internal/format"

	"coordtop/ui/paint"
)

// screen is one of the screens that have a tab.
type screen struct {
	view view
	do   intent
	name string
}

// screens are those that exist, in the order of their keys. The numbers between are kept
// for screens to come, so that a key never changes its meaning.
func screens() []screen {
	return []screen{{viewList, doLocks, "Locks"}, {viewEvents, doEvents, "Events"}, {viewSources, doSources, "Sources"}}
}

// scope is where the keys of a view work.
func (v view) scope() scope {
	return [...]scope{viewList: inList, viewDetail: inDetail, viewHelp: inHelp, viewEvents: inEvents, viewSources: inSources, viewCaps: inCaps}[v]
}

// switchTo goes to a screen, from which there is no way back but the screens.
func (m *model) switchTo(v view) {
	m.view, m.scroll, m.trail = v, 0, m.trail[:0]
}

// open shows a view from which leave comes back to this one.
func (m *model) open(v view) {
	m.trail = append(m.trail, m.view)
	m.view, m.scroll = v, 0
}

// leave goes back to where the view was opened; a screen goes back to the list.
func (m *model) leave() {
	m.scroll, m.view = 0, viewList
	if n := len(m.trail); n > 0 {
		m.view, m.trail = m.trail[n-1], m.trail[:n-1]
	}
}

// tabs writes the screens, the one that is shown underlined; a detail belongs to the
// screen from which it was opened. Where the room is short only that one is named.
func (m *model) tabs(l *paint.Line, short bool) {
	shown := m.view
	if len(m.trail) > 0 {
		shown = m.trail[0]
	}
	for _, s := range screens() {
		if s.view == shown {
			l.Skip(1).Put(m.th.Dim, m.keyOf(s.do)).Skip(1).Put(m.th.Tab, s.name).Skip(1)
		} else if !short {
			l.Skip(1).Put(m.th.Dim, m.keyOf(s.do)+" "+s.name).Skip(1)
		}
	}
}

// keyOf is the first key of an intent.
func (m *model) keyOf(do intent) string {
	for _, b := range m.table {
		if b.intent == do {
			return b.keys[0]
		}
	}
	return ""
}

// keyIn is the first key of an intent in a scope.
func (m *model) keyIn(s scope, do intent) string {
	for _, b := range m.table {
		if b.intent == do && b.scope&s != 0 {
			return b.keys[0]
		}
	}
	return ""
}

// tabsWidth is how many cells the tabs take.
func tabsWidth() int {
	w := 0
	for _, s := range screens() {
		w += 4 + format.Width(s.name)
	}
	return w
}
