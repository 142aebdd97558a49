package dflocksource

import (
	"strings"
	"testing"
	"time"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/sources"
)

// TestAServerThatEndsSilentConnectionsSoonIsAskedMoreOften has looks that are further apart than its
// --read-timeout: the first cut is told with its cause, and there is no second.
func TestAServerThatEndsSilentConnectionsSoonIsAskedMoreOften(t *testing.T) {
	t.Parallel()
	r := serve(t, dflocktest.Options{ReadTimeout: 2 * time.Second}).watch(Options{PollMin: 6 * time.Second})
	down := r.Event(sources.EventSourceDown, "")
	if !strings.Contains(down.Detail, "after a silence of 2") || !strings.Contains(down.Detail, "its --read-timeout") {
		t.Errorf("it says %q", down.Detail)
	}
	looks := r.Received("stats")
	if err := r.Await(t.Context(), func() bool { return r.Received("stats") >= looks+4 }); err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Drain() {
		if e.Kind == sources.EventSourceDown {
			t.Errorf("it was cut again: %s", e.Detail)
		}
	}
}

func TestAnIdleCutOfTheURLBoundsThePauses(t *testing.T) {
	t.Parallel()
	o := Options{}
	o.Client.IdleCut = 600 * time.Millisecond
	o, err := o.withDefaults()
	if err != nil || o.PollMax != 300*time.Millisecond || o.PollMin != 300*time.Millisecond {
		t.Errorf("pauses from %v to %v, %v", o.PollMin, o.PollMax, err)
	}
}
