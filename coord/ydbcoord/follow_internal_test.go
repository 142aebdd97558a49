package ydbcoord

import (
	"testing"
	"time"

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

func TestPausesBetweenAttachesFollowTheWishWithinTheSession(t *testing.T) {
	t.Parallel()
	const longest = 2 * time.Second
	for wish, want := range map[coord.Backoff]coord.Backoff{
		{}: {Min: 200 * time.Millisecond, Max: longest},
		{Min: 30 * time.Millisecond, Max: time.Second}: {Min: 30 * time.Millisecond, Max: time.Second},
		{Min: time.Minute, Max: time.Hour}:             {Min: longest, Max: longest},
	} {
		if got := coord.Backoff(attachPauses(wish, longest)); got != want {
			t.Errorf("%+v: %+v, want %+v", wish, got, want)
		}
	}
}
