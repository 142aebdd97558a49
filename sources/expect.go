package sources

import (
	"slices"
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
	stands := find(m.expectedEnds(e.Ref), func(x *Expectation) bool { return x.Owner == e.Owner }) != nil
	m.expected = slices.DeleteFunc(m.expected, func(x Expectation) bool { return m.at.Mono > x.Until })
	if e.Within > 0 && e.How == Told && !stands { // its end was seen already
		return
	}
	m.dropExpected(e.Ref, e.Owner)
	if e.Within <= 0 {
		return
	}
	x := Expectation{Ending: e.Ending, Until: m.at.Mono + e.Within}
	if x.How != Inferred {
		x.How = Ours
	}
	m.expected = append(m.expected, x)
}

// ForcedWithin is how long after the sending a forced end is seen at most.
const ForcedWithin = 15 * time.Second

// Forced reports whether an action on the row of an ended term ended it by force: it may have ended then.
func Forced(t *Term, action *Event) bool {
	return action.Kind == EventAction && action.Cause == CauseEvicted && action.Previous.ID == t.Owner.ID && t.End.How != Unknown &&
		!action.At.Before(t.Start.At) && (!action.At.After(t.End.At) || t.End.How == Bound) && !t.End.Earliest().After(action.At.Add(ForcedWithin))
}

// Expectation is an end that we bring about, and how long that counts.
type Expectation struct {
	Ending
	Until time.Duration // on the monotonic clock
}

// expectedEnds are the ends of owners of ref that we bring about.
func (m *model) expectedEnds(ref Ref) (ours []Expectation) {
	for _, x := range m.expected {
		if x.Ref == ref && m.at.Mono <= x.Until {
			ours = append(ours, x)
		}
	}
	return ours
}

// useExpectations drops the expectations of owners that are gone: what the same owner takes
// again is not ended by us.
func (m *model) useExpectations(events []Event) {
	for i := range events {
		if e := &events[i]; e.Kind.EndsOwner() {
			m.dropExpected(e.Ref, e.Previous.ID)
		}
	}
}

func (m *model) dropExpected(ref Ref, owner string) {
	m.expected = slices.DeleteFunc(m.expected, func(x Expectation) bool { return x.Ref == ref && x.Owner == owner })
}
