package lane

import (
	"math"
	"time"

	"coordtop/internal/ground/format"
)

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
