package ydbcoord

import (
	"errors"
	"testing"

	"coordtop/coord"
)

func TestGuardBelievesOnlyStatesThatWereAskedForAfterTheGrant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		state  SemaphoreState
		isLost bool
	}{
		{"older and without us", SemaphoreState{request: 7}, false},
		{"newer and with us", SemaphoreState{request: 8, Semaphore: Semaphore{Owners: []SemaphoreMember{{Session: 1, Order: 5}}}}, false},
		{"newer and without us", SemaphoreState{request: 8}, true},
		{"newer and with us in another term", SemaphoreState{request: 8, Semaphore: Semaphore{Owners: []SemaphoreMember{{Session: 1, Order: 6}}}}, true},
		{"newer and with another of our order", SemaphoreState{request: 8, Semaphore: Semaphore{Owners: []SemaphoreMember{{Session: 2, Order: 5}}}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t.Context(), "/n", Options{TTL: defaultTTL}, coord.SessionOptions{})
			t.Cleanup(s.Abandon)
			s.mu.Lock()
			s.id = 1
			g := s.newGrantLocked(claimParams{name: "m"}, 5, 7)
			g.seenLocked(c.state)
			s.mu.Unlock()
			if errors.Is(g.Err(), coord.ErrLost) != c.isLost {
				t.Errorf("the grant: %v", g.Err())
			}
		})
	}
}
