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

// Every is the usual pause between two renewals; 0: unknown.
func (r Rhythm) Every() time.Duration { return time.Duration(r.millis()) * time.Millisecond }

// Renewals is how many were seen, at most 255.
func (r Rhythm) Renewals() int { return int(r.seen) }

// RenewEvery is the usual pause between two renewals of this owner; 0: unknown.
func (o *Owner) RenewEvery() time.Duration { return o.Rhythm.Every() }

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
