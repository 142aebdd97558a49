package sources

import (
	"encoding/binary"
	"math"
	"time"
)

// Rhythm is how often one owner renews its lease, as far as we saw. The zero Rhythm is
// unknown. It is kept in milliseconds, so that it fits into what an Owner leaves unused.
type Rhythm struct {
	every [4]byte // milliseconds: a number would be aligned, and leave room beside it unused
	seen  uint8
}

// millis is the usual pause; 0: unknown.
func (r Rhythm) millis() uint32 { return binary.LittleEndian.Uint32(r.every[:]) }

// usually returns the rhythm with another pause.
func (r Rhythm) usually(millis uint32) Rhythm {
	binary.LittleEndian.PutUint32(r.every[:], millis)
	return r
}

// RhythmOf is the rhythm of an owner that was seen to renew so many times, usually after
// this pause (0: unknown; 49 days at most). 255 renewals and more are counted as 255.
func RhythmOf(every time.Duration, renewals int) Rhythm {
	r := Rhythm{seen: uint8(min(max(renewals, 0), 255))}
	return r.usually(uint32(min(max(every.Milliseconds(), 0), math.MaxUint32)))
}

// RenewEvery is the usual pause between two renewals of this owner; 0: unknown.
func (o *Owner) RenewEvery() time.Duration {
	return time.Duration(o.Rhythm.millis()) * time.Millisecond
}

// renewed returns the rhythm with one more pause worked in. A single outlier, such as a
// missed renewal, moves it by a quarter at most.
func (r Rhythm) renewed(pause time.Duration) Rhythm {
	if r.seen < 255 {
		r.seen++
	}
	millis := int64(RhythmOf(pause, 0).millis())
	if usual := int64(r.millis()); usual > 0 && millis > 0 {
		millis = usual + (min(max(millis, usual/2), 2*usual)-usual)/4
	}
	if millis > 0 {
		r = r.usually(uint32(millis))
	}
	return r
}

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

// late reports whether a renewal of the owner is late at now: its lease may be over, or it
// is short, or its rhythm is broken and much of the lease is gone. Of owners that were never
// seen to renew only a leader is expected to.
func (o *Owner) late(now time.Time, leads bool, t Thresholds) bool {
	switch {
	case !leaseKnown(o):
		return false
	case leaseOver(o, now):
		return true
	case o.Lease <= 0 || !leads && o.Rhythm.seen == 0:
		return false
	}
	left := leaseLeft(o, now)
	return left < t.short(o.Lease) || o.Missed(now, t) >= t.LateMissed && left < t.worn(o.Lease)
}

// lateAt is the earliest instant at which late can be true if the owner stays as it is;
// zero: never.
func (o *Owner) lateAt(leads bool, t Thresholds) time.Time {
	if !leaseKnown(o) {
		return time.Time{}
	}
	at := earliest(o.Expires)
	if o.Lease <= 0 || !leads && o.Rhythm.seen == 0 {
		return at
	}
	at = Earlier(at, o.Expires.At.Add(-t.short(o.Lease)))
	if last, ok := lastRenewed(o); ok && o.RenewEvery() > 0 && int(o.Rhythm.seen) >= t.LateSeen {
		missed := last.Add(o.RenewEvery()*time.Duration(t.LateMissed) + o.RenewEvery()/2)
		at = Earlier(at, Later(missed, o.Expires.At.Add(-t.worn(o.Lease))))
	}
	return at
}

// late reports whether the renewal of one of the owners is late.
func (r *Row) late(now time.Time, t Thresholds) bool {
	for i := range r.Owners {
		if r.Owners[i].late(now, r.Kind == KindElection, t) {
			return true
		}
	}
	return false
}

// LateAt is the earliest instant at which the renewal of an owner can be late or its lease
// be over; zero: never, as long as the row stays as it is. Until then StatusAt names no
// owner late or silent. From then on it may, or find an excuse in a server that is silent.
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

// RenewEvery is the shortest usual pause between two renewals of an owner of the row; 0:
// none is known.
func (r *Row) RenewEvery() time.Duration {
	var shortest time.Duration
	for i := range r.Owners {
		if every := r.Owners[i].RenewEvery(); every > 0 && (shortest == 0 || every < shortest) {
			shortest = every
		}
	}
	return shortest
}
