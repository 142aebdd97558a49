package ydbcoord

import (
	"testing"

	"coordtop/coord"
)

func TestSlowFollowerKeepsOneStateOfAName(t *testing.T) {
	t.Parallel()
	s := newSession(t.Context(), "/n", Options{TTL: defaultTTL}, coord.SessionOptions{})
	t.Cleanup(s.Abandon)
	f := s.Follow()
	if err := f.Add("a"); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range uint64(1000) {
		f.notifyLocked(SemaphoreState{Name: "a", request: i})
	}
	f.notifyLocked(SemaphoreState{Name: "a", request: 3})
	if len(f.ready) != 1 || len(f.latest) != 1 || f.latest["a"].request != 999 {
		t.Errorf("kept %d names and %d states, the newest %d", len(f.ready), len(f.latest), f.latest["a"].request)
	}
}
