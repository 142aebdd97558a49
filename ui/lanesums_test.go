package ui

import (
	"fmt"
	"testing"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	arithmetic "coordtop/sources/lane"
	"coordtop/ui/uitest"
)

func TestLanesOutOfSightAreOrderedByTheSumsOfTheRecording(t *testing.T) {
	t.Parallel()
	var prims []*sources.Primitive
	for i := range 300 {
		prims = append(prims, uitest.Led(fmt.Sprintf("row-%03d", i), "host-1", noon()))
		prims[i].Expected = true
	}
	lane := func(i, changes int, gap time.Duration) history.Lane {
		l := history.Lane{Ref: prims[i].Ref, Kind: sources.KindElection, Since: noon().Add(-time.Hour)}
		for n := range changes + 1 {
			start := noon().Add(-4*time.Minute + time.Duration(n)*20*time.Second)
			t := sources.Term{Owner: sources.OwnerRef{ID: fmt.Sprint(n)}, Start: sources.Stamp{At: start, How: sources.Seen}, End: sources.Stamp{At: start.Add(20*time.Second - gap), How: sources.Seen}}
			if n == 0 {
				t.Start.At = noon().Add(-time.Hour)
			}
			l.Terms = append(l.Terms, t)
		}
		l.Terms[changes].End.At = noon().Add(-time.Minute)
		return l
	}
	r := &recording{more: []history.Lane{lane(299, 5, 0), lane(250, 2, 15*time.Second)}, totals: []history.Total{
		{Ref: prims[299].Ref, Kind: sources.KindElection, Sum: arithmetic.Sum{Changes: 5}},
		{Ref: prims[250].Ref, Kind: sources.KindElection, Sum: arithmetic.Sum{Changes: 2, Gaps: 2, Nobody: sources.Interval{Min: 30 * time.Second, Max: 30 * time.Second}, Longest: sources.Interval{Min: 15 * time.Second, Max: 15 * time.Second}}},
	}}
	st := uitest.State(noon(), prims...)
	st.Scopes[0].Since = noon().Add(-time.Minute)
	d := drive(newTestFeed(st), Options{Width: 160, Height: 48, History: r})
	d.answer(d.send(key("3")))
	d.answer(d.send(key("H")))
	first := func() string {
		row, _ := d.Rows.At(d.Time.Lanes.Visible()[0])
		return row.Name
	}
	for _, c := range []struct{ keys, want string }{{"sc", "row-299"}, {"sg", "row-250"}, {"!", "row-250"}} {
		for _, k := range c.keys {
			d.answer(d.send(key(string(k))))
		}
		if got := first(); got != c.want {
			t.Errorf("after %s the first lane is %s, not %s", c.keys, got, c.want)
		}
	}
	d.shows(t, "changes 7")
	d.shows(t, "longest gap 15 s row-250")
	if n := len(d.Time.Lanes.Visible()); n != 2 {
		t.Errorf("%d lanes changed", n)
	}
	if r.most > 40 {
		t.Errorf("%d lanes were read in one go", r.most)
	}
}

func TestNoFrameWaitsForTheSumsOfManyLanes(t *testing.T) {
	t.Parallel()
	var rows []*sources.Row
	for i := range 5*sumChunk - 1 {
		rows = append(rows, changing(fmt.Sprintf("lane-%04d", i), time.Minute, 5, i))
	}
	d := lanes(160, 48, rows...)
	sumUp := func() (frames int) {
		cmd := d.send(key("H"))
		for ; d.Time.Summing; frames++ {
			d.shows(t, "summing up")
			if cmd == nil || frames > 100 {
				t.Fatalf("after %d frames nothing goes on", frames)
			}
			cmd = d.send(cmd())
		}
		return frames
	}
	for d.timeline.sums.work != nil { // those of the first window
		d.timeline.sums.asked = false
		d.send(sumMsg{})
	}
	d.shows(t, "changes "+format.Count(4*len(rows)))
	if frames := sumUp(); frames != 4 {
		t.Errorf("it was summed up in %d more frames, not 4", frames)
	}
	d.shows(t, "changes 0")
	before := d.timeline.sums.at
	d.pass(1)
	if d.timeline.sums.work != nil || !d.timeline.sums.at.Equal(before) {
		t.Error("a second later all is summed up again")
	}
}
