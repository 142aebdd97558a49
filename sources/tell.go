package sources

import "time"

// Expect says that we are about to end an ownership ourselves. If the owner is seen gone
// within that time and nobody tells why, e.Cause is why, and that is known as [Ours]; a lease
// that ran out has run out all the same.
func (h *Hub) Expect(e Ending, within time.Duration) {
	h.take(nil, &Input{Kind: InputExpected, Expected: &Expected{Ending: e, Within: within}})
}

func (h *Hub) expectLocked(e *Expected) {
	for ref, x := range h.expected {
		if h.at.Mono > x.until {
			delete(h.expected, ref)
		}
	}
	x := expectation{Ending: e.Ending, until: h.at.Mono + e.Within}
	x.How = Ours
	h.expected[e.Ref] = x
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
	e.At, e.After = wallTime(e.At), wallTime(e.After)
	h.take(nil, &Input{Kind: InputNote, Note: &e})
}

func (h *Hub) noteLocked(e Event) {
	if e.At.IsZero() {
		e.At = h.at.Wall
	}
	h.commitLocked(e)
}
