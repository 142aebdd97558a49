package sources

import (
	"maps"
	"time"
)

// Expect announces that we are about to end an ownership ourselves. If that owner is seen gone
// within that time and nobody tells why, e.Cause is why; a lease that ran out has run out all
// the same. e.How is how that is known:
//
//   - Unknown: we do it ourselves, which makes it [Ours].
//   - Inferred: a service is asked to do it and has not answered. An end that is seen before the
//     answer may still be the owner's own.
//   - Told: the service answered that it has done it: an expected end that was not seen yet is
//     [Ours].
//
// The first end of that owner uses the expectation up, whatever its cause. Within 0 takes the
// expectation back.
func (h *Hub) Expect(e Ending, within time.Duration) {
	h.enter(nil, &Input{Kind: InputExpected, Expected: &Expected{Ending: e, Within: within}})
}

func (m *model) expect(e *Expected) {
	for ref := range m.expected {
		if len(m.expectedEnds(ref)) == 0 {
			delete(m.expected, ref)
		}
	}
	switch _, stands := m.expected[e.Ref][e.Owner]; {
	case e.Within <= 0:
		delete(m.expected[e.Ref], e.Owner)
		return
	case e.How == Told && !stands: // its end was seen already
		return
	}
	x := expectation{Ending: e.Ending, until: m.at.Mono + e.Within}
	if x.How != Inferred {
		x.How = Ours
	}
	m.expectEnd(x)
}

func (m *model) expectEnd(x expectation) {
	if m.expected[x.Ref] == nil {
		m.expected[x.Ref] = map[string]expectation{}
	}
	m.expected[x.Ref][x.Owner] = x
}

// expectation is an end that we bring about, and how long that counts.
type expectation struct {
	Ending
	until time.Duration // on the monotonic clock
}

// expectedEnds are the ends of owners of ref that we bring about, by owner.
func (m *model) expectedEnds(ref Ref) map[string]expectation {
	maps.DeleteFunc(m.expected[ref], func(_ string, x expectation) bool { return m.at.Mono > x.until })
	return m.expected[ref]
}

// useExpectations drops the expectations of owners that are gone: what the same owner takes
// again is not ended by us.
func (m *model) useExpectations(events []Event) {
	for i := range events {
		if e := &events[i]; e.Kind.EndsOwner() {
			delete(m.expected[e.Ref], e.Previous.ID)
		}
	}
}
