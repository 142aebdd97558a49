package rows

import (
	"time"

	"coordtop/sources"
	"coordtop/ui/paint"
)

// Verdict is what the board thinks of a row at an instant.
type Verdict struct {
	Status   sources.Status
	last     sources.Status // as far as is known: Status, but for a row that is stale
	Severity paint.Severity
	known    paint.Severity // of last: Severity, but for a row that is stale
	rank     uint8          // for the order: 0 first
	Changes  uint16
	Flapping bool
	Waiting  bool // somebody waits for long
	endless  bool // owned by nobody's session and without an end
	Full     bool // no permit was free for long, and somebody waits
}

// problem reports whether the row is one, or was when it was last known: a count of
// problems does not fall because a server died.
func (v *Verdict) problem() bool { return v.known.Problem() }

// ChangesSpan is the stretch of time in which changes and gaps are counted.
const ChangesSpan = time.Hour

// judge weighs a row by the thresholds of its state. It depends on time as well as on the
// row: leases run out and changes grow old.
func judge(row *sources.Row, st *sources.State, now time.Time) Verdict {
	v := Verdict{Status: row.StatusAt(st, now)}
	v.last = v.Status
	if v.Status == sources.StatusStale {
		now = row.KnownAt(st, now)
		v.last = row.LastStatus(st, now)
	}
	v.Changes = uint16(min(row.Changes(now, ChangesSpan), 1<<16-1))
	v.known = v.grade(row, st, now)
	v.Severity = v.known
	if v.Status == sources.StatusStale {
		v.Severity = paint.Blind
	}
	v.rank = v.troubleRank()
	return v
}

// grade is how bad the last known state of a row is.
func (v *Verdict) grade(row *sources.Row, st *sources.State, now time.Time) paint.Severity {
	t := &st.Thresholds
	worst := stateGrade(row, v.last, now, t)
	if worst == paint.Blind {
		return worst
	}
	worse := func(is bool, sev paint.Severity) bool {
		if is && (sev < worst) {
			worst = sev
		}
		return is
	}
	v.Flapping = worse(row.Kind == sources.KindElection && v.Changes > 0 && row.Losses(now, t.FlapWithin) > t.FlapLosses, paint.Warn)
	v.Waiting = worse(waitsLong.passed(row, t, now), paint.Warn)
	worse(v.Waiting && (waitsVeryLong.passed(row, t, now) || ownerIdle(row)), paint.Bad)
	v.endless = worse(endless(row), paint.Warn)
	worse(v.endless && (row.Queue.Len > 0 || overdue.passed(row, t, now)), paint.Bad)
	v.Full = worse(full.passed(row, t, now), paint.Warn)
	return worst
}

// stateGrade is how bad a state is by itself.
func stateGrade(row *sources.Row, status sources.Status, now time.Time, t *sources.Thresholds) paint.Severity {
	switch status {
	case sources.StatusNotObserved, sources.StatusUnknown:
		return paint.Blind
	case sources.StatusConflict:
		return paint.Bad
	case sources.StatusNoLeader, sources.StatusNoCandidates, sources.StatusFree:
		return vacantGrade(row, status, now, t)
	case sources.StatusAbsent:
		if row.Expected {
			return paint.Bad
		}
		return paint.Warn
	case sources.StatusLedLate, sources.StatusHeldSilent:
		return paint.Warn
	}
	return paint.Well
}

// vacantGrade grades a row that nobody owns. A hand-over takes a moment; longer than that a
// leader is missed where there was one, or should be one. Whether others should have one is
// not known: that is worth a look.
func vacantGrade(row *sources.Row, status sources.Status, now time.Time, t *sources.Thresholds) paint.Severity {
	election := status != sources.StatusFree
	switch {
	case row.Nobody.How != sources.AtLeast && !vacant.passed(row, t, now):
		return paint.Free
	case LeaderMissed(row):
		return paint.Bad
	case election:
		return paint.Warn
	}
	return paint.Free
}

// LeaderMissed reports whether nobody owning a row is trouble: it should always be owned, or is an
// election that had a leader.
func LeaderMissed(row *sources.Row) bool {
	return row.Expected || row.Kind == sources.KindElection && len(row.Terms) > 0
}

// troubleRank orders rows by trouble: what needs a person, then what cannot be judged because its
// source is silent, by how bad it was when it was last known, then what is worth a look.
func (v *Verdict) troubleRank() uint8 {
	switch {
	case v.Severity == paint.Bad:
		return 0
	case v.Status == sources.StatusStale:
		return 1 + uint8(min(v.known, paint.Well))
	case v.Severity == paint.Warn:
		return 4
	}
	return 5
}

// ownerIdle reports whether the only owner does nothing while others wait.
func ownerIdle(row *sources.Row) bool {
	return len(row.Owners) == 1 && row.Owners[0].Idle != sources.NotIdle
}

// endless reports whether the row is owned without any end: by no session, whose end would
// be one, and with no lease.
func endless(row *sources.Row) bool {
	return len(row.Owners) == 1 && row.Owners[0].Endless() && !row.Guessed()
}

// until is the first instant at which judge may come to another verdict of a row that stays
// as it is, in scopes of the same health; zero: never.
func (v *Verdict) until(row *sources.Row, st *sources.State, now time.Time) time.Time {
	var first time.Time
	at := func(t time.Time) {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	switch v.Status {
	case sources.StatusStale:
		return time.Time{}
	case sources.StatusLed, sources.StatusHeld, sources.StatusFull:
		at(row.LateAt(st.Thresholds))
	case sources.StatusLedLate, sources.StatusHeldSilent:
		if row.RenewEvery() > 0 { // a server that falls silent excuses it
			return now
		}
	}
	if v.Changes > 0 || row.Changes(now.Add(time.Minute), ChangesSpan) > 0 {
		at(now.Truncate(time.Minute).Add(time.Minute)) // they are counted by the minute
	}
	for l := range limits {
		if !l.passed(row, &st.Thresholds, now) {
			at(limitTable[l](row, &st.Thresholds))
		}
	}
	return first
}

// Late reports whether the renewal of an owner is judged to be late.
func (v *Verdict) Late() bool {
	return v.Status == sources.StatusLedLate || v.Status == sources.StatusHeldSilent
}

// LeaseLeft is what is left of a lease: never more than it is long, though our second
// may have begun before it was renewed.
func LeaseLeft(o *sources.Owner, now time.Time) time.Duration {
	left := max(o.Expires.At.Sub(now), 0)
	if o.Lease > 0 {
		left = min(left, o.Lease)
	}
	return left
}
