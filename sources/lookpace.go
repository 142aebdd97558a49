package sources

import (
	"slices"
	"time"
)

// lookPace is how far apart the looks at a scope are from an instant on; 0: writes are pushed.
type lookPace struct {
	from  time.Time
	every time.Duration
}

// maxPaces bounds the paces that are kept of a scope.
const maxPaces = 32

// setPace keeps how far apart the looks are from at on. Of more than maxPaces the two oldest
// become one, which is the slower of both.
func (sc *scope) setPace(at time.Time, every time.Duration) {
	n := len(sc.paces)
	if n > 0 && sc.paces[n-1].every == every || n == 0 && every == 0 {
		return
	}
	list := slices.Clone(sc.paces)
	if n == maxPaces {
		list[1] = lookPace{list[0].from, max(list[0].every, list[1].every)}
		list = list[1:]
	}
	sc.paces = append(list, lookPace{at.Round(0), every})
}

// Every is the longest pause between two looks at the scope from one instant to another; 0: all of
// it was pushed, as far as is kept.
func (s *Scope) Every(from, to time.Time) (longest time.Duration) {
	for i := range s.paces {
		over := i+1 < len(s.paces) && !s.paces[i+1].from.After(from)
		if !over && s.paces[i].from.Before(to) {
			longest = max(longest, s.paces[i].every)
		}
	}
	return longest
}
