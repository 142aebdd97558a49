package screen

import (
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/ui/uitest"
)

func TestInstantsOfEventsAreNotCut(t *testing.T) {
	t.Parallel()
	sc := &Scene{Clocks: Clocks{Now: uitest.Noon()}}
	sc.Theme.About = "~"
	ref := sources.Ref{Name: "a"}
	for _, c := range []struct {
		ago    time.Duration
		within time.Duration
		want   string
	}{
		{90 * time.Second, 0, " 11:58:30.0"}, {90 * time.Second, time.Second, "~11:58:30.0"},
		{26 * time.Hour, 0, "20Nov 10:00"}, {26 * time.Hour, time.Second, "20Nov 10:00"},
		{20 * 24 * time.Hour, 0, " 1Nov 12:00"}, {20 * 24 * time.Hour, time.Second, "~1Nov 12:00"},
	} {
		e := &sources.Event{Ref: ref, At: uitest.Noon().Add(-c.ago)}
		if c.within > 0 {
			e.After = e.At.Add(-c.within)
		}
		if got := eventInstant(sc, e); got != c.want || len(got) > eventTime {
			t.Errorf("%v ago, within %v: %q, want %q in %d cells", c.ago, c.within, got, c.want, eventTime)
		}
	}
}

func TestChangesOfACountAreToldInNumbers(t *testing.T) {
	t.Parallel()
	e := sources.Event{
		Kind: sources.EventCountChanged, RefKind: sources.KindSemaphore, Ref: sources.Ref{Name: "pool"},
		Was: sources.Counts{Taken: 3, Limit: 3, Waiting: 1}, Now: sources.Counts{Taken: 2, Limit: 3},
	}
	text := ""
	for _, p := range EventText(&Scene{}, &e) {
		text += p.Text
	}
	if want := "2 of 3 taken, before 3 of 3 taken, 1 waits"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
}
