package headless

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coordtop/internal/address"
	"coordtop/internal/format"
	"coordtop/sources"
)

// ErrFailed is the error about each row or source that has a fault of GetOptions.FailOn.
var ErrFailed = errors.New("failed on")

// Fault is something that Get can fail on.
type Fault string

// The faults. Any is each of the others.
const (
	NoLeader Fault = "no-leader" // an election, or an expected lock, that nobody owns
	Stale    Fault = "stale"     // its source does not answer, or refused our credentials
	Late     Fault = "late"      // its lease is over or short, or a renewal is missing and much of the lease is gone
	NoTTL    Fault = "no-ttl"    // owned without an end, by no session that could end
	LongWait Fault = "wait"      // somebody has waited for a lock or a semaphore for longer than Thresholds.Wait
	Two      Fault = "two-owners"
	Any      Fault = "any"
)

// Faults returns the names of all of them.
func Faults() []string {
	return []string{string(NoLeader), string(Stale), string(Late), string(NoTTL), string(LongWait), string(Two), string(Any)}
}

// failed reports the rows, and the sources, that have one of the faults: a line each.
func failed(s *sources.State, list []*sources.Row, on []Fault, now time.Time) error {
	var wrong []error
	report := func(f Fault, where, what string) {
		if slices.Contains(on, f) || slices.Contains(on, Any) {
			wrong = append(wrong, fmt.Errorf("%w %s: %s: %s", ErrFailed, f, where, what))
		}
	}
	for _, src := range s.Sources {
		if src.Health != sources.HealthLive {
			report(Stale, format.Clean(src.Name, maxText), "the source "+why(src.Err).Error())
		}
	}
	for i, where := range paths(list) {
		r, state := list[i], list[i].StatusAt(s, now)
		by := state.String()
		if len(r.Owners) > 0 {
			by += " by " + textOwners(r.Owners)
		}
		switch {
		case state == sources.StatusNoLeader, state == sources.StatusNoCandidates,
			state == sources.StatusAbsent && (r.Expected || r.Kind == sources.KindElection), state == sources.StatusFree && r.Expected:
			report(NoLeader, where, by)
		case state == sources.StatusStale, state == sources.StatusNotObserved:
			report(Stale, where, by)
		case state == sources.StatusLedLate, state == sources.StatusHeldSilent:
			report(Late, where, by)
		case state == sources.StatusConflict:
			report(Two, where, by)
		}
		if since := r.Queue.WaitingSince(); r.Kind != sources.KindElection && !since.IsZero() && now.Sub(since) > s.Thresholds.Wait {
			report(LongWait, where, by+", and somebody has waited for it for "+format.Age(now.Sub(since)))
		}
		for j := range r.Owners {
			if o := &r.Owners[j]; o.Endless() {
				report(NoTTL, where, "the lease of "+format.Label(o.Label, maxText)+" has no end")
			}
		}
	}
	return errors.Join(wrong...)
}

// ParseFaults reads a list with commas.
func ParseFaults(text string) ([]Fault, error) {
	var list []Fault
	for word := range strings.SplitSeq(text, ",") {
		if all := Faults(); !slices.Contains(all, word) {
			takes := "write " + strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1] + ", several with commas"
			if near := address.Near(word, all...); near != "" {
				return nil, fmt.Errorf("did you mean %s? %s", near, takes)
			}
			return nil, errors.New(takes)
		}
		list = append(list, Fault(word))
	}
	return list, nil
}
