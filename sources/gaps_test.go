package sources

import (
	"slices"
	"testing"
	"time"

	"coordtop/sources/lane"
)

func secs(low, high float64) Interval {
	return Interval{Min: time.Duration(low * float64(time.Second)), Max: time.Duration(high * float64(time.Second))}
}

func gapStats(count int, sum, p50, p95, longest Interval) GapStats {
	return GapStats{Count: count, Sum: sum, P50: p50, P95: p95, Longest: longest}
}

// rowOf is an election with this history.
func rowOf(nobody Stamp, history ...Term) *Row {
	return &Row{Primitive: &Primitive{Kind: KindElection}, Terms: history, Nobody: nobody}
}

func TestGapsAreSummedAsIntervals(t *testing.T) {
	t.Parallel()
	term := func(start, end Stamp) Term { return Term{Start: start, End: end} }
	tests := []struct {
		name   string
		row    *Row
		within time.Duration
		want   GapStats
	}{
		{"never owned, and not looked at", rowOf(Stamp{}), time.Hour, GapStats{}},
		{"no gap yet", rowOf(Stamp{}, term(exactly(-50), Stamp{})), time.Hour, GapStats{}},
		{"exact", rowOf(Stamp{}, term(exactly(-50), exactly(-40)), term(exactly(-37), Stamp{})), time.Hour,
			gapStats(1, secs(3, 3), secs(3, 3), secs(3, 3), secs(3, 3))},
		{"between polls", rowOf(Stamp{}, term(exactly(-50), seen(-41, -40)), term(seen(-38, -37), Stamp{})), time.Hour,
			gapStats(1, secs(2, 4), secs(2, 4), secs(2, 4), secs(2, 4))},
		{"unseen between two polls: perhaps none", rowOf(Stamp{}, term(exactly(-50), seen(-41, -40)), term(seen(-41, -40), Stamp{})), time.Hour,
			GapStats{Count: 0, Sum: secs(0, 1)}},
		{"still lasting", rowOf(seen(-6, -5), term(exactly(-50), seen(-6, -5))), time.Hour,
			gapStats(1, secs(5, 6), secs(5, 6), secs(5, 6), secs(5, 6))},
		{"free since before we looked: no gap without a term before it", rowOf(Stamp{At: at(-5), How: AtLeast}), time.Minute, GapStats{}},
		{"cut at the edge of the window", rowOf(Stamp{}, term(exactly(-50), exactly(-40)), term(exactly(-20), Stamp{})), 30 * time.Second,
			gapStats(1, secs(10, 10), secs(10, 10), secs(10, 10), secs(10, 10))},
		{"before the window", rowOf(Stamp{}, term(exactly(-50), exactly(-40)), term(exactly(-20), Stamp{})), 10 * time.Second, GapStats{}},
		{"several", rowOf(exactly(-1), term(exactly(-50), exactly(-40)), term(exactly(-37), exactly(-30)), term(exactly(-28), exactly(-1))), time.Hour,
			gapStats(3, secs(6, 6), secs(2, 2), secs(3, 3), secs(3, 3))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.row.Gaps(&State{}, t0, tt.within); got != tt.want {
				t.Errorf("Gaps = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestGapsAreThoseBetweenTheTermsThatAreKept(t *testing.T) {
	t.Parallel()
	ids := make([]string, 2*MaxTerms)
	history := reign(ids...)
	history[len(history)-1].End = Stamp{}
	got := rowOf(Stamp{}, history...).Gaps(&State{}, at(256), time.Hour)
	if got.Count != MaxTerms-1 {
		t.Errorf("%d gaps, want %d", got.Count, MaxTerms-1)
	}
}

func TestChangesAreCountedByTheMinuteForAnHour(t *testing.T) {
	t.Parallel()
	var a Activity
	now := time.Date(2030, 1, 1, 12, 30, 30, 0, time.UTC)
	for _, ago := range []time.Duration{2 * time.Hour, 59 * time.Minute, 11 * time.Minute, 9 * time.Minute, 0, 0} {
		a.add(now.Add(-ago), true, false)
	}
	a.add(now.Add(-3*time.Minute), true, false) // told late
	for within, want := range map[time.Duration]int{time.Minute: 2, 10 * time.Minute: 4, time.Hour: 6, 5 * time.Hour: 6} {
		if got := a.Changes.since(a.Minute, now, within); got != want {
			t.Errorf("changes within %v = %d, want %d", within, got, want)
		}
	}
	if got := a.Changes.since(a.Minute, now.Add(2*time.Hour), time.Hour); got != 0 {
		t.Errorf("%d changes are counted two hours later", got)
	}
	a.add(now.Add(2*time.Hour), true, false)
	if got := a.Changes.since(a.Minute, now.Add(2*time.Hour), time.Hour); got != 1 {
		t.Errorf("%d changes after a pause of two hours, want 1", got)
	}
	a.add(now.Add(time.Hour), true, false) // told an hour late: in a minute that is another's by now
	if got := a.Changes.since(a.Minute, now.Add(2*time.Hour), time.Hour); got != 1 {
		t.Errorf("%d changes after one that was told an hour late, want 1", got)
	}
	for range 300 {
		a.add(now.Add(2*time.Hour), true, false)
	}
	if got := a.Changes.since(a.Minute, now.Add(2*time.Hour), time.Hour); got != 255 {
		t.Errorf("a minute counts %d, want no more than 255", got)
	}
}

func TestObservedIsWhatLiesInNoDarkness(t *testing.T) {
	t.Parallel()
	lasting := func(from float64) Dark { return Dark{From: at(from)} }
	dark := func(from, to float64) Dark { return Dark{From: at(from), To: at(to)} }
	tests := []struct {
		name string
		dark []Dark
		want []Dark
	}{
		{"no darkness", nil, []Dark{dark(10, 20)}},
		{"outside of it, also where they touch", []Dark{dark(1, 5), dark(5, 10), dark(20, 25), lasting(30)}, []Dark{dark(10, 20)}},
		{"within it", []Dark{dark(12, 13), dark(15, 17)}, []Dark{dark(10, 12), dark(13, 15), dark(17, 20)}},
		{"over its edges", []Dark{dark(1, 12), dark(18, 25)}, []Dark{dark(12, 18)}},
		{"over all of it", []Dark{dark(1, 25)}, nil},
		{"exactly it", []Dark{dark(10, 20)}, nil},
		{"one in another, and one behind that overlaps", []Dark{dark(11, 16), dark(12, 13), dark(15, 17)}, []Dark{dark(10, 11), dark(17, 20)}},
		{"one without length", []Dark{dark(12, 12)}, []Dark{dark(10, 12), dark(12, 20)}},
		{"one that lasts", []Dark{dark(12, 13), lasting(15)}, []Dark{dark(10, 12), dark(13, 15)}},
		{"one that lasts since before", []Dark{lasting(5)}, nil},
	}
	for _, tt := range tests {
		var got []Dark
		for from, to := range lane.Observed(at(10), at(20), tt.dark) {
			got = append(got, Dark{From: from, To: to})
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: observed %v, want %v", tt.name, got, tt.want)
		}
		for range lane.Observed(at(20), at(20), tt.dark) {
			t.Errorf("%s: something is observed of a stretch without length", tt.name)
		}
		for range lane.Observed(at(10), at(20), tt.dark) {
			break // no more is yielded
		}
	}
}
