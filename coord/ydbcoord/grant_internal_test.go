package ydbcoord

import (
	"errors"
	"testing"

	"coordtop/coord"
)

func TestGuardBelievesOnlySightsThatWereAskedForAfterTheGrant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		sight  Sight
		isLost bool
	}{
		{"older and without us", Sight{request: 7}, false},
		{"newer and with us", Sight{request: 8, Semaphore: Semaphore{Owners: []Link{{Session: 1, Order: 5}}}}, false},
		{"newer and without us", Sight{request: 8}, true},
		{"newer and with us in another term", Sight{request: 8, Semaphore: Semaphore{Owners: []Link{{Session: 1, Order: 6}}}}, true},
		{"newer and with another of our order", Sight{request: 8, Semaphore: Semaphore{Owners: []Link{{Session: 2, Order: 5}}}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t.Context(), nil, "/n", Options{TTL: defaultTTL}, coord.SessionOptions{})
			t.Cleanup(s.Abandon)
			s.mu.Lock()
			s.id = 1
			g := s.newGrantLocked(wish{name: "m"}, 5, 7)
			g.seenLocked(c.sight)
			s.mu.Unlock()
			if errors.Is(g.Err(), coord.ErrLost) != c.isLost {
				t.Errorf("the grant: %v", g.Err())
			}
		})
	}
}
