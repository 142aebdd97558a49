package lane

import (
	"math"
	"time"

	"coordtop/internal/format"
)

// Interval is a length of time that is known only to lie between two bounds.
// Min == Max: exact. The zero Interval is "none".
type Interval struct {
	Min, Max time.Duration

	// Every is how far apart the looks were that the bounds rest on: they hold if nothing came and
	// went between two of them. 0: they hold whatever happened.
	Every time.Duration
}

// Plus is how long both are together.
func (i Interval) Plus(j Interval) Interval {
	return Interval{Min: i.Min + j.Min, Max: i.Max + j.Max, Every: max(i.Every, j.Every)}
}

// Text writes it for people: "2 s", "1 s to 2 s", "up to 2 s", "at least 1 s".
func (i Interval) Text() string {
	low, high := format.Precise(i.Min), format.Precise(i.Max)
	switch {
	case low == high:
		return high
	case i.Max == Endless:
		return "at least " + low
	case i.Min <= 0:
		return "up to " + high
	}
	return low + " to " + high
}

// Endless is the Max of an Interval that has no upper bound: of what was so already when we
// first looked.
const Endless time.Duration = math.MaxInt64
