package ui

import (
	"time"

	"coordtop/sources"
)

// severity says how loudly a row is drawn.
type severity uint8

const (
	sevBad   severity = iota // somebody should look now
	sevWarn                  // will be trouble, or looks odd
	sevWell                  // draws no attention
	sevFree                  // nobody owns it, which is fine
	sevBlind                 // we do not know
)

// problem says whether a row counts as one.
func (s severity) problem() bool { return s <= sevWarn }

// verdict is what the board thinks of a row at an instant.
type verdict struct {
	status   sources.Status
	sev      severity
	rank     uint8 // for the order: 0 first
	changes  uint16
	flapping bool
	waiting  bool // somebody waits for long
}

const (
	flapWindow  = 10 * time.Minute
	flapChanges = 2                // more than that is flapping
	longWait    = 30 * time.Second // a wait for a mutex that is worth a look
	settle      = 2 * time.Second  // trouble that passes sooner does not move rows about
	changesSpan = time.Hour
)

// judge weighs a row. It depends on time as well as on the row: leases run out and
// changes grow old.
func judge(row *sources.Row, st *sources.State, now time.Time) verdict {
	v := verdict{status: row.StatusAt(st, now), sev: sevWell}
	v.changes = uint16(min(row.Changes(now, changesSpan), 1<<16-1))
	v.flapping = row.Kind == sources.KindElection && v.changes > flapChanges && row.Changes(now, flapWindow) > flapChanges
	v.waiting = row.Kind != sources.KindElection && waitsSince(row, now) > longWait
	switch v.status {
	case sources.StatusNotObserved, sources.StatusStale, sources.StatusUnknown:
		v.sev = sevBlind
	case sources.StatusConflict, sources.StatusNoLeader, sources.StatusNoCandidates:
		v.sev = sevBad
	case sources.StatusAbsent:
		v.sev = sevWarn
		if row.Expected {
			v.sev = sevBad
		}
	case sources.StatusLedLate, sources.StatusHeldSilent:
		v.sev = sevWarn
		if v.flapping {
			v.sev = sevBad
		}
	case sources.StatusFree:
		v.sev = sevFree
		if row.Expected {
			v.sev = sevBad
		}
	}
	if (v.flapping || v.waiting) && (v.sev == sevWell || v.sev == sevFree) {
		v.sev = sevWarn
	}
	v.rank = rank(row, v, now)
	return v
}

// rank orders rows by trouble. What began just now moves up only after a moment: a
// hand-over of a second should not make the list jump twice.
func rank(row *sources.Row, v verdict, now time.Time) uint8 {
	switch {
	case v.sev == sevBad && (v.flapping || len(row.Owners) > 0 || row.Nobody.How == sources.AtLeast || now.Sub(row.Nobody.At) >= settle):
		return 0
	case v.sev == sevWarn:
		return 1
	}
	return 2
}

// until is the first instant at which judge may come to another verdict of a row that stays
// as it is, in scopes of the same health; zero: never.
func (v *verdict) until(row *sources.Row, st *sources.State, now time.Time) time.Time {
	var first time.Time
	at := func(t time.Time) {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	switch v.status {
	case sources.StatusLed, sources.StatusHeld:
		at(row.LateAt(st.Thresholds))
	case sources.StatusLedLate, sources.StatusHeldSilent:
		if row.RenewEvery() > 0 { // a server that falls silent excuses it
			return now
		}
	}
	if v.changes > 0 || row.Changes(now.Add(time.Minute), changesSpan) > 0 {
		at(now.Truncate(time.Minute).Add(time.Minute)) // they are counted by the minute
	}
	if settled := row.Nobody.At.Add(settle); settled.After(now) {
		at(settled)
	}
	if v.waiting {
		return first
	}
	for i := range row.Queue.Waiters {
		if long := row.Queue.Waiters[i].Since.At.Add(longWait); !long.Before(now) {
			at(long)
		}
	}
	return first
}

// waitsSince is how long the first waiter has waited; 0 where that is not known.
func waitsSince(row *sources.Row, now time.Time) time.Duration {
	longest := time.Duration(0)
	for i := range row.Queue.Waiters {
		if s := row.Queue.Waiters[i].Since; s.How != sources.Unknown && !s.At.IsZero() {
			longest = max(longest, now.Sub(s.At))
		}
	}
	return longest
}
