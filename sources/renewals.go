package sources

import "time"

// Missed counts the renewals that are overdue at now, by the usual pause of the row; of
// several owners, those of the one that is latest. 0 also where no pause is known.
func (r *Row) Missed(now time.Time) int {
	if r.RenewEvery <= 0 {
		return 0
	}
	most := 0
	for i := range r.Owners {
		last, ok := lastRenewed(&r.Owners[i])
		if !ok {
			continue
		}
		// Half a pause is granted before a renewal counts as missed.
		most = max(most, int((now.Sub(last)+r.RenewEvery/2)/r.RenewEvery)-1)
	}
	return most
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

// usualPause works one more pause between two renewals into the usual one. A single
// outlier, such as a missed renewal, moves it by a quarter at most.
func usualPause(usual, pause time.Duration) time.Duration {
	switch {
	case pause <= 0:
		return usual
	case usual <= 0:
		return pause
	}
	return usual + (min(max(pause, usual/2), 2*usual)-usual)/4
}

// lateLeft is the part of its lease that an owner is expected never to come down to.
// Those who renew leave themselves two tries at least, so they renew above a third.
const lateLeft = 3

// renewalLate says whether the renewal of one of the owners is late: by the usual pause
// where that is known, else by how little of the lease is left.
func (r *Row) renewalLate(now time.Time) bool {
	for i := range r.Owners {
		o := &r.Owners[i]
		if leaseKnown(o) && (leaseOver(o, now) || r.RenewEvery == 0 && o.Lease > 0 && leaseLeft(o, now) < o.Lease/lateLeft) {
			return true
		}
	}
	return r.Missed(now) > 0
}

// LateAt is the earliest instant at which the renewal of an owner can be late or its lease
// be over; zero: never, as long as the row stays as it is. Until then StatusAt names no
// owner late or silent. From then on it may, or find an excuse in a server that is silent.
func (r *Row) LateAt() time.Time {
	var first time.Time
	at := func(t time.Time) {
		if first.IsZero() || t.Before(first) {
			first = t
		}
	}
	for i := range r.Owners {
		o := &r.Owners[i]
		if leaseKnown(o) {
			at(earliest(o.Expires))
			if r.RenewEvery == 0 && o.Lease > 0 {
				at(o.Expires.At.Add(-o.Lease / lateLeft))
			}
		}
		if last, ok := lastRenewed(o); ok && r.RenewEvery > 0 {
			at(last.Add(r.RenewEvery + r.RenewEvery/2)) // see Missed
		}
	}
	return first
}

// silent says whether an owner that used to renew has stopped, or its lease is over
// and it is still there. A lock that is never renewed is not late before its end.
func (r *Row) silent(now time.Time) bool {
	for i := range r.Owners {
		if leaseOver(&r.Owners[i], now) {
			return true
		}
	}
	return r.Missed(now) > 0
}
