package history_test

import (
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// TestAGapThatLastsIsMarkedAsTheTermBeforeIt has a lane that is looked at, and free in the end.
func TestAGapThatLastsIsMarkedAsTheTermBeforeIt(t *testing.T) {
	t.Parallel()
	stamp := func(d time.Duration) sources.Stamp { return sources.Stamp{At: at(d), How: sources.Seen} }
	l := history.Lane{Since: at(0), Terms: []sources.Term{{Start: stamp(0), End: stamp(time.Minute), Every: time.Second}}}
	span, want := history.Span{From: at(0), To: at(time.Hour)}, sources.Interval{Min: 59 * time.Minute, Max: 59 * time.Minute, Every: time.Second}
	known := l.Known()
	if gaps, sum := l.Gaps(span), known.Sum(span, span.To); len(gaps) != 1 || gaps[0].Sum != want || gaps[0].Unbroken != want || sum.Nobody != want || sum.Longest != want {
		t.Errorf("the gaps are %+v, in all %+v; want %+v", gaps, sum, want)
	}
	tally := lane.NewTally(span, time.Time{}, nil)
	tally.Add(&l.Terms[0])
	if sum := tally.Sum(); sum.Nobody != want || sum.Longest != want {
		t.Errorf("summed up, it is %+v, want %+v", sum, want)
	}
}

func TestWhatWasNotRecordedIsNoGap(t *testing.T) {
	t.Parallel()
	stamp := func(s int, how sources.Known) sources.Stamp {
		return sources.Stamp{At: at(time.Duration(s) * time.Second), How: how}
	}
	const never = -1
	for name, c := range map[string]struct {
		end, start sources.Stamp // start zero: nobody followed
		dark       [2]int        // second never: it lasts
		min, max   int
		want       bool
	}{
		"between two looks":            {end: stamp(10, sources.Seen), start: stamp(13, sources.Told), min: 3, max: 3, want: true},
		"it lasts":                     {end: stamp(10, sources.Seen), min: 90, max: 90, want: true},
		"it lasted when the run ended": {end: stamp(10, sources.Seen), dark: [2]int{30, never}, min: 20, max: 90, want: true},
		"the run ended":                {end: stamp(10, sources.Bound), dark: [2]int{10, never}},
		"the run ended, another began": {end: stamp(10, sources.Bound), start: stamp(20, sources.Told), dark: [2]int{10, 30}},
		"told of a time in the dark":   {end: stamp(10, sources.Told), start: stamp(13, sources.Told), dark: [2]int{5, 30}, max: 3},
		"the next began some time":     {end: stamp(10, sources.Seen), start: stamp(20, sources.Bound)},
		"it had begun when first seen": {end: stamp(10, sources.Seen), start: stamp(20, sources.AtLeast), max: 10, want: true},
		"it goes on":                   {},
		"one look showed it": {end: sources.StampBetween(at(5*time.Second), at(10*time.Second), sources.Seen),
			start: sources.StampBetween(at(10*time.Second), at(15*time.Second), sources.Seen), max: 10, want: true},
	} {
		l := history.Lane{Terms: []sources.Term{{Start: stamp(1, sources.Seen), End: c.end}}}
		if c.start.How != sources.Unknown {
			l.Terms = append(l.Terms, sources.Term{Start: c.start})
		}
		if c.dark != [2]int{} {
			l.Dark = []sources.Dark{{From: stamp(c.dark[0], 0).At}}
			if c.dark[1] != never {
				l.Dark[0].To = stamp(c.dark[1], 0).At
			}
		}
		gaps := l.Gaps(history.Span{From: at(0), To: stamp(100, 0).At})
		want := sources.Interval{Min: time.Duration(c.min) * time.Second, Max: time.Duration(c.max) * time.Second}
		if (len(gaps) > 0) != c.want || c.want && (gaps[0].Sum != want || ((gaps[0].After == nil) != (len(l.Terms) == 1) || gaps[0].Lasts != (name == "it lasts"))) {
			t.Errorf("%s: gaps %+v, want %v of %v", name, gaps, c.want, want)
		}
	}
}
