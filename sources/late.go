package sources

import "time"

// Missed counts the renewals of this owner that are overdue at now, by its own rhythm. Half
// a pause is granted before one counts. 0 also where too few were seen to know a rhythm.
func (o *Owner) Missed(now time.Time, t Thresholds) int {
	last, ok := lastRenewed(o)
	every := o.RenewEvery()
	if !ok || every <= 0 || int(o.Rhythm.seen) < t.LateSeen {
		return 0
	}
	return max(0, int((now.Sub(last)+every/2)/every)-1)
}

// lastRenewed is when the owner last proved that it lives: by a renewal, else by taking
// it, where that was not earlier than we could see.
func lastRenewed(o *Owner) (time.Time, bool) {
	if o.NoExpiry {
		return time.Time{}, false
	}
	if o.Renewed.How != Unknown {
		return o.Renewed.At, true
	}
	return o.Since.At, o.Since.How == Told || o.Since.How == Seen || o.Since.How == Ours
}

// lateAt is when a renewal of the owner is late if the owner stays as it is: its lease may be over,
// or it is short, or its rhythm is broken and much of the lease is gone. Of owners that were never
// seen to renew only a leader is expected to. Zero: never.
func (o *Owner) lateAt(leads bool, t Thresholds) time.Time {
	if !leaseKnown(o) {
		return time.Time{}
	}
	at := o.Expires.Earliest()
	if o.Lease <= 0 || !leads && o.Rhythm.seen == 0 {
		return at
	}
	at = Earlier(at, o.Expires.At.Add(1-share(o.Lease, t.LateLeft))) // less is left then
	if last, ok := lastRenewed(o); ok && o.RenewEvery() > 0 && int(o.Rhythm.seen) >= t.LateSeen {
		missed := last.Add(o.RenewEvery()*time.Duration(t.LateMissed) + o.RenewEvery()/2)
		at = Earlier(at, Later(missed, o.Expires.At.Add(1-share(o.Lease, t.LateWorn))))
	}
	return at
}

// share is a part of a lease.
func share(lease time.Duration, part float64) time.Duration {
	return time.Duration(float64(lease) * part)
}

// late reports whether the renewal of one of the owners is late.
func (r *Row) late(now time.Time, t Thresholds) bool {
	at := r.LateAt(t)
	return !at.IsZero() && !now.Before(at)
}

// LateAt is the instant from which on the renewal of an owner is late or its lease may be over;
// zero: never, as long as the row stays as it is. Until then StatusAt names no owner late or
// silent. From then on it does, or finds an excuse in a server that is silent.
func (r *Row) LateAt(t Thresholds) time.Time {
	var first time.Time
	for i := range r.Owners {
		at := r.Owners[i].lateAt(r.Kind == KindElection, t)
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}
