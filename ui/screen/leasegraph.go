package screen

import (
	"strconv"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// lease draws the time left of the lease, or permits, or why there is none.
func (p *locksPane) lease(l *paint.Line, r *locksRow, w int) {
	sc, row, v := p.Scene, r.Row, r.v
	switch {
	case v.Status == sources.StatusStale && row.Kind == sources.KindSemaphore:
		l.Cell(sc.Theme.Dim, permitsText(row)+" old", w)
	case v.Status == sources.StatusStale:
		l.Cell(sc.Theme.Dim, "old", w)
	case row.Limited():
		l.Bar(barStyle(sc, v.Faults.Has(verdict.Full)), float64(row.Taken)/float64(row.Limit), permitsText(row), w)
	case row.Kind == sources.KindSemaphore && v.Severity != verdict.Blind:
		l.Cell("", permitsText(row), w)
	case len(row.Owners) == 0 && v.Severity == verdict.Blind:
		l.Cell(sc.Theme.Dim, "?", w)
	case len(row.Owners) == 0:
		l.Cell(sc.Theme.Dim, "-", w)
	case len(row.Owners) > 1:
		l.Cell(sc.Theme.Dim, "", w)
	default:
		drawOwnerLease(sc, l, &row.Owners[0], v, w)
	}
}

// permitsText returns the taken permits, and the limit if there is one.
func permitsText(row *sources.Row) string {
	taken := strconv.FormatInt(sources.Permits(row.Taken), 10)
	switch {
	case row.Limited():
		return taken + "/" + strconv.FormatUint(row.Limit, 10)
	case row.LimitHow == sources.Unknown:
		return taken + "/?"
	}
	return taken + " taken"
}

// drawOwnerLease draws the time left of an owner's lease, or what it has instead of a lease. A session
// that is idle in a transaction is a warning, because locks are often forgotten this way.
func drawOwnerLease(sc *Scene, l *paint.Line, o *sources.Owner, v verdict.Verdict, w int) {
	switch {
	case o.BySession() && o.Idle == sources.IdleInTransaction && w < len("idle in tx"):
		l.Cell(sc.Theme.Warn, "idle tx", w)
	case o.BySession() && o.Idle == sources.IdleInTransaction:
		l.Cell(sc.Theme.Warn, "idle in tx", w)
	case o.BySession() || o.NoExpiry || o.Lease <= 0 || o.Expires.How == sources.Unknown || o.Expires.At.IsZero():
		text := LeaseText(sc, o, v)
		l.Cell(text.Style, text.Text, w)
	default:
		left := rows.LeaseLeft(o, sc.Now)
		l.Bar(barStyle(sc, v.Faults.Has(verdict.Late)), float64(left)/float64(o.Lease), format.Left(left), w)
	}
}

// LeaseText returns the time left of an owner's lease, or what it has instead of a lease.
func LeaseText(sc *Scene, o *sources.Owner, v verdict.Verdict) paint.Part {
	switch {
	case v.Status == sources.StatusStale:
		return sc.Theme.Dim.Text("old")
	case o.BySession():
		return sc.Theme.Dim.Text("session")
	case o.NoExpiry && v.Faults.Has(verdict.NoTTL):
		return sc.Theme.Warn.Text("no TTL")
	case o.NoExpiry:
		return sc.Theme.Dim.Text("no TTL")
	case o.Expires.How == sources.Unknown || o.Expires.At.IsZero():
		return sc.Theme.Dim.Text("?")
	case o.Lease > 0:
		return paint.Plain(format.Left(rows.LeaseLeft(o, sc.Now)) + " of " + format.Left(o.Lease))
	}
	return paint.Plain(format.Left(rows.LeaseLeft(o, sc.Now)))
}

// leaseNote describes the renewals of the lease in a line; none if nothing is known.
func leaseNote(sc *Scene, row *sources.Row, v verdict.Verdict, w int) []string {
	o, l := &row.Owners[0], sc.Theme.Line(w).Skip(4)
	if thinned(sc) && o.Lease > 0 && !o.NoExpiry {
		return []string{l.Put(sc.Theme.Dim, noRenewals).Done()}
	}
	say := func(on bool, st paint.Style, text string) {
		if on {
			l.Put(sc.Theme.Dim, paint.When(l.X > 4, ", ")).Put(st, text)
		}
	}
	asOf, ago := asOf(sc, row, v), " ago"
	if v.Status == sources.StatusStale {
		ago = " before that"
	}
	every, missed, low := o.RenewEvery(), o.Missed(sc.Now, sc.State.Thresholds), row.LowestLeaseAt(asOf)
	say(!o.Renewed.At.IsZero(), sc.Theme.Dim, "renewed "+format.Precise(asOf.Sub(o.Renewed.At))+ago)
	say(every > 0, sc.Theme.Dim, "usually every "+format.Precise(every))
	say(missed > 0 && v.Faults.Has(verdict.Late), sc.Theme.Warn, paint.Count(missed, "renewal")+" missed")
	say(low > 0, sc.Theme.Dim, "never below "+format.Precise(low))
	if l.X == 4 {
		return nil
	}
	return []string{l.Done()}
}

// barStyle returns the style of a bar or tooth: a lease that is renewed late and a full semaphore are
// warnings.
func barStyle(sc *Scene, warn bool) paint.Style {
	if warn {
		return sc.Theme.Warn
	}
	return sc.Theme.Good
}

// sinceText returns the age of the row's present state.
func sinceText(sc *Scene, row *sources.Row, v verdict.Verdict) string {
	now := asOf(sc, row, v)
	switch {
	case len(row.Owners) == 1:
		return sc.Theme.Age(row.Owners[0].Since, now)
	case len(row.Owners) == 0 && !row.Nobody.At.IsZero():
		return sc.Theme.Age(row.Nobody, now)
	case len(row.Owners) > 1 || row.Taken > 0:
		return "" // of which one?
	}
	return "?"
}

// asOf returns the instant to which the ages of a row are counted: if the row is stale, the time at
// which its state was last known.
func asOf(sc *Scene, row *sources.Row, v verdict.Verdict) time.Time {
	if v.Status != sources.StatusStale {
		return sc.Now
	}
	return row.KnownAt(sc.State, sc.Now)
}
