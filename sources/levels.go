package sources

import (
	"iter"
	"time"
)

// Level is how many permits of a semaphore were taken, from an instant up to the next
// Level.
type Level struct {
	At    time.Time
	Taken uint64 // at the end of it
	High  uint64 // the most that was seen in it
	Gone  bool   // it did not exist
}

const (
	// levelEvery is how long a level lasts at least: what changes faster is one level with
	// its highest. It is half of the shortest column in which people look at an hour.
	levelEvery = 5 * time.Second
	// maxLevels bounds the levels of a row, half of which are dropped at a time: 20 kB, and
	// 21 minutes at least.
	maxLevels = 512
)

// Counted is the history of a semaphore's count, and of its owners. Rows that are published
// share the list, which only grows behind what they see of it; the last level stands beside it.
type Counted struct {
	Past   []Level
	Last   Level
	Owners *OwnerTerms // nil: none were told; never changed once published
}

// with returns the levels with what a look showed; l may be nil.
func (l *Counted) with(p *Primitive) *Counted {
	if single(p) || !read(p) || !ownersKnown(p) && p.LimitHow == Unknown && !p.Absent {
		return l
	}
	now := Level{At: p.At, Taken: p.Taken, High: p.Taken, Gone: p.Absent}
	switch {
	case l == nil:
		return &Counted{Last: now}
	case l.Last.Taken == p.Taken && l.Last.Gone == p.Absent:
		return l
	case p.At.Sub(l.Last.At) < levelEvery && l.Last.Gone == p.Absent:
		return &Counted{Past: l.Past, Last: Level{At: l.Last.At, Taken: p.Taken, High: max(l.Last.High, p.Taken)}, Owners: l.Owners}
	}
	past := l.Past
	if len(past) == maxLevels {
		past = append(make([]Level, 0, maxLevels), past[maxLevels/2:]...)
	}
	return &Counted{Past: append(past, l.Last), Last: now, Owners: l.Owners}
}

func (l *Counted) first() time.Time {
	if len(l.Past) > 0 {
		return l.Past[0].At
	}
	return l.Last.At
}

// TakenSince returns since when the number of taken permits has been what it is, exact to the
// length of a level; zero: no count is known.
func (r *Row) TakenSince() (at time.Time) {
	if r.Counted != nil {
		at = r.Counted.Last.At
	}
	return at
}

// Leveled reports whether the row has levels: it is no primitive that one alone can own,
// and its count was told.
func (r *Row) Leveled() bool { return r.Counted != nil }

// Levels returns how many permits were taken since we first looked, the oldest first and
// the one that lasts last; none where one alone can own it, or no count is told.
func (r *Row) Levels() iter.Seq[Level] {
	return func(yield func(Level) bool) {
		if r.Counted == nil {
			return
		}
		for _, l := range r.Counted.Past {
			if !yield(l) {
				return
			}
		}
		yield(r.Counted.Last)
	}
}
