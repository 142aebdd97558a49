package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// TestWhatOnlyTheRecordingKnowsHasALane records, beside the leader a that has a row: the mutex job,
// which is free by now and selected by a pattern, so that it has no row; one of a source that is not
// watched; one that was free all the time; a semaphore; and 300 locks that were taken once.
func TestWhatOnlyTheRecordingKnowsHasALane(t *testing.T) {
	t.Parallel()
	d, r := recorded()
	at := func(minutes int) sources.Stamp {
		return sources.Stamp{At: noon().Add(-time.Duration(minutes) * time.Minute), How: sources.Seen}
	}
	ref := func(name string) sources.Ref {
		is := r.lane.Ref
		is.Name = name
		return is
	}
	job := history.Lane{Ref: ref("job"), Kind: sources.KindMutex, Since: noon().Add(-time.Hour),
		Terms: []sources.Term{{Owner: sources.OwnerRef{ID: "w1", Label: "worker-1"}, Start: at(9), End: at(5), Cause: sources.CauseReleased, How: sources.Seen}}}
	r.more = []history.Lane{job}
	other := ref("elsewhere")
	other.Source = "other"
	r.totals = []history.Total{{Ref: r.lane.Ref, Kind: sources.KindElection, Sum: lane.Sum{Changes: 1}}, {Ref: job.Ref, Kind: job.Kind, Sum: lane.Sum{Changes: 2, Nobody: sources.Interval{Min: time.Minute, Max: time.Minute}}},
		{Ref: other, Kind: job.Kind, Sum: lane.Sum{Changes: 9}}, {Ref: ref("idle"), Kind: job.Kind, Sum: lane.Sum{Nobody: sources.Interval{Min: time.Hour, Max: time.Hour}}}, {Ref: ref("permits"), Kind: sources.KindSemaphore, Sum: lane.Sum{Changes: 9}}}
	for i := range 300 {
		r.totals = append(r.totals, history.Total{Ref: ref(fmt.Sprintf("once-%03d", i)), Kind: job.Kind, Sum: lane.Sum{Changes: 1}})
	}
	look := func() {
		d.timeline.sums.totals = nil // else a minute goes by before it asks again
		d.answer(d.send(terminal.SecondMsg{}))
	}
	look()
	if n := d.Time.Lanes.Len(); n != 1+mostRecordedLanes {
		t.Fatalf("%d lanes:\n%s", n, d.text())
	}
	d.typed("/job")
	d.press("enter")
	look()
	if lane := d.lane(t, "job"); !strings.Contains(lane, "A━") || !strings.HasSuffix(strings.TrimSpace(lane), "─") {
		t.Errorf("the lane of what is free is %q", lane)
	}
	d.press("j")
	d.shows(t, "recorded only   free   11:55:00.0 to now")
	if row, _ := d.Selected(); row != nil {
		t.Errorf("on the lane of what has no row, %v is acted on", row.Ref)
	}
	d.press("enter")
	d.shows(t, "only the recording knows it")
	d.State.Scopes[0].Health = sources.HealthStale
	d.feed.Pass(time.Minute)
	look()
	d.shows(t, "recorded only, unknown now   not observed from")
	d.State.Scopes[0].Health = sources.HealthLive
	p := uitest.Led("job", "worker-2", noon())
	d.feed.Set(uitest.State(d.Now, uitest.Led("a", "host-b", noon()), p))
	look()
	if h, _ := d.find(job.Ref); !d.Rows.InList(h) || len(d.timeline.recordedLanes()) != 0 {
		t.Errorf("with a row it still has the lane of the recording:\n%s", d.text())
	}
}
