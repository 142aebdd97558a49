package sources_test

import (
	"testing"
	"time"

	"coordtop/sources"
)

func TestAPaceNeverPausesForNothing(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		pace  sources.Pace
		cost  time.Duration
		eager bool
		want  time.Duration
	}{
		{sources.Pace{}, 0, true, time.Second},
		{sources.Pace{}, 0, false, time.Second},
		{sources.Pace{Changed: now}, 0, false, time.Second},
		{sources.Pace{}, time.Minute, false, 20 * time.Minute},
		{sources.Pace{Min: 100 * time.Millisecond, Max: 5 * time.Second}, 0, true, 100 * time.Millisecond},
		{sources.Pace{Min: 100 * time.Millisecond, Max: 5 * time.Second}, time.Minute, true, 5 * time.Second},
	} {
		c.pace.AddCost(c.cost)
		if got := c.pace.Pause(now, c.eager); got != c.want {
			t.Errorf("%+v at a cost of %v pauses for %v, want %v", c.pace, c.cost, got, c.want)
		}
	}
}

func TestARowOfAnotherStateIsRecordedSinceNever(t *testing.T) {
	t.Parallel()
	row, s := &sources.Row{Primitive: &sources.Primitive{}, Scope: 1}, &sources.State{Scopes: make([]sources.Scope, 1)}
	if at := row.RecordedSince(s); !at.IsZero() {
		t.Errorf("recorded since %v", at)
	}
	if at := row.OwnerTermsSince(s); !at.IsZero() {
		t.Errorf("terms since %v", at)
	}
	if len(row.Unobserved(s)) > 0 || row.Fresh(s) {
		t.Error("it is fresh, or was observed in part")
	}
}
