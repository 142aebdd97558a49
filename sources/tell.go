package sources

import "time"

// Tell adds what no source tells to the events: what a person did through this program
// (EventAction). At is filled in where it is zero. Rows and terms are not touched: what
// came of an action is for the sources to see.
func (h *Hub) Tell(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	if e.At.IsZero() {
		e.At = now
	}
	h.commitLocked(e)
	h.changedLocked(now, urgent)
}
