package ui

import (
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// switchTo goes to a screen, from which there is no way back but the screens.
func (m *model) switchTo(v view) {
	m.view, m.scroll, m.trail = v, 0, m.trail[:0]
}

// open shows a view from which leave comes back to this one.
func (m *model) open(v view) {
	m.trail = append(m.trail, m.view)
	m.view, m.scroll = v, 0
}

// show goes to the view of an intent.
func (m *model) show(i keys.Intent) {
	switch v, tab, _ := viewOf(i); {
	case tab:
		m.switchTo(v)
	case m.view != v:
		m.open(v)
	}
}

// leave goes back to where the view was opened; a screen goes back to the list.
func (m *model) leave() {
	m.scroll, m.view = 0, viewList
	if n := len(m.trail); n > 0 {
		m.view, m.trail = m.trail[n-1], m.trail[:n-1]
	}
}

// listEvents brings the list of the Events screen up to date, newest first. The cursor
// stays on its event.
func (m *model) listEvents() {
	keys := make([]uint64, 0, len(m.events.List))
	for e := range m.events.Newest {
		if passesEvent(&m.scene, e) {
			keys = append(keys, e.Seq)
		}
	}
	m.told.SetKeys(keys)
}

// pickEvent moves the cursor of the list to the row of the event under the cursor, and
// says why where that cannot be.
func (m *model) pickEvent() bool {
	seq, ok := m.told.Selected()
	e := m.events.Find(seq)
	if !ok || e == nil {
		return false
	}
	if e.Ref.Name == "" {
		m.open(viewSources)
		return false
	}
	h, ok := m.find(e.Ref)
	switch {
	case !ok:
		m.say(paint.Clean(e.Ref.Name) + " does not exist any more")
		return false
	case !m.idx.InList(h):
		m.say("the list does not show " + paint.Clean(e.Ref.Name) + ": " + m.table.KeyIn(keys.InList, keys.Clear) + " clears the filter")
		return false
	}
	m.told.Move(0) // the event is chosen now: the cursor stays on it
	return m.tbl.Select(h)
}

// moveStrips lets the strips reach the time, and says whether that moves them.
func (m *model) moveStrips() bool {
	before := stripWindow(&m.scene)
	m.still = false
	return stripWindow(&m.scene) != before
}
