package lane

import (
	"iter"
	"time"
)

// Dark is a stretch in which a scope, or one row of it, was not observed. To zero: it lasts.
type Dark struct{ From, To time.Time }

// Observed yields the beginning and the end of each piece of [from, to) that lies in no stretch of
// dark, which is in the order of its beginnings. What lies between two pieces was not observed.
func Observed(from, to time.Time, dark []Dark) iter.Seq2[time.Time, time.Time] {
	return func(yield func(from, to time.Time) bool) {
		at := from
		for _, d := range dark {
			if !d.From.Before(to) {
				break
			}
			if at.Before(d.From) && !yield(at, d.From) || d.To.IsZero() {
				return
			}
			at = Later(at, d.To)
		}
		if at.Before(to) {
			yield(at, to)
		}
	}
}

// observed is how much of a stretch lies in no stretch of dark.
func observed(from, to time.Time, dark []Dark) (sum time.Duration) {
	for from, to := range Observed(from, to, dark) {
		sum += to.Sub(from)
	}
	return sum
}
