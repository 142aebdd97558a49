package rows

import (
	"time"

	"coordtop/sources"
)

// Tally counts what changed hands in the last hour, by source. It counts events as they arrive, so it also knows
// those that a Log has dropped since. The zero Tally is empty.
type Tally struct {
	From    time.Time // of the oldest event that was counted
	sources map[string]*tallied
}

// Change is a kind of change that a Tally counts.
type Change uint8

// The kinds. An event may be of several.
const (
	AnyChange  Change = iota // another owner, or other permits
	HandedOver               // from one owner to the next, without a loss
	Resigned                 // a leader gave it up
	Released                 // another owner gave it up
	changes
)

// tallyStep is the length of the stretches of time that are counted apart, and tallySteps their number.
const (
	tallyStep  = 10 * time.Second
	tallySteps = int(time.Hour / tallyStep)
)

// tallied has the counts of a source, those of each step at its remainder.
type tallied struct {
	newest int64 // step
	counts [changes][tallySteps]uint32
}

// add counts an event, unless it is more than an hour older than the newest one of its source.
func (t *Tally) add(e *sources.Event) {
	is := [changes]bool{
		AnyChange:  e.Kind == sources.EventAcquired || e.Kind == sources.EventOwnerChanged || e.Kind == sources.EventCountChanged,
		HandedOver: e.Kind == sources.EventOwnerChanged && !e.Loss,
	}
	given := e.Kind == sources.EventReleased && e.Cause == sources.CauseReleased && !e.Loss
	is[Resigned], is[Released] = given && e.RefKind == sources.KindElection, given && e.RefKind != sources.KindElection
	if is == ([changes]bool{}) {
		return
	}
	if t.From.IsZero() || e.At.Before(t.From) {
		t.From = e.At
	}
	if t.sources == nil {
		t.sources = map[string]*tallied{}
	}
	of, step := t.sources[e.Ref.Source], stepOf(e.At)
	if of == nil {
		of = &tallied{newest: step}
		t.sources[e.Ref.Source] = of
	}
	switch {
	case step >= of.newest+int64(tallySteps):
		*of = tallied{newest: step}
	case step <= of.newest-int64(tallySteps):
		return
	}
	for ; of.newest < step; of.newest++ {
		for i := range of.counts {
			of.counts[i][(of.newest+1)%int64(tallySteps)] = 0
		}
	}
	for i := range is {
		if is[i] {
			of.counts[i][step%int64(tallySteps)]++
		}
	}
}

func stepOf(at time.Time) int64 { return at.Unix() / int64(tallyStep/time.Second) }

// Count returns how many changes of a source there were from the step of from on and before that of to. Source
// "": of all.
func (t *Tally) Count(source string, what Change, from, to time.Time) (n int) {
	for name, of := range t.sources {
		if source != "" && name != source {
			continue
		}
		for step := max(stepOf(from), of.newest-int64(tallySteps)+1); step < min(stepOf(to), of.newest+1); step++ {
			n += int(of.counts[what][step%int64(tallySteps)])
		}
	}
	return n
}
