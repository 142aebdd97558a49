package sources

import "time"

// Expect says that we are about to end an ownership ourselves. If the owner is seen gone
// within that time and nobody tells why, e.Cause is why, and that is known as [Ours]; a lease
// that ran out has run out all the same.
func (h *Hub) Expect(e Ending, within time.Duration) {
	h.enter(nil, &Input{Kind: InputExpected, Expected: &Expected{Ending: e, Within: within}})
}

func (m *model) expect(e *Expected) {
	for ref, x := range m.expected {
		if m.at.Mono > x.until {
			delete(m.expected, ref)
		}
	}
	x := expectation{Ending: e.Ending, until: m.at.Mono + e.Within}
	x.How = Ours
	m.expected[e.Ref] = x
}

// expectation is an end that we bring about, and how long that counts.
type expectation struct {
	Ending
	until time.Duration // on the monotonic clock
}

// expectedEnd is the end of an owner of ref that we bring about; nil: none.
func (m *model) expectedEnd(ref Ref) *Ending {
	x, ok := m.expected[ref]
	if !ok || m.at.Mono > x.until {
		return nil
	}
	return &x.Ending
}

// Note adds what no source tells to the events: what a person did through this program
// (EventAction). At is filled in where it is zero. Rows and terms are not touched: what
// came of an action is for the sources to see.
func (h *Hub) Note(e Event) {
	e.At, e.After = wallTime(e.At), wallTime(e.After)
	h.enter(nil, &Input{Kind: InputNote, Note: &e})
}

func (m *model) note(e Event) {
	if e.At.IsZero() {
		e.At = m.at.Wall
	}
	m.commit(e)
}
