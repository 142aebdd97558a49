package lane

import (
	"math"
	"time"

	"coordtop/internal/ground/format"
)

// Known is the way in which we know something. It is printed, so that a guess never looks like a fact.
type Known uint8

// The ways of knowing. Unknown is the zero value: a value marked with it must not be
// shown as a number.
const (
	Unknown  Known = iota
	Told           // by the server
	Seen           // by us, as a difference of two looks: it happened in (After, At]
	Inferred       // it follows from what was told or seen
	AtLeast        // it was already so when we first looked: at At or before
	Claimed        // written by the owner, on the owner's clock
	Bound          // no earlier than this (a connection's or transaction's start)
	Ours           // we did it ourselves
)

// String returns the word of the JSON documentation: "unknown", "told", "seen",
// "inferred", "at_least", "claimed", "bound", "ours".
func (k Known) String() string {
	return [...]string{"unknown", "told", "seen", "inferred", "at_least", "claimed", "bound", "ours"}[k]
}

// Stamp is an instant and how it is known. The zero Stamp is unknown. The instant is At, or
// lies in (After(), At] where StampBetween made it. A row has many of them: the stretch is
// kept as its length, and beside How, so that it takes no room of its own.
type Stamp struct {
	At     time.Time
	How    Known
	within packedLength // zero: At exactly
}

// StampBetween stamps an instant in (after, at]. A zero after, and one that is not before
// at, mean at exactly. More than two years count as two years.
func StampBetween(after, at time.Time, how Known) Stamp {
	s := Stamp{At: at, How: how}
	if !after.IsZero() && after.Before(at) {
		s.within = packLength(at.Sub(after))
	}
	return s
}

// After returns the lower bound of the instant, which is later; zero: it is At exactly.
func (s Stamp) After() time.Time {
	if s.within == (packedLength{}) {
		return time.Time{}
	}
	return s.Earliest()
}

// Within returns the length of the stretch before At in which s may lie; 0: it is At exactly.
func (s Stamp) Within() time.Duration { return s.within.length() }

// Widened returns s with another length of the stretch that ends at At: see Within.
func (s Stamp) Widened(within time.Duration) Stamp {
	s.within = packLength(within)
	return s
}

// Earliest returns the first instant that s may be.
func (s Stamp) Earliest() time.Time { return s.At.Add(-s.within.length()) }

// Happened reports whether s is the instant of an event, as far as is known: of what had begun before our first
// look only a bound is known, or the claim of its owner.
func (s Stamp) Happened() bool {
	return s.How == Told || s.How == Seen || s.How == Inferred || s.How == Ours
}

// packedLength is a length of time, to the nanosecond, in seven bytes, the lowest first.
type packedLength [7]byte

// longestPacked is the longest time that a packedLength can hold: 834 days.
const longestPacked = 1<<(8*len(packedLength{})) - 1

// packLength packs d, which is not negative.
func packLength(d time.Duration) packedLength {
	var s packedLength
	n := uint64(min(d, longestPacked))
	for i := range s {
		s[i] = byte(n >> (8 * i))
	}
	return s
}

func (s packedLength) length() time.Duration {
	var n uint64
	for i, b := range s {
		n |= uint64(b) << (8 * i)
	}
	return time.Duration(n)
}

// Interval is a length of time that is known only to lie between two bounds.
// Min == Max: exact. The zero Interval is "none".
type Interval struct {
	Min, Max time.Duration

	// Every is the pause between the looks that the bounds rest on: they hold if nothing came and went between
	// two of them. 0: they hold whatever happened.
	Every time.Duration
}

// Endless is the Max of an Interval without an upper bound: of what had begun before our first look.
const Endless time.Duration = math.MaxInt64

// Plus returns the length of both together.
func (i Interval) Plus(j Interval) Interval {
	sum := Interval{Min: i.Min + j.Min, Max: Endless, Every: max(i.Every, j.Every)}
	if i.Max < Endless-j.Max {
		sum.Max = i.Max + j.Max
	}
	return sum
}

// or returns the longer one of two lengths, of which each is known so far.
func (i Interval) or(j Interval) Interval {
	return Interval{Min: max(i.Min, j.Min), Max: max(i.Max, j.Max), Every: max(i.Every, j.Every)}
}

// Short writes the length for a table: "2 s", "1 s - 2 s", "≤ 2 s", "≥ 1 s", and the looks on which it rests.
func (i Interval) Short() string { return i.written("≥ ", "≤ ", " - ") + i.Looks() }

// Text writes the length for people: "2 s", "1 s to 2 s", "up to 2 s", "at least 1 s", and the looks on which
// it rests.
func (i Interval) Text() string { return i.Bounds() + i.Looks() }

// Looks names the looks on which the bounds rest, as ", looks every 250 ms"; "": they hold whatever happened.
func (i Interval) Looks() string {
	if i.Every == 0 {
		return ""
	}
	return ", looks every " + format.Precise(i.Every)
}

// Bounds is Text without the looks.
func (i Interval) Bounds() string { return i.written("at least ", "up to ", " to ") }

// written returns the bounds, with least or most before a single one, and to between two.
func (i Interval) written(least, most, to string) string {
	low, high := format.Precise(i.Min), format.Precise(i.Max)
	switch {
	case low == high:
		return high
	case i.Max == Endless:
		return least + low
	case i.Min <= 0:
		return most + high
	}
	return low + to + high
}
