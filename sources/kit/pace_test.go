package kit_test

import (
	"testing"
	"time"

	"coordtop/sources/kit"
)

func TestAPaceNeverPausesForNothing(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		pace  kit.Pace
		cost  time.Duration
		eager bool
		want  time.Duration
	}{
		{kit.Pace{}, 0, true, time.Second},
		{kit.Pace{}, 0, false, time.Second},
		{kit.Pace{Changed: now}, 0, false, time.Second},
		{kit.Pace{}, time.Minute, false, 20 * time.Minute},
		{kit.Pace{Min: 100 * time.Millisecond, Max: 5 * time.Second}, 0, true, 100 * time.Millisecond},
		{kit.Pace{Min: 100 * time.Millisecond, Max: 5 * time.Second}, time.Minute, true, 5 * time.Second},
	} {
		c.pace.AddCost(c.cost)
		if got := c.pace.Pause(now, c.eager); got != c.want {
			t.Errorf("%+v at a cost of %v pauses for %v, want %v", c.pace, c.cost, got, c.want)
		}
	}
}
