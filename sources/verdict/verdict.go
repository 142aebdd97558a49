package verdict

import (
	"slices"
	"time"

	"coordtop/sources"
)

// Severity grades a verdict.
type Severity uint8

// The severities, the most severe first.
const (
	Bad   Severity = iota // needs a person
	Warn                  // worth a look
	Well                  // normal life
	Free                  // nobody owns it, which is also normal
	Blind                 // unknown
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
	Last     sources.Status // the last known Status; equal to Status unless the row is stale
	Severity Severity
	Known    Severity // severity of Last; equal to Severity unless the row is stale
	Lead     Fault    // the most severe problem, or None
	Faults   Faults
	Changes  uint16 // changes of owner within ChangesSpan, to the minute
}

// Problem reports whether the row has a problem, or had one when it was last known.
func (v *Verdict) Problem() bool { return v.Known.Problem() }

// Problem is one thing that is wrong with a row.
type Problem struct {
	Fault
	Severity
	Since    sources.Stamp // How is Unknown if that is unknown
	Sentence string
	Told     bool // the word of the row's Status contains the same
}

// Judge weighs the rows of a State.
type Judge struct {
	State *sources.State
	Names sources.Names // of all rows, to find the same lock in other scopes; may be nil

	row   *sources.Row // the row being judged; the next fields belong to it
	v     Verdict
	asked time.Time
	now   time.Time    // the given time, or when the row was last known
	until time.Time    // the first instant at which the verdict may change; zero if never
	rival *sources.Row // the same lock elsewhere with another owner, or nil
}

// Weigh judges a row at now. While the row, its peers and the health of their scopes do not change, the verdict is
// valid until the returned instant, or without limit if that is zero.
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

// Problems lists what is wrong with a row at now, the most severe first.
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

// begin sets the row that is judged, with all facts that conditions need.
func (j *Judge) begin(row *sources.Row, now time.Time) {
	j.row, j.asked, j.now, j.until = row, now, now, time.Time{}
	j.v = Verdict{Status: row.StatusAt(j.State, now)}
	if j.v.Last = j.v.Status; j.v.Status == sources.StatusStale {
		j.now = row.KnownAt(j.State, now)
		j.v.Last = row.LastStatus(j.State, j.now)
	}
	j.v.Changes = uint16(min(row.Changes(j.now, ChangesSpan), 1<<16-1))
	if minute := j.now.Truncate(time.Minute).Add(time.Minute); j.v.Changes > 0 || row.Changes(minute, ChangesSpan) > 0 {
		j.changesAt(minute) // changes are counted by the minute, like losses
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
	case sources.StatusLed, sources.StatusHeld: // a full semaphore is never late
		j.changesAt(j.row.LateAt(j.State.Thresholds))
	case sources.StatusLedLate, sources.StatusHeldSilent:
		if j.row.RenewEvery() > 0 { // a silent server excuses the owner
			j.changesAt(j.now)
		}
	}
	return Well
}

// changesAt notes that the verdict may change at an instant, unless that is zero.
func (j *Judge) changesAt(at time.Time) {
	if !at.IsZero() && (j.until.IsZero() || at.Before(j.until)) {
		j.until = at
	}
}

// passed reports whether an instant is over; a zero instant never is.
func (j *Judge) passed(at time.Time) bool {
	if !at.IsZero() && j.now.After(at) {
		return true
	}
	j.changesAt(at)
	return false
}

// Silence grades a source that should answer but has been silent for the given time.
func Silence(silent time.Duration, t *sources.Thresholds) Severity {
	if silent >= t.Stale {
		return Bad
	}
	return Warn
}

// LeaderMissed reports whether the missing owner of a row is a problem: the row should always be owned, or is an
// election that had a leader. For another election it is unknown whether it should have a leader.
func LeaderMissed(row *sources.Row) bool {
	return row.Expected || row.Kind == sources.KindElection && len(row.Terms) > 0
}
