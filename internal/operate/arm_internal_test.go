package operate

import (
	"testing"
	"time"

	"coordtop/internal/suspend"
)

func TestTheTimeAsleepIsWhatEitherClockTells(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		slept, passed, wall time.Duration
		want                time.Duration
	}{
		{"awake", 0, time.Minute, time.Minute, 0},
		{"noise", suspend.Noise, time.Minute, time.Minute + suspend.Noise, 0},
		{"told by the clock of suspends", time.Hour, time.Minute, time.Minute + time.Hour, time.Hour},
		{"told by the wall clock alone", 0, time.Minute, time.Hour + time.Minute, time.Hour},
		{"the wall clock was set back", time.Hour, time.Minute, -time.Hour, time.Hour},
	} {
		if got := asleepFor(c.slept, c.passed, c.wall); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
