package sources

import (
	"slices"
	"time"
)

// Promptness is how long ago the server can have sent a push, or the look before can be, for what is told to count as
// told at its instant.
const Promptness = 25 * time.Millisecond

// LookPace is how far apart the looks at a scope are from an instant on; 0: writes are pushed.
type LookPace struct {
	From  time.Time
	Every time.Duration
}

// maxPaces bounds the paces that are kept of a scope.
const maxPaces = 32

// setPace keeps how far apart the looks are from at on. Of more than maxPaces the two oldest
// become one, which is the slower of both.
func (sc *scope) setPace(at time.Time, every time.Duration) {
	n := len(sc.Paces)
	if n > 0 && sc.Paces[n-1].Every == every || n == 0 && every == 0 {
		return
	}
	list := slices.Clone(sc.Paces)
	if n == maxPaces {
		list[1] = LookPace{list[0].From, max(list[0].Every, list[1].Every)}
		list = list[1:]
	}
	sc.Paces = append(list, LookPace{at.Round(0), every})
}

// Every is the longest pause between two looks at the scope from one instant to another; 0: all of
// it was pushed, as far as is kept.
func (s *Scope) Every(from, to time.Time) (longest time.Duration) {
	for i := range s.Paces {
		over := i+1 < len(s.Paces) && !s.Paces[i+1].From.After(from)
		if !over && s.Paces[i].From.Before(to) {
			longest = max(longest, s.Paces[i].Every)
		}
	}
	return longest
}

// every is the longest pause between two looks at the row in a stretch that this look ends; 0: any
// write would have been told. A pause may be longer than was told, by what the looks took. Where a push was
// held up, and no proof shows the grant to be the same, it is no more than a look.
func (l *look) every(from, to time.Time) time.Duration {
	if l.of == nil {
		return 0
	}
	every := l.of.Every(from, to)
	pause := l.at.Sub(l.after)
	if (every > 0 || l.unproved && pause > Promptness) && !l.after.IsZero() && !l.darkened() && !wentDark(l.after, l.at, l.of.Dark) {
		every = max(every, pause)
	}
	return every
}

// pacedTerms returns a list of terms with the paces of those that ran at this look, or ended by it.
// It copies what it changes.
func (l *look) pacedTerms(list []Term) []Term {
	own := false
	for i := max(0, len(list)-2); i < len(list); i++ {
		t := &list[i]
		from, to := t.Start.Earliest(), t.End.At
		if i > 0 {
			from = list[i-1].End.Earliest()
		}
		if to.IsZero() {
			to = l.at
		}
		if every := l.every(from, to); every > t.Every && !to.Before(l.at) {
			if !own {
				list, own = slices.Clone(list), true
			}
			list[i].Every = every
		}
	}
	return list
}
