package drill_test

import (
	"bytes"
	"maps"
	"strings"
	"testing"
	"time"

	"coordtop/internal/drill"
	"coordtop/sources"
	"coordtop/sources/lane"
)

var start = time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)

// at returns the instant that lies between two numbers of milliseconds after start.
func at(after, until int, how lane.Known) lane.Stamp {
	return lane.StampBetween(start.Add(time.Duration(after)*time.Millisecond), start.Add(time.Duration(until)*time.Millisecond), how)
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// killed is a round whose leader was killed at 100 to 102 ms.
func killed(ended, began lane.Stamp, won int) drill.Round {
	acted := at(100, 102, lane.Ours)
	return drill.Round{
		N: 1, Leader: sources.OwnerRef{ID: "1", Label: "drill-1-1"}, Next: sources.OwnerRef{ID: "2", Label: "drill-1-2"},
		Acted: acted, Over: acted, Won: start.Add(ms(won)), Ended: ended, Began: began,
		Watched: lane.Interval{Min: began.Earliest().Sub(ended.At), Max: began.At.Sub(ended.Earliest())},
	}
}

// hasLengths checks lengths by their keys, in milliseconds.
func hasLengths(t *testing.T, x *drill.Round, want map[string][2]int) {
	t.Helper()
	got := map[string][2]int{}
	for _, p := range x.Lengths() {
		got[p.Key] = [2]int{int(p.Length.Min.Milliseconds()), int(p.Length.Max.Milliseconds())}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTheLengthsOfARoundHoldForEveryInstantThatIsPossible(t *testing.T) {
	t.Parallel()
	x := killed(at(1000, 1010, lane.Seen), at(1500, 1510, lane.Seen), 1512)
	hasLengths(t, &x, map[string][2]int{"own": {1410, 1412}, "kept": {898, 910}, "nobody": {490, 510}, "answer": {2, 12}})
}

func TestAWatchThatLooksRarelyIsBoundedByWhatTheCandidatesKnow(t *testing.T) {
	t.Parallel()
	x := killed(at(50, 550, lane.Seen), at(50, 550, lane.Seen), 120)
	x.Watched, x.Every = lane.Interval{Max: ms(500), Every: ms(500)}, ms(500)
	hasLengths(t, &x, map[string][2]int{"own": {18, 20}, "kept": {0, 20}, "nobody": {0, 500}, "answer": {0, 20}}) // our watch saw no more than that
	if every := x.Lengths()[1].Length.Every; every != ms(500) {
		t.Errorf("looks every %v", every)
	}
}

func TestALeaderThatNoticesLateLeadsBesideTheNext(t *testing.T) {
	t.Parallel()
	x := killed(at(100, 102, lane.Seen), at(300, 300, lane.Seen), 301)
	x.Over = at(900, 900, lane.Ours)
	hasLengths(t, &x, map[string][2]int{"own": {0, 0}, "both": {599, 599}, "kept": {0, 2}, "nobody": {198, 200}, "answer": {1, 1}})
	if text := x.Text(drill.Release, 3); !strings.Contains(text, "round 1 of 3: drill-1-1 released by force, then drill-1-2") || !strings.Contains(text, "two leaders for 599 ms") {
		t.Error(text)
	}
}

func TestOfSomebodyElsesLeadersOnlyOurWatchTells(t *testing.T) {
	t.Parallel()
	x := killed(at(100, 102, lane.Seen), at(300, 300, lane.Seen), 0)
	x.Over, x.Won = lane.Stamp{}, time.Time{}
	hasLengths(t, &x, map[string][2]int{"kept": {0, 2}, "nobody": {198, 200}})
}

func TestFiguresAreThoseOfTheLowerAndOfTheUpperBounds(t *testing.T) {
	t.Parallel()
	r := drill.Result{How: drill.Kill, Candidates: 2, TTL: 2 * time.Second, Wanted: 20}
	for i := range 20 {
		r.Rounds = append(r.Rounds, killed(at(1000, 1010, lane.Seen), at(1000, 1010, lane.Seen), 1010+100*i))
	}
	own := r.Figures()[0]
	if own.Key != "own" || own.Count != 20 || own.P50 != (lane.Interval{Min: ms(1808), Max: ms(1810)}) ||
		own.P95 != (lane.Interval{Min: ms(2708), Max: ms(2710)}) || own.Longest != (lane.Interval{Min: ms(2808), Max: ms(2810)}) {
		t.Errorf("%+v", own)
	}
}

func TestTheTextHasATableAndABarForEachRound(t *testing.T) {
	t.Parallel()
	r := drill.Result{How: drill.Kill, Candidates: 2, TTL: time.Second, Wanted: 3, Rounds: []drill.Round{
		killed(at(600, 600, lane.Seen), at(850, 850, lane.Seen), 1100), killed(at(350, 350, lane.Seen), at(350, 350, lane.Seen), 350),
	}}
	var out bytes.Buffer
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2 of 3 rounds, each leader killed; 2 candidates of our own, TTL 1.0 s",
		"no leader                       248 ms to 250 ms  998 ms to 1.0 s   998 ms to 1.0 s\n",
		"  1 " + strings.Repeat("=", 30) + strings.Repeat(".", 15) + strings.Repeat("+", 15) + " 1.0 s\n",
		"  1 " + strings.Repeat("=", 15) + strings.Repeat(" ", 45) + " 250 ms\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "looked every") {
		t.Error("it tells of looks where there were none")
	}
}
