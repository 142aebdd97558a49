package verdict

import (
	"slices"
	"time"

	"coordtop/sources"
)

// Severity grades a verdict.
type Severity uint8

// The severities, the gravest first.
const (
	Bad   Severity = iota // needs a person
	Warn                  // worth a look
	Well                  // normal life
	Free                  // nobody owns it, which is normal too
	Blind                 // it is not known
)

// Problem reports whether the severity is that of a problem.
func (s Severity) Problem() bool { return s <= Warn }

// String returns "needs a person", "worth a look", "well", "free" or "unknown".
func (s Severity) String() string {
	return [...]string{"needs a person", "worth a look", "well", "free", "unknown"}[s]
}

// ChangesSpan is the stretch of time in which changes and gaps are counted.
const ChangesSpan = time.Hour

// Verdict is the judgement of a row at an instant.
type Verdict struct {
	Status   sources.Status
	Last     sources.Status // as far as is known: Status, but for a row that is stale
	Severity Severity
	Known    Severity // of Last: Severity, but for a row that is stale
	Lead     Fault    // the gravest of its problems; None: it has none
	Faults   Faults
	Changes  uint16 // of owner within ChangesSpan, to the minute
}

// Problem reports whether the row has a problem, or had one when it was last known.
func (v *Verdict) Problem() bool { return v.Known.Problem() }

// Problem is one thing that is wrong with a row.
type Problem struct {
	Fault
	Severity
	Since    sources.Stamp // Unknown: it is not known since when
	Sentence string
	Told     bool // the word of the row's Status says as much
}

// Judge weighs the rows of a State.
type Judge struct {
	State *sources.State
	Names sources.Names // of all its rows, to find what is owned elsewhere too; nil: nothing is

	row   *sources.Row // that is judged, as are the rest
	v     Verdict
	asked time.Time
	now   time.Time    // asked, or when the row was last known
	until time.Time    // the first instant at which the verdict may change; zero: it does not
	rival *sources.Row // the same lock elsewhere, owned by another; nil: there is none
}

// Weigh judges a row at now. As long as the row and its peers stay as they are, in scopes of the same health,
// the verdict is the same up to the instant that it returns; zero: for ever.
func (j *Judge) Weigh(row *sources.Row, now time.Time) (v Verdict, until time.Time) {
	j.begin(row, now)
	j.v.Known = j.calm()
	for f := range conditions {
		sev := conditions[f].judge(j)
		if sev == Well {
			continue
		}
		if j.v.Faults |= 1 << f; sev < j.v.Known {
			j.v.Known = sev
			j.v.Lead = Fault(f)
		}
	}
	j.v.Severity = j.v.Known
	if j.v.Status == sources.StatusStale {
		j.v.Severity, j.until = Blind, time.Time{}
	}
	return j.v, j.until
}

// Problems lists what is wrong with a row at now, the gravest first.
func (j *Judge) Problems(row *sources.Row, now time.Time) (list []Problem) {
	v, _ := j.Weigh(row, now)
	for sev := Bad; sev <= Blind; sev++ {
		for f := range conditions {
			if c := &conditions[f]; v.Faults.Has(Fault(f)) && c.judge(j) == sev {
				list = append(list, Problem{Fault(f), sev, c.since(j), c.sentence(j), slices.Contains(c.states, v.Status)})
			}
		}
	}
	return list
}

// begin sets the row that is judged, with all that conditions ask for.
func (j *Judge) begin(row *sources.Row, now time.Time) {
	j.row, j.asked, j.now, j.until = row, now, now, time.Time{}
	j.v = Verdict{Status: row.StatusAt(j.State, now)}
	if j.v.Last = j.v.Status; j.v.Status == sources.StatusStale {
		j.now = row.KnownAt(j.State, now)
		j.v.Last = row.LastStatus(j.State, j.now)
	}
	j.v.Changes = uint16(min(row.Changes(j.now, ChangesSpan), 1<<16-1))
	if minute := j.now.Truncate(time.Minute).Add(time.Minute); j.v.Changes > 0 || row.Changes(minute, ChangesSpan) > 0 {
		j.changesAt(minute) // they are counted by the minute, as losses are
	}
	j.rival = j.rivalOf(row)
}

// calm returns the severity of a row without any fault.
func (j *Judge) calm() Severity {
	switch j.v.Last {
	case sources.StatusNotObserved, sources.StatusUnknown:
		return Blind
	case sources.StatusNoLeader, sources.StatusNoCandidates, sources.StatusFree, sources.StatusAbsent:
		return Free
	case sources.StatusLed, sources.StatusHeld: // what is full is never late
		j.changesAt(j.row.LateAt(j.State.Thresholds))
	case sources.StatusLedLate, sources.StatusHeldSilent:
		if j.row.RenewEvery() > 0 { // a server that falls silent excuses it
			j.changesAt(j.now)
		}
	}
	return Well
}

// changesAt notes that the verdict may change at an instant; zero: never.
func (j *Judge) changesAt(at time.Time) {
	if !at.IsZero() && (j.until.IsZero() || at.Before(j.until)) {
		j.until = at
	}
}

// passed reports whether an instant is over; zero: it never is.
func (j *Judge) passed(at time.Time) bool {
	if !at.IsZero() && j.now.After(at) {
		return true
	}
	j.changesAt(at)
	return false
}

// Silence grades a source that should answer and has not for so long.
func Silence(silent time.Duration, t *sources.Thresholds) Severity {
	if silent >= t.Stale {
		return Bad
	}
	return Warn
}

// LeaderMissed reports whether it is trouble that nobody owns a row: it should always be owned, or is an
// election that had a leader. Whether another election should have one is not known.
func LeaderMissed(row *sources.Row) bool {
	return row.Expected || row.Kind == sources.KindElection && len(row.Terms) > 0
}
