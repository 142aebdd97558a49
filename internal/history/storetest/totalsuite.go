package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// minute is what was so in one minute of a lane.
type minute uint8

const (
	free minute = iota
	owned
	starts // owned by somebody new
	dark
)

// sumOf counts the minutes from one to another. A gap lies behind a term, and is one however often darkness
// cuts it; one that is all dark is none, but it may have been one.
func sumOf(ref sources.Ref, line []minute, unseen []bool, from, to int) history.Total {
	t := history.Total{Ref: ref, Kind: sources.KindElection}
	term := slices.Contains(line[:from], starts) || slices.Contains(line[:from], owned)
	var piece, longest, gap time.Duration // longest: of the pieces of the gap
	seen := false
	if first := slices.IndexFunc(line[from:to], func(m minute) bool { return m == owned || m == starts }); !term && first >= 0 {
		t.Before.Max = time.Duration(first) * time.Minute
	} else if !term {
		t.Before.Max = time.Duration(to-from) * time.Minute
	}
	for n := from; n <= to; n++ {
		if n == to || line[n] == owned || line[n] == starts {
			if seen {
				t.Gaps++
				t.Longest.Min, t.Longest.Max = max(t.Longest.Min, longest), max(t.Longest.Max, gap)
			}
			piece, longest, gap, seen = 0, 0, 0, false
		}
		if n == to {
			break
		}
		if unseen[n] {
			t.Unseen += time.Minute
		}
		switch line[n] {
		case starts:
			t.Changes++
			term = true
		case free:
			if !term {
				t.Before.Min += time.Minute
				continue
			}
			piece += time.Minute
			t.Nobody.Min += time.Minute
			longest, seen = max(longest, piece), true
		case dark:
			piece = 0
		}
		if term && line[n] != owned && line[n] != starts {
			gap += time.Minute
			t.Nobody.Max += time.Minute
		}
	}
	return t
}

// totalsAreThoseOfAnyWindow writes random lanes of two days and compares the sums of
// windows, with and without those that are kept of whole six hours, with a count by minutes.
func totalsAreThoseOfAnyWindow(t *testing.T, open Open) {
	t.Parallel()
	const lanes, length = 4, 2 * 24 * 60
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		o := open(t, 0)
		w := Begun(t, o, 0)
		lines, unseen := make([][]minute, lanes), [lanes][length]bool{}
		b := BatchOf(0, length*time.Minute)
		for i := range lines {
			name := fmt.Sprint("lane", i)
			var c history.LaneChange
			lines[i], c = randomLane(r, length, 1+r.IntN(300))
			c.Ref, c.Scope, c.Kind = Ref(name), "s", sources.KindElection
			b.Lanes = append(b.Lanes, c)
		}
		for from := r.IntN(200); from < length; from += 1 + r.IntN(600) {
			to := min(from+1+r.IntN(400), length)
			d := history.DarkChange{Source: "leases", Scope: "s", Dark: sources.Dark{From: minuteAt(from), To: minuteAt(to)}}
			if r.IntN(2) == 0 {
				d.Ref = Ref(fmt.Sprint("lane", r.IntN(lanes)))
			}
			b.Dark = append(b.Dark, d)
			for i := range lines {
				if d.Ref == (sources.Ref{}) || d.Ref.Name == fmt.Sprint("lane", i) {
					for n := from; n < to; n++ {
						unseen[i][n] = true
						if lines[i][n] == free {
							lines[i][n] = dark
						}
					}
				}
			}
			from = to
		}
		Write(t, w, b)
		compare := func() {
			s := Store(t, o)
			for range 8 {
				from := r.IntN(length)
				to := from + 1 + r.IntN(length-from)
				totals, err := s.Totals(t.Context(), history.Span{From: minuteAt(from), To: minuteAt(to)})
				if err != nil || len(totals) != lanes {
					t.Fatalf("%d totals, %v", len(totals), err)
				}
				for i, got := range totals {
					if want := sumOf(got.Ref, lines[i], unseen[i][:], from, to); got != want {
						t.Fatalf("seed %d, minutes %d to %d, %s: %+v, want %+v", seed, from, to, got.Ref.Name, got, want)
					}
				}
			}
		}
		compare()
		earlier, err := Store(t, o).Totals(t.Context(), history.Span{From: T0.Add(-time.Hour), To: minuteAt(1)})
		if want := time.Hour + sumOf(Ref("lane0"), lines[0], unseen[0][:], 0, 1).Unseen; err != nil || earlier[0].Unseen != want {
			t.Errorf("%+v, %v: want %v not observed: the hour before the first record too", earlier, err, want)
		}
	}
}

func minuteAt(n int) time.Time { return T0.Add(time.Duration(n) * time.Minute) }

// randomLane makes terms, some of which touch, with about so many minutes each.
func randomLane(r *rand.Rand, length, each int) ([]minute, history.LaneChange) {
	line := make([]minute, length)
	var c history.LaneChange
	for from := r.IntN(each); from < length; {
		to := min(from+1+r.IntN(each), length)
		one := Term(fmt.Sprint(r.IntN(4)), 0, 0)
		one.Start = sources.Stamp{At: minuteAt(from), How: sources.Seen}
		if to < length {
			one.End = sources.Stamp{At: minuteAt(to), How: sources.Seen}
		}
		c.Terms = append(c.Terms, one)
		for n := from; n < to; n++ {
			line[n] = owned
		}
		line[from] = starts
		from = to
		if r.IntN(2) == 0 {
			from += r.IntN(2 * each)
		}
	}
	return line, c
}
