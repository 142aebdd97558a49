package recordtest

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// recordedHour is the scripted hour.
func recordedHour(t *testing.T) (log *historytest.Log) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { log = historytest.Hour(t, nil, nil) })
	return log
}

// at is an instant of the hour.
func at(d time.Duration) time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d) }

func TestGapsOfALaneAreThoseOfTheScript(t *testing.T) {
	t.Parallel()
	reader, _ := File(t, recordedHour(t))
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

func TestOfAGapItsPartInTheSpanCounts(t *testing.T) {
	t.Parallel()
	reader, _ := File(t, recordedHour(t))
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
