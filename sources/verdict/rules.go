package verdict

import (
	"time"

	"coordtop/sources"
)

// grade returns the severity if so is true, else Well.
func grade(sev Severity, so bool) Severity {
	if so {
		return sev
	}
	return Well
}

func unknown(*Judge) sources.Stamp { return sources.Stamp{} }

// noLeader grades a row that nobody owns. A hand-over takes a moment, so that the grade waits. It does not wait if the
// last owner lost the row, or if nobody owned it at the first look, or at a look after such a long pause that a
// hand-over would have ended.
func noLeader(j *Judge) Severity {
	switch j.v.Last {
	case sources.StatusNoLeader, sources.StatusNoCandidates:
	case sources.StatusFree, sources.StatusAbsent:
		if !mustBeOwned(j.row) {
			return Well
		}
	default:
		return Well
	}
	since, most := j.row.Nobody, j.State.Thresholds.NoLeader
	atOnce := since.How == sources.AtLeast || lost(j.row) || since.At.Sub(since.Earliest()) >= most // as for an absent row, whose instant is unknown
	if !atOnce && !j.passed(since.At.Add(most-1)) {
		return Well
	}
	if LeaderMissed(j.row) {
		return Bad
	}
	return Warn
}

// mustBeOwned reports whether a row without an owner should have one. Other rows are just free.
func mustBeOwned(row *sources.Row) bool { return row.Expected || row.Kind == sources.KindElection }

// lost reports whether the last owner of a row that nobody owns is known to have lost it.
func lost(row *sources.Row) bool {
	last := row.LastTerm()
	return last != nil && last.Cause.Loss(last.How)
}

func noTTL(j *Judge) Severity {
	switch {
	case j.row.Guessed() || j.endless() == nil:
		return Well
	case j.row.Queue.Len > 0 || j.passed(overdueAt(j.row)):
		return Bad
	}
	return grade(Warn, !j.row.NoTTLByDesign())
}

// endless returns an owner whose ownership nothing ends, or nil.
func (j *Judge) endless() *sources.Owner {
	for i := range j.row.Owners {
		if o := &j.row.Owners[i]; o.Endless() {
			return o
		}
	}
	return nil
}

// overdueAt returns the instant at which the running term will have lasted as long as the longest term before it. It
// returns zero if no earlier term has a known length, so that nothing is usual.
func overdueAt(row *sources.Row) time.Time {
	n := len(row.Terms)
	if n < 2 || row.Terms[n-1].End.How != sources.Unknown {
		return time.Time{}
	}
	var usual time.Duration
	known := false
	for i := range row.Terms[:n-1] {
		held := row.Terms[i].Held()
		if held.Max == sources.Endless {
			held.Max = held.Min // only a lower bound is known, which alone does not show what is usual
		} else {
			known = known || held.Max > 0
		}
		usual = max(usual, held.Max)
	}
	if !known {
		return time.Time{}
	}
	return row.Terms[n-1].Start.At.Add(usual)
}

// longWait grades the wait of the first waiter. Candidates of an election may wait without limit.
func longWait(j *Judge) Severity {
	first, t := j.row.Queue.WaitingSince().At, &j.State.Thresholds
	switch {
	case j.row.Kind == sources.KindElection || first.IsZero() || !j.passed(first.Add(t.Wait)):
		return Well
	case ownerIdle(j.row) || j.passed(first.Add(t.WaitPerson)):
		return Bad
	}
	return Warn
}

// ownerIdle reports whether the only owner does nothing while others wait.
func ownerIdle(row *sources.Row) bool {
	return len(row.Owners) == 1 && row.Owners[0].Idle != sources.NotIdle
}

// fullAt returns the instant at which a semaphore with waiters will have had no free permit for too long. It returns
// zero if a permit is free, nobody waits, or the beginning is unknown.
func fullAt(row *sources.Row, t *sources.Thresholds) time.Time {
	since := row.TakenSince()
	if since.IsZero() || !row.Limited() || row.Taken < row.Limit || row.Queue.Len == 0 {
		return time.Time{}
	}
	return since.Add(t.Full)
}

func (j *Judge) losses() int { return j.row.Losses(j.now, j.State.Thresholds.FlapWithin) }
