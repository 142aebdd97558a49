package ui

import (
	"time"

	"coordtop/sources"
)

// Feed is where the board gets everything from: live sources, or a recording that is
// played. The program's loop and the pump call it, State and Now both of them; no method
// may block.
//
// A Feed may also have the methods of sources.Focuser, which is told which rows are on
// screen whenever that changes, of sources.Refresher, which is called when the
// person asks for a new look, and of Publisher.
type Feed interface {
	// State returns the latest state, never nil. It is not changed afterwards.
	State() *sources.State
	// Now is the time that ages are counted to, in the zone in which times are shown.
	Now() time.Time
	// Wake receives after there is a new state or a new event. Wake-ups are merged.
	Wake() <-chan struct{}
	// Events returns at most max events (max <= 0: all) that were not returned before, oldest
	// first, and how many were dropped before they could be.
	Events(max int) (events []sources.Event, missed uint64)
	// Row returns the row of ref in s, a State of this feed; nil: there is none in it.
	Row(s *sources.State, ref sources.Ref) *sources.Row
}

// Publisher is a Feed that may hold something back for a second. Publish lets its State have it: once a second ages
// and what is left of leases are drawn, and would be those of before the last renewals.
type Publisher interface{ Publish() }
