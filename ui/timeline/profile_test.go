package timeline_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/ui/timeline"
)

// profile returns the profile of a minute in columns of 5 s, a character each: a digit for
// eighths, F for full, - for not observed, blank for nothing recorded. It is observed since
// the first level.
func profile(limit uint64, dark []sources.Dark, now int, levels ...sources.Level) string {
	return wanted(-time.Hour, limit, dark, now, levels...)
}

// wanted is profile where somebody waits since that long after its start; 0: nobody does.
func wanted(since time.Duration, limit uint64, dark []sources.Dark, now int, levels ...sources.Level) string {
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var waits time.Time
	if since != 0 {
		waits = start.Add(since)
	}
	w := timeline.Window{Start: start, Step: 5 * time.Second, Columns: 12}
	var b strings.Builder
	observed := start.Add(-time.Hour)
	if len(levels) > 0 && levels[0].At.After(start) {
		observed = levels[0].At
	}
	for _, c := range w.Profile(nil, slices.Values(levels), limit, timeline.Lane{Lane: lane.Lane{Since: observed, Dark: dark}, Wanted: waits}, start.Add(time.Duration(now)*time.Second)) {
		switch c.Kind {
		case timeline.Full:
			b.WriteByte('F')
		case timeline.Taken:
			b.WriteByte('0' + c.Height)
		case timeline.Dark:
			b.WriteByte('-')
		case timeline.Absent:
			b.WriteByte('x')
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func TestAProfileIsFullOnlySinceSomebodyWaits(t *testing.T) {
	t.Parallel()
	full := sources.Level{At: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Taken: 8, High: 8}
	for since, want := range map[time.Duration]string{0: "888888888   ", -time.Minute: "FFFFFFFFF   ", 22 * time.Second: "8888FFFFF   ", 44 * time.Second: "88888888F   "} {
		if got := wanted(since, 8, nil, 44, full); got != want {
			t.Errorf("wanted since %v: %q, not %q", since, got, want)
		}
	}
}

func TestProfileShowsTheHighestOfEachColumn(t *testing.T) {
	t.Parallel()
	at := func(s float64) time.Time {
		return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(time.Duration(s * float64(time.Second)))
	}
	level := func(s float64, n uint64) sources.Level { return sources.Level{At: at(s), Taken: n, High: n} }
	for _, c := range []struct {
		name   string
		limit  uint64
		dark   []sources.Dark
		levels []sources.Level
		want   string
	}{
		{"nothing is recorded", 10, nil, nil, "            "},
		{"from the first look to now", 8, nil, []sources.Level{level(12, 4)}, "--4444444   "},
		{"from before the window", 8, nil, []sources.Level{level(-100, 2)}, "222222222   "},
		{"none is taken", 8, nil, []sources.Level{level(0, 0)}, "000000000   "},
		{"one of many is not nothing", 1000, nil, []sources.Level{level(0, 1)}, "111111111   "},
		{"all but one is not full", 1000, nil, []sources.Level{level(0, 999)}, "777777777   "},
		{"full for a moment", 4, nil, []sources.Level{level(0, 1), level(21, 4), level(22, 1)}, "2222F2222   "},
		{"the highest within a level", 4, nil, []sources.Level{level(0, 1), {At: at(20), Taken: 1, High: 4}, level(25, 1)}, "2222F2222   "},
		{"no limit is known", 0, nil, []sources.Level{level(0, 3), level(20, 7)}, "333377777   "},
		{"absent, made, deleted", 4, nil, []sources.Level{{At: at(0), Gone: true}, level(20, 2), {At: at(30), Gone: true}}, "xxxx44xxx   "},
		{"not observed", 4, []sources.Dark{{From: at(20), To: at(35)}}, []sources.Level{level(0, 2)}, "4444---44   "},
	} {
		if got := profile(c.limit, c.dark, 42, c.levels...); got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}
