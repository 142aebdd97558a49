package ui

import (
	"time"

	"coordtop/ui/keys"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
)

// order orders the list; the same order again is reversed.
func (m *model) order(s rows.Order) {
	m.Rows.Reverse = m.Rows.Order == s && !m.Rows.Reverse
	m.Rows.Order = s
	m.switchTo(screen.List)
	m.relist()
}

// holdTime is how long rows keep their places after the cursor was last used: nobody
// should act on a row that moved in under the eye.
const holdTime = 5 * time.Second

// used notes that the person works with the rows as they stand.
func (m *model) used(i keys.Intent) {
	switch i {
	case keys.Up, keys.Down, keys.HalfUp, keys.HalfDown, keys.PageUp, keys.PageDown, keys.Top, keys.Bottom, keys.Mark, keys.Next, keys.Previous, keys.Back:
		if m.Shown == screen.List && m.List.Moved() {
			m.Rows.Held, m.heldUntil = true, m.Clock.Add(holdTime)
		}
	}
}

// release lets the rows move again when the cursor was not used for a while.
func (m *model) release() {
	if m.Rows.Held && !m.Clock.Before(m.heldUntil) {
		m.Rows.Held = false
	}
}
