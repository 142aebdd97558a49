package rows

import (
	"maps"
	"time"

	"coordtop/sources"
	"coordtop/sources/verdict"
)

// Tally counts what changed hands in the last hour, by source. It counts events as they arrive, so it also knows
// those that a Log has dropped since. The zero Tally is empty.
type Tally struct {
	From   time.Time // of the oldest event that was counted
	newest int64     // step
	steps  map[int64]map[tallied]int
}

// tallied is what is counted apart in a step. Source "": all sources.
type tallied struct {
	source string
	what   Change
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
	tallySteps = int64(time.Hour / tallyStep)
)

// add counts an event.
func (t *Tally) add(e *sources.Event) {
	given := e.Kind == sources.EventReleased && e.Cause == sources.CauseReleased && !e.Loss
	is := [changes]bool{
		AnyChange:  e.Kind == sources.EventAcquired || e.Kind == sources.EventOwnerChanged || e.Kind == sources.EventCountChanged,
		HandedOver: e.Kind == sources.EventOwnerChanged && !e.Loss,
		Resigned:   given && e.RefKind == sources.KindElection,
		Released:   given && e.RefKind != sources.KindElection,
	}
	if is == ([changes]bool{}) {
		return
	}
	if t.From.IsZero() || e.At.Before(t.From) {
		t.From = e.At
	}
	if t.steps == nil {
		t.steps = map[int64]map[tallied]int{}
	}
	step := stepOf(e.At)
	counts := t.steps[step]
	if counts == nil {
		counts = map[tallied]int{}
		t.steps[step], t.newest = counts, max(t.newest, step)
		maps.DeleteFunc(t.steps, func(old int64, _ map[tallied]int) bool { return old <= t.newest-tallySteps })
	}
	for what := range changes {
		if is[what] {
			counts[tallied{"", what}]++
			counts[tallied{e.Ref.Source, what}]++
		}
	}
}

func stepOf(at time.Time) int64 { return at.Unix() / int64(tallyStep/time.Second) }

// Count returns how many changes of a source there were from the step of from on and before that of to. Source
// "": of all.
func (t *Tally) Count(source string, what Change, from, to time.Time) (n int) {
	for step := max(stepOf(from), t.newest-tallySteps+1); step < min(stepOf(to), t.newest+1); step++ {
		n += t.steps[step][tallied{source, what}]
	}
	return n
}

// ProblemRowList returns the rows with a problem, in no order.
func (x *Index) ProblemRowList() []*sources.Row {
	list := make([]*sources.Row, 0, len(x.problems))
	for slot := range x.problems {
		list = append(list, x.entries[slot].row)
	}
	return list
}

// Judge returns a judge of the rows at the time of the last Update. It is for reading.
func (x *Index) Judge() *verdict.Judge {
	j := x.judge
	return &j
}

// ProblemRows returns the number of rows with a problem that is not muted.
func (x *Index) ProblemRows() int { return x.BySeverity[verdict.Bad] + x.BySeverity[verdict.Warn] }
