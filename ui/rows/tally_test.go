package rows

import (
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/ui/uitest"
)

func TestATallyCountsWhatChangedHandsInTheLastHour(t *testing.T) {
	t.Parallel()
	var tally Tally
	noon := uitest.Noon()
	add := func(ago time.Duration, e sources.Event) {
		e.At = noon.Add(-ago)
		if e.Ref.Source == "" {
			e.Ref.Source = "a"
		}
		tally.add(&e)
	}
	given := sources.Event{Kind: sources.EventReleased, Cause: sources.CauseReleased}
	led := given
	led.RefKind = sources.KindElection
	lost := led
	lost.Loss = true
	add(50*time.Minute, sources.Event{Kind: sources.EventOwnerChanged})
	add(40*time.Minute, sources.Event{Kind: sources.EventOwnerChanged, Loss: true})
	add(30*time.Minute, sources.Event{Kind: sources.EventAcquired, Ref: sources.Ref{Source: "b"}})
	add(20*time.Minute, given)
	add(20*time.Minute, led)
	add(20*time.Minute, lost)
	add(5*time.Second, sources.Event{Kind: sources.EventCountChanged})
	add(5*time.Second, sources.Event{Kind: sources.EventWaiterJoined})
	add(55*time.Minute, sources.Event{Kind: sources.EventOwnerChanged}) // told late
	add(2*time.Hour, sources.Event{Kind: sources.EventOwnerChanged})    // too old
	for _, c := range []struct {
		source string
		what   Change
		from   time.Duration
		want   int
	}{
		{"", AnyChange, time.Hour, 5}, {"a", AnyChange, time.Hour, 4}, {"b", AnyChange, time.Hour, 1}, {"c", AnyChange, time.Hour, 0},
		{"a", AnyChange, time.Minute, 1}, {"a", AnyChange, 45 * time.Minute, 2}, {"", HandedOver, time.Hour, 2}, {"", Resigned, time.Hour, 1}, {"", Released, time.Hour, 1},
	} {
		if got := tally.Count(c.source, c.what, noon.Add(-c.from), noon.Add(time.Minute)); got != c.want {
			t.Errorf("%d of kind %d of %q in %v, want %d", got, c.what, c.source, c.from, c.want)
		}
	}
	add(-30*time.Minute, sources.Event{Kind: sources.EventAcquired}) // older ones are forgotten
	if got := tally.Count("a", AnyChange, noon.Add(-time.Hour), noon.Add(time.Hour)); got != 2 {
		t.Errorf("%d half an hour later, want 2", got)
	}
	add(-1e6*time.Hour, sources.Event{Kind: sources.EventAcquired})
	if got := tally.Count("a", AnyChange, time.Time{}, noon.Add(2e6*time.Hour)); got != 1 {
		t.Errorf("%d long after, want 1", got)
	}
}

func TestRowsAreCountedBySource(t *testing.T) {
	t.Parallel()
	noon := uitest.Noon()
	queued, other := uitest.Led("queued", "o", noon), uitest.Led("other", "o", noon)
	queued.Queue = sources.Queue{How: sources.Told, Len: 2, Waiters: []sources.Waiter{{Since: sources.Stamp{At: noon.Add(-time.Minute), How: sources.Told}}, {}}}
	other.Ref.Source = "b"
	var x Index
	x.Update(uitest.State(noon, uitest.Led("a", "o", noon), uitest.Lost("lost"), queued, other), noon)
	got := x.BySource()
	want := SourceCounts{Led: 2, Leaderless: 1, Waiting: 2, Queued: true, Longest: sources.Stamp{At: noon.Add(-time.Minute), How: sources.Told}}
	if *got[uitest.Redis] != want || *got["b"] != (SourceCounts{Led: 1}) {
		t.Errorf("%+v", got)
	}
}
