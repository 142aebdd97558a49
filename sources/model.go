package sources

import "time"

// model is what a Hub knows. It changes by Inputs only and reads neither a clock nor a setting,
// so that the same Inputs make the same model again. Its Hub holds the lock.
type model struct {
	ring  *ring
	index index // may be read without the lock

	start     Instant // of InputStarted
	limit     Thresholds
	sources   []*hubSource // in the order in which they were added
	scopes    []*scope     // by Row.Scope
	rows      []*Row       // by slot, as the next State will show them
	free      []Vacancy
	known     map[int]*Primitive // by slot: the last with known owners, where the row's are unknown
	queued    map[int]*Primitive // by slot: the last with a whole queue, where the row's is not
	expected  []Expectation
	events    []Event   // of the primitive being applied; kept to spare allocations
	proved    []Event   // what Change.Decided says of the owners that the last Change proved the same
	inputs    uint64    // how many were applied
	at        Instant   // of the one that is applied now
	published *State    // the latest
	resume    *Keyframe // what the sources that are added first go on from; nil: nothing

	watched map[Ref]struct{} // on screen: no Input, since it only decides how soon a State is published
}

// apply changes the model by one Input and returns how soon that must be published. f is the
// source that in concerns; nil: none.
func (m *model) apply(f *hubSource, in *Input) urgency {
	m.inputs++
	in.Seq, m.at = m.inputs, in.At
	if f != nil {
		in.Source = f.Name
	}
	switch in.Kind {
	case InputStarted:
		m.start, m.limit, m.resume = in.At, *in.Thresholds, in.Resume
		m.published = &State{At: in.At.Wall, Thresholds: m.limit}
		return idle
	case InputSources:
		m.add(in.Added)
		return urgent
	case InputChange:
		return m.change(f, &in.Change)
	case InputConnected:
		f.Retry = time.Time{}
		return calm
	case InputDisconnected:
		m.disconnected(f, in.Problem, in.Retry)
		return urgent
	case InputExpected:
		m.expect(in.Expected)
		return idle
	case InputNote:
		m.note(*in.Note)
		return urgent
	case InputSilent:
		m.silent(f.scopes[in.Scope])
		return urgent
	case InputClockStep:
		m.clockStep(in.Step)
		return urgent
	case InputForgotten:
		if slot, ok := m.index.find(in.Ref); ok {
			m.vacate(slot)
		}
		return normal
	case InputPublished:
		in.State = m.state()
		m.published = in.State
		return idle
	}
	panic("sources: an input of no kind")
}
