package sources

import "time"

// Expect says that we are about to end an ownership ourselves. If the owner is seen gone
// within that time and nobody tells why, e.Cause is why, and that is known as [Ours]; a lease
// that ran out has run out all the same.
func (h *Hub) Expect(e Ending, within time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.nowLocked()
	for ref, x := range h.expected {
		if now.Mono > x.until {
			delete(h.expected, ref)
		}
	}
	e.How = Ours
	h.expected[e.Ref] = expectation{Ending: e, until: now.Mono + within}
}

// expectation is an end that we bring about, and how long that counts.
type expectation struct {
	Ending
	until time.Duration // on the monotonic clock
}

// expectedLocked is the end of an owner of ref that we bring about; nil: none.
func (h *Hub) expectedLocked(ref Ref) *Ending {
	x, ok := h.expected[ref]
	if !ok || h.at.Mono > x.until {
		return nil
	}
	return &x.Ending
}

// Tell adds what no source tells to the events: what a person did through this program
// (EventAction). At is filled in where it is zero. Rows and terms are not touched: what
// came of an action is for the sources to see.
func (h *Hub) Tell(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.nowLocked()
	e.At, e.After = wallTime(e.At), wallTime(e.After)
	if e.At.IsZero() {
		e.At = now.Wall
	}
	h.commitLocked(e)
	h.changedLocked(now, urgent)
}
