package ui

import (
	"coordtop/internal/format"

	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// screen is one of the screens that have a tab.
type screen struct {
	view view
	do   keys.Intent
	name string
}

// screens are those that exist, in the order of their keys. The numbers between are kept
// for screens to come, so that a key never changes its meaning.
func screens() []screen {
	return []screen{{viewList, keys.Locks, "Locks"}, {viewEvents, keys.Events, "Events"}, {viewSources, keys.Sources, "Sources"}}
}

// scope is where the keys of a view work.
func (v view) scope() keys.Scope {
	return [...]keys.Scope{viewList: keys.InList, viewDetail: keys.InDetail, viewHelp: keys.InHelp, viewEvents: keys.InEvents, viewSources: keys.InSources, viewCaps: keys.InCaps}[v]
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

// drawTabs writes the screens, the one that is shown underlined; a detail belongs to the
// screen from which it was opened. Where the room is short only that one is named.
func drawTabs(sc *scene, l *paint.Line, short bool) {
	shown := sc.view
	if len(sc.trail) > 0 {
		shown = sc.trail[0]
	}
	for _, s := range screens() {
		if s.view == shown {
			l.Skip(1).Put(sc.th.Dim, sc.table.KeyOf(s.do)).Skip(1).Put(sc.th.Tab, s.name).Skip(1)
		} else if !short {
			l.Skip(1).Put(sc.th.Dim, sc.table.KeyOf(s.do)+" "+s.name).Skip(1)
		}
	}
}

// tabsWidth is how many cells the tabs take.
func tabsWidth() int {
	w := 0
	for _, s := range screens() {
		w += 4 + format.Width(s.name)
	}
	return w
}
