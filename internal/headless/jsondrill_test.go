package headless_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"coordtop/internal/drill"
	"coordtop/internal/headless"
	"coordtop/sources"
	"coordtop/sources/lane"
)

func TestADrillIsPrintedAsOneObject(t *testing.T) {
	t.Parallel()
	at := func(after, until int) lane.Stamp {
		begin := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
		return lane.StampBetween(begin.Add(time.Duration(after)*time.Millisecond), begin.Add(time.Duration(until)*time.Millisecond), lane.Seen)
	}
	ours := drill.Round{
		N: 1, Leader: sources.OwnerRef{ID: "1", Label: "drill-7-1", Fence: 4}, Next: sources.OwnerRef{ID: "2", Label: "drill-7-2", Fence: 5},
		Acted: at(100, 102), Over: at(900, 900), Ended: at(120, 130), Began: at(120, 130), Won: at(0, 131).At,
		Every: time.Second / 4, Watched: lane.Interval{Max: 10 * time.Millisecond, Every: time.Second / 4},
	}
	theirs := drill.Round{N: 2, Leader: ours.Next, Next: sources.OwnerRef{ID: "3"}, Acted: at(2000, 2001), Ended: at(2000, 2001), Began: at(2500, 2500),
		Watched: lane.Interval{Min: 499 * time.Millisecond, Max: 500 * time.Millisecond}}
	r := drill.Result{Ref: sources.Ref{Source: "leases", Space: "0", Name: "app:leader:x\xff"}, Kind: sources.KindElection, How: drill.Release, Candidates: 2,
		TTL: 3 * time.Second, Wanted: 10, Began: at(0, 0).At, Over: at(0, 9000).At, Rounds: []drill.Round{ours, theirs}}
	var out bytes.Buffer
	if err := headless.WriteDrill(&out, &r, errors.New("the server is gone")); err != nil {
		t.Fatal(err)
	}
	golden(t, "drill.json", indented(t, out.Bytes()))
}
