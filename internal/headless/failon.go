package headless

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/address"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// ErrFailed reports a row or a source that has a fault of GetOptions.FailOn.
var ErrFailed = errors.New("failed on")

// anyFault is the word for all faults.
const anyFault = "any"

// Faults returns the words of ParseFaults.
func Faults() []string { return append(verdict.Names(), anyFault) }

// judge returns the Judge of the rows of a state.
func judge(s *sources.State) *verdict.Judge {
	j := &verdict.Judge{State: s, Names: sources.Names{}}
	for slot, r := range s.Rows {
		if r != nil {
			j.Names.Add(r.Name, slot)
		}
	}
	return j
}

// failure is a fault of GetOptions.FailOn.
type failure struct {
	verdict.Fault
	where, what string
}

// failed returns the rows, and the sources, that have one of the faults of GetOptions.
func failed(j *verdict.Judge, list []*sources.Row, o *GetOptions, now time.Time) (wrong []failure) {
	report := func(f verdict.Fault, where, what string) {
		if o.FailOn.Has(f) {
			wrong = append(wrong, failure{f, where, what})
		}
	}
	knownSource := func(name string) bool { return o.Unacknowledged && o.muted.OfSilence(name) != nil }
	for _, src := range j.State.Sources {
		if src.Health != sources.HealthLive && !knownSource(src.Name) {
			report(verdict.Stale, format.Clean(src.Name, maxText), "the source "+why(src.Err).Error())
		}
	}
	for i, where := range paths(list) {
		known := o.Unacknowledged && o.muted.Rows[list[i].Ref] != nil
		for _, p := range j.Problems(list[i], now) {
			if p.Fault == verdict.Stale { // a problem of its source
				known = knownSource(list[i].Source)
			}
			if !known {
				report(p.Fault, where, p.Sentence)
			}
		}
	}
	return wrong
}

// errFailed reports each failure in a line.
func errFailed(wrong []failure) error {
	var lines []error
	for _, f := range wrong {
		lines = append(lines, fmt.Errorf("%w %s: %s: %s", ErrFailed, f.Fault, f.where, f.what))
	}
	return errors.Join(lines...)
}

// ParseFaults reads a list with commas.
func ParseFaults(text string) (verdict.Faults, error) {
	var on verdict.Faults
	for word := range strings.SplitSeq(text, ",") {
		all := Faults()
		switch {
		case word == anyFault:
			on |= verdict.Any
		case slices.Contains(all, word):
			on |= 1 << verdict.Named(word)
		default:
			takes := "write " + strings.Join(all[:len(all)-1], ", ") + " or " + anyFault + ", several with commas"
			if near := address.Near(word, all...); near != "" {
				return 0, fmt.Errorf("did you mean %s? %s", near, takes)
			}
			return 0, errors.New(takes)
		}
	}
	return on, nil
}
