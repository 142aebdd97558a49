package history_test

import (
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/sources"
)

func TestGapsOfALaneAreThoseOfTheScript(t *testing.T) {
	t.Parallel()
	lanes, err := hour(t).Lanes(t.Context(), []sources.Ref{historytest.Billing()}, history.Span{From: at(-time.Hour), To: at(3 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	led, lane := historytest.Leaders(), &lanes[0]
	if len(lane.Terms) != len(led) {
		t.Fatalf("there are %d terms, want %d: %+v", len(lane.Terms), len(led), lane.Terms)
	}
	for i := range led {
		g, ok := lane.GapBefore(i)
		var want time.Duration
		if i > 0 {
			want = led[i].Start - led[i-1].End
		}
		if ok != (want > 0) || g.Length != (sources.Interval{Min: want, Max: want}) {
			t.Errorf("before term %d there is %+v, want %v", i, g, want)
		}
	}
	lane.Dark = append(lane.Dark, sources.Dark{From: at(10*time.Minute + 3*time.Second), To: at(10*time.Minute + 3500*time.Millisecond)})
	if g, _ := lane.GapBefore(3); g.Length != (sources.Interval{Min: 1001 * time.Millisecond, Max: 1501 * time.Millisecond}) {
		t.Errorf("with half a second unobserved it is %v", g.Length)
	}
}
