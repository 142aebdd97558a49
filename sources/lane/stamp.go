package lane

import (
	"math"
	"time"

	"coordtop/internal/ground/format"
)

// Known is the way in which we know something. It is shown with the fact, so that a guess never looks certain.
type Known uint8

// The ways of knowing. Unknown is the zero value: a value marked with it must not be
// shown as a number.
const (
	Unknown  Known = iota
	Told           // by the server
	Seen           // by us, as a difference of two looks: it happened in (After, At]
	Inferred       // it follows from what was told or seen
	AtLeast        // it was already so at our first look: at At or before
	Claimed        // written by the owner, on the owner's clock
	Bound          // no earlier than At (a connection's or transaction's start)
	Ours           // we did it ourselves
)

// String returns the word of the JSON documentation: "unknown", "told", "seen",
// "inferred", "at_least", "claimed", "bound", "ours".
func (k Known) String() string {
	return [...]string{"unknown", "told", "seen", "inferred", "at_least", "claimed", "bound", "ours"}[k]
}

// Stamp is an instant and how it is known. The zero Stamp is unknown. The instant is At, or lies in (After(), At] if
// StampBetween made the Stamp. A row has many Stamps, so the stretch is kept as its length in the padding after How.
type Stamp struct {
	At     time.Time
	How    Known
	within packedLength // zero if exactly At
}

// StampBetween returns the Stamp of an instant in (after, at]. If after is zero, or not before at, the instant is
// exactly at. A longer stretch than two years counts as two years.
func StampBetween(after, at time.Time, how Known) Stamp {
	s := Stamp{At: at, How: how}
	if !after.IsZero() && after.Before(at) {
		s.within = packLength(at.Sub(after))
	}
	return s
}

// After returns the exclusive lower bound of the instant, or zero if the instant is exactly At.
func (s Stamp) After() time.Time {
	if s.within == (packedLength{}) {
		return time.Time{}
	}
	return s.Earliest()
}

// Within returns the length of the stretch before At in which the instant may lie, or 0 if it is exactly At.
func (s Stamp) Within() time.Duration { return s.within.length() }

// Widened returns s with another length of the stretch before At, see Within.
func (s Stamp) Widened(within time.Duration) Stamp {
	s.within = packLength(within)
	return s
}

// Earliest returns the earliest possible instant.
func (s Stamp) Earliest() time.Time { return s.At.Add(-s.within.length()) }

// Happened reports whether s is the known instant of an event. If something had begun before our first look, only a
// bound or the claim of its owner is known.
func (s Stamp) Happened() bool {
	return s.How == Told || s.How == Seen || s.How == Inferred || s.How == Ours
}

// packedLength is a length of time, to the nanosecond, in seven bytes, the lowest byte first.
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

// Interval is a length of time that is known only to lie between two bounds. If Min == Max, it is exact. The zero
// Interval means none.
type Interval struct {
	Min, Max time.Duration

	// Every is the pause between the looks on which the bounds depend: they are valid if nothing came and went between
	// two looks. If it is 0, they are always valid.
	Every time.Duration
}

// Endless is the Max of an Interval without an upper bound, for something that had begun before our first look.
const Endless time.Duration = math.MaxInt64

// Plus returns the sum of both lengths.
func (i Interval) Plus(j Interval) Interval {
	sum := Interval{Min: i.Min + j.Min, Max: Endless, Every: max(i.Every, j.Every)}
	if i.Max < Endless-j.Max {
		sum.Max = i.Max + j.Max
	}
	return sum
}

// or returns bounds of the longer of two lengths.
func (i Interval) or(j Interval) Interval {
	return Interval{Min: max(i.Min, j.Min), Max: max(i.Max, j.Max), Every: max(i.Every, j.Every)}
}

// Short returns the length for a table: "2 s", "1 s - 2 s", "≤ 2 s", "≥ 1 s", and the looks on which it depends.
func (i Interval) Short() string { return i.written("≥ ", "≤ ", " - ") + i.Looks() }

// Text returns the length for people: "2 s", "1 s to 2 s", "up to 2 s", "at least 1 s", and the looks on which it
// depends.
func (i Interval) Text() string { return i.Bounds() + i.Looks() }

// Looks returns the looks on which the bounds depend, for example ", looks every 250 ms", or "" if the bounds are
// always valid.
func (i Interval) Looks() string {
	if i.Every == 0 {
		return ""
	}
	return ", looks every " + format.Precise(i.Every)
}

// Bounds returns Text without the looks.
func (i Interval) Bounds() string { return i.written("at least ", "up to ", " to ") }

// written returns the bounds as text: a single one after the word least or most, two with the word to between them.
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
