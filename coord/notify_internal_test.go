package coord

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestStatesAreHandedOverOneAfterTheOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []time.Duration
		inside := 0
		te := newNotifier(t.Context(), SessionOptions{OnState: func(c StateChange) {
			if inside++; inside > 1 {
				t.Error("called twice at a time")
			}
			time.Sleep(time.Second)
			got = append(got, c.Retry)
			inside--
		}})
		start := time.Now()
		var want []time.Duration
		for n := range 50 {
			te.notify(StateChange{Retry: time.Duration(n)})
			want = append(want, time.Duration(n))
		}
		if time.Since(start) != 0 {
			t.Error("telling waits for who is told")
		}
		te.flush()
		if !slices.Equal(got, want) {
			t.Errorf("handed over %v", got)
		}
		te.flush() // nothing to wait for
	})
}

func TestSessionIsDoubtfulUntilTheServiceIsHeardOfAgain(t *testing.T) {
	t.Parallel()
	cut := errors.New("cut")
	a, b := &keeper{}, &keeper{}
	for name, c := range map[string]struct {
		steps func(h *health)
		want  State
	}{
		"nothing failed":                    {func(*health) {}, StateOpen},
		"one failed":                        {func(h *health) { h.failed(a, cut) }, StateDoubtful},
		"it was confirmed":                  {func(h *health) { h.failed(a, cut); h.confirmed(a) }, StateOpen},
		"another was confirmed":             {func(h *health) { h.failed(a, cut); h.confirmed(b) }, StateDoubtful},
		"both failed, one was confirmed":    {func(h *health) { h.failed(a, cut); h.failed(b, cut); h.confirmed(a) }, StateDoubtful},
		"it ended without an answer":        {func(h *health) { h.failed(a, cut); h.left(a) }, StateDoubtful},
		"and then the service answered":     {func(h *health) { h.failed(a, cut); h.left(a); h.confirmed(nil) }, StateOpen},
		"and another is doubtful":           {func(h *health) { h.failed(a, cut); h.failed(b, cut); h.left(a); h.confirmed(nil) }, StateDoubtful},
		"what was not doubtful ended":       {func(h *health) { h.left(a) }, StateOpen},
		"nothing comes after the end":       {func(h *health) { h.set(StateEnded, cut); h.failed(a, cut); h.confirmed(a); h.set(StateOpen, nil) }, StateEnded},
		"doubtful ends as well":             {func(h *health) { h.failed(a, cut); h.set(StateEnded, cut) }, StateEnded},
		"a late answer opens nothing again": {func(h *health) { h.failed(a, cut); h.set(StateEnded, cut); h.confirmed(a) }, StateEnded},
	} {
		h := newHealth(&notifier{})
		h.set(StateOpen, nil)
		c.steps(h)
		if got := h.now(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
