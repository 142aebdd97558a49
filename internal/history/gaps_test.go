package history_test

import (
	"slices"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/recordtest"
	"coordtop/sources"
	"coordtop/sources/lane"
)

func TestGapsOfALaneAreThoseOfTheScript(t *testing.T) {
	t.Parallel()
	reader, _ := recordtest.File(t, hour(t))
	span := history.Span{From: at(-time.Hour), To: at(3 * time.Hour)}
	lanes, err := reader.Lanes(t.Context(), []sources.Ref{historytest.Billing()}, span)
	if err != nil {
		t.Fatal(err)
	}
	led, l := historytest.Leaders(), &lanes[0]
	if len(l.Terms) != len(led) {
		t.Fatalf("there are %d terms, want %d: %+v", len(l.Terms), len(led), l.Terms)
	}
	before := func(i int) (g lane.Gap) {
		if known := (lane.Lane{Terms: l.Terms, Dark: l.Dark}); i > 0 {
			g = known.GapAfter(i-1, l.Terms[i].Start.At)
		}
		return g
	}
	seen := 0
	for i := range led {
		g := before(i)
		ok := g.Seen
		var want time.Duration
		if i > 0 {
			want = led[i].Start - led[i-1].End
		}
		if ok {
			seen++
		}
		if ok != (want > 0) || g.Unbroken != (sources.Interval{Min: want, Max: want}) {
			t.Errorf("before term %d there is %+v, want %v", i, g, want)
		}
	}
	if gaps := l.Gaps(span); len(gaps) != seen { // the recorder stopped while the last one led
		t.Errorf("there are %d gaps, want %d: %+v", len(gaps), seen, gaps)
	}
	l.Dark = append(l.Dark, sources.Dark{From: at(10*time.Minute + 3*time.Second), To: at(10*time.Minute + 3500*time.Millisecond)})
	slices.SortFunc(l.Dark, func(a, b sources.Dark) int { return a.From.Compare(b.From) })
	if g := before(3); g.Sum != (sources.Interval{Min: 1001 * time.Millisecond, Max: 1501 * time.Millisecond}) {
		t.Errorf("with half a second unobserved it is %v", g.Sum)
	}
}

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
	tally := lane.NewTally(span, nil)
	tally.Add(&l.Terms[0])
	if sum := tally.Sum(); sum.Nobody != want || sum.Longest != want {
		t.Errorf("summed up, it is %+v, want %+v", sum, want)
	}
}

func TestOfAGapItsPartInTheSpanCounts(t *testing.T) {
	t.Parallel()
	reader, _ := recordtest.File(t, hour(t))
	led := historytest.Leaders() // nobody led for seven seconds before the last one
	start, end := at(led[3].End), at(led[4].Start)
	for name, c := range map[string]struct {
		from, to time.Time
		want     time.Duration
		lasts    bool
	}{
		"it ends in it":   {start.Add(4 * time.Second), end.Add(time.Minute), 3 * time.Second, false},
		"it began in it":  {start.Add(-time.Minute), start.Add(2 * time.Second), 2 * time.Second, true},
		"it is all of it": {start.Add(2 * time.Second), start.Add(3 * time.Second), time.Second, true},
	} {
		span := history.Span{From: c.from, To: c.to}
		lanes, err := reader.Lanes(t.Context(), []sources.Ref{historytest.Billing()}, span)
		if err != nil {
			t.Fatal(err)
		}
		gaps := lanes[0].Gaps(span)
		if len(gaps) != 1 || !gaps[0].Start.At.Equal(start) || gaps[0].Sum != (sources.Interval{Min: c.want, Max: c.want}) || (gaps[0].After == nil) != c.lasts ||
			gaps[0].Before.Owner.ID != led[3].Owner {
			t.Errorf("%s: %+v, want one of %v", name, gaps, c.want)
		}
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
