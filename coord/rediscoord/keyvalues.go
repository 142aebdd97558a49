package rediscoord

import (
	"slices"
	"sync"
	"time"
)

// mostCandidates is how many proclamations may be without an answer at a time.
const mostCandidates = 8

// keyValues knows which values of ours the key may hold. Normally that is one. A
// proclamation whose answer was lost may have been obeyed, or be obeyed late, from a
// buffer of a link that we gave up, even after another one was confirmed: until it is too
// old for that its value counts as possible. It is safe for concurrent use.
type keyValues struct {
	mu         sync.Mutex
	current    string
	candidates []candidate
	changes    int // grows with every change of what is possible
}

// candidate is a value that was sent.
type candidate struct {
	value     string
	until     time.Time // when it cannot arrive any more; zero while it is being sent
	uncertain bool      // an answer to it was lost
}

// possible returns the values that the key may hold, the likeliest first, and the count
// of changes that they were read at.
func (s *keyValues) possible() ([]string, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.candidates = slices.DeleteFunc(s.candidates, func(g candidate) bool { return !g.until.IsZero() && now.After(g.until) })
	values := []string{s.current}
	for _, g := range s.candidates {
		if !slices.Contains(values, g.value) {
			values = append(values, g.value)
		}
	}
	return values, s.changes
}

// sending counts a value as possible, before it is sent; false: too many are.
func (s *keyValues) sending(value string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.indexLocked(value)
	if i < 0 && len(s.candidates) >= mostCandidates {
		return false
	}
	if i < 0 {
		s.candidates = append(s.candidates, candidate{value: value})
		s.changes++
	} else {
		s.candidates[i].until = time.Time{}
	}
	return true
}

// unanswered notes that an answer about a sent value was lost.
func (s *keyValues) unanswered(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.indexLocked(value); i >= 0 {
		s.candidates[i].uncertain = true
	}
}

// sent ends the sending of a value. If every answer came it is then forgotten, else
// it stays possible for as long as it may arrive late.
func (s *keyValues) sent(value string, late time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.indexLocked(value)
	switch {
	case i < 0:
	case s.candidates[i].uncertain:
		s.candidates[i].until = time.Now().Add(late)
	default:
		s.candidates = slices.Delete(s.candidates, i, i+1)
		s.changes++
	}
}

// confirmed notes that the key was seen to hold value.
func (s *keyValues) confirmed(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.confirmLocked(value)
}

func (s *keyValues) confirmLocked(value string) {
	if s.current != value {
		s.current = value
		s.changes++
	}
}

// confirmedAt is confirmed for an answer to a question that was asked when the count of changes
// was before. An answer that a proclamation has overtaken, on another connection, was
// true when it was given and says nothing of now.
func (s *keyValues) confirmedAt(value string, before int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes == before {
		s.confirmLocked(value)
	}
}

func (s *keyValues) indexLocked(value string) int {
	return slices.IndexFunc(s.candidates, func(g candidate) bool { return g.value == value })
}

// find asks do for every possible value until one is the right one. It asks again when
// the possible changed meanwhile, and once more when there are candidates, one of which may
// have moved the key behind our back: only then it reports that none is right.
func (s *keyValues) find(do func(value string) (bool, error)) (bool, error) {
	for rounds := 1; ; rounds++ {
		values, before := s.possible()
		for _, value := range values {
			right, err := do(value)
			if err != nil {
				return false, err
			}
			if right {
				s.confirmedAt(value, before)
				return true, nil
			}
		}
		if _, now := s.possible(); now == before && (len(values) == 1 || rounds > 1) {
			return false, nil
		}
	}
}
