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

// lease draws how much is left of the lease, or what there is instead of one.
func (p *locksPane) lease(l *paint.Line, r *locksRow, w int) {
	sc, row, v := p.Scene, r.Row, r.v
	switch {
	case v.Status == sources.StatusStale && row.Kind == sources.KindSemaphore:
		l.Cell(sc.Theme.Dim, permitsText(row)+" old", w)
	case v.Status == sources.StatusStale:
		l.Cell(sc.Theme.Dim, "old", w)
	case row.Limited():
		st := sc.Theme.Good
		if v.Faults.Has(verdict.Full) {
			st = sc.Theme.Warn
		}
		l.Bar(st, float64(row.Taken)/float64(row.Limit), permitsText(row), w)
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

// permitsText is how many permits are taken of how many, if there is a limit.
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

// drawOwnerLease draws what is left of an owner's lease, or what it has instead of one: an owner by session
// that has left a transaction open is told by its backend, and is how locks are forgotten.
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
		l.Bar(leaseStyle(sc, v.Faults.Has(verdict.Late)), float64(left)/float64(o.Lease), format.Left(left), w)
	}
}

// LeaseText is what is left of an owner's lease, or what it has instead of one.
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

// leaseNote says how well the lease is renewed; "" where nothing is known.
func leaseNote(sc *Scene, row *sources.Row, v verdict.Verdict, w int) string {
	o, l := &row.Owners[0], sc.Theme.Line(w).Skip(4)
	say := func(st paint.Style, text string) {
		if l.X > 4 {
			l.Put(sc.Theme.Dim, ", ")
		}
		l.Put(st, text)
	}
	if thinned(sc) && o.Lease > 0 && !o.NoExpiry {
		say(sc.Theme.Dim, noRenewals)
		return l.Done()
	}
	asOf := asOf(sc, row, v)
	if !o.Renewed.At.IsZero() {
		ago := " ago"
		if v.Status == sources.StatusStale {
			ago = " before that"
		}
		say(sc.Theme.Dim, "renewed "+format.Precise(asOf.Sub(o.Renewed.At))+ago)
	}
	if every := o.RenewEvery(); every > 0 {
		say(sc.Theme.Dim, "usually every "+format.Precise(every))
	}
	if v.Faults.Has(verdict.Late) {
		if n := o.Missed(sc.Now, sc.State.Thresholds); n > 0 {
			say(sc.Theme.Warn, paint.Count(n, "renewal")+" missed")
		}
	}
	if low := row.LowestLeaseAt(asOf); low > 0 {
		say(sc.Theme.Dim, "never below "+format.Precise(low))
	}
	if l.X == 4 {
		return ""
	}
	return l.Done()
}

// leaseStyle is how a lease is drawn: a renewal that is late is worth a look.
func leaseStyle(sc *Scene, late bool) paint.Style {
	if late {
		return sc.Theme.Warn
	}
	return sc.Theme.Good
}

// sinceText is for how long the row has been as it is.
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

// asOf is the instant to which the ages of a row are counted: where it is stale, they
// end when it was last known to be so.
func asOf(sc *Scene, row *sources.Row, v verdict.Verdict) time.Time {
	if v.Status != sources.StatusStale {
		return sc.Now
	}
	return row.KnownAt(sc.State, sc.Now)
}
