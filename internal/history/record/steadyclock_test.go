package record

import (
	"testing"
	"time"

	"coordtop/sources"
)

func TestAClockThatWasSetAheadDropsNothing(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	at := func(wall, mono time.Duration) sources.Instant {
		return sources.Instant{Wall: noon.Add(wall), Mono: mono}
	}
	for name, c := range map[string]struct {
		before time.Duration // when the run before ended; 0: there was none
		now    []sources.Instant
		want   []time.Duration // since noon
	}{
		"nothing was recorded":         {0, []sources.Instant{at(0, 0), at(time.Minute, time.Minute)}, []time.Duration{0, time.Minute}},
		"it ended an hour before":      {-time.Hour, []sources.Instant{at(time.Minute, time.Minute), at(time.Hour, time.Hour)}, []time.Duration{-59 * time.Minute, time.Hour}},
		"set ahead for a while":        {0, []sources.Instant{at(30*day, time.Second), at(30*day+time.Minute, time.Minute), at(2*time.Minute, 2*time.Minute)}, []time.Duration{time.Second, time.Minute, 2 * time.Minute}},
		"set ahead after hours":        {0, []sources.Instant{at(2*time.Hour, 2*time.Hour), at(30*day, 3*time.Hour), at(30*day+time.Hour, 4*time.Hour)}, []time.Duration{2 * time.Hour, 3 * time.Hour, 30*day + time.Hour}},
		"put back":                     {0, []sources.Instant{at(-day, time.Second), at(-day+time.Hour, time.Hour)}, []time.Duration{-day, -day + time.Hour}},
		"the run before was ahead":     {30 * day, []sources.Instant{at(time.Minute, time.Minute)}, []time.Duration{time.Minute}},
		"a machine that was off, long": {-40 * day, []sources.Instant{at(time.Minute, time.Minute), at(time.Hour, time.Hour)}, []time.Duration{-40*day + time.Minute, time.Hour}},
	} {
		var clock steadyClock
		before := noon.Add(c.before)
		if c.before == 0 {
			before = time.Time{}
		}
		clock.start(before, at(0, 0))
		for i, now := range c.now {
			if got := clock.at(now).Sub(noon); (got - c.want[i]).Abs() > time.Second {
				t.Errorf("%s: at %v it is %v, want %v", name, now.Mono, got, c.want[i])
			}
		}
	}
}
