package rows

import (
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/sources/verdict"
)

// A filter does not treat lower and upper bounds as exact values.
func TestAFilterOfTimesHoldsToWhatIsKnown(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration, how sources.Known) sources.Stamp {
		return sources.Stamp{At: now.Add(-d), How: how}
	}
	owned := func(since sources.Stamp) *sources.Primitive {
		return &sources.Primitive{OwnersHow: sources.Told, Owners: []sources.Owner{{ID: "a", Since: since}}}
	}
	waited := func(since ...sources.Stamp) *sources.Primitive {
		p := &sources.Primitive{Queue: sources.Queue{How: sources.Told, Len: len(since)}}
		for _, s := range since {
			p.Queue.Waiters = append(p.Queue.Waiters, sources.Waiter{Since: s})
		}
		return p
	}
	looks := sources.StampBetween(now.Add(-4*time.Second), now.Add(-2*time.Second), sources.Seen)
	for _, c := range []struct {
		p    *sources.Primitive
		text string
		want bool
	}{
		{owned(ago(5*time.Minute, sources.Told)), "since<10m", true},
		{owned(ago(5*time.Minute, sources.AtLeast)), "since<10m", false},
		{owned(ago(5*time.Minute, sources.AtLeast)), "!since<10m", false},
		{owned(ago(5*time.Minute, sources.AtLeast)), "since>4m", true},
		{owned(ago(5*time.Minute, sources.AtLeast)), "since>6m", false},
		{owned(ago(5*time.Minute, sources.Bound)), "since<6m", true},
		{owned(ago(5*time.Minute, sources.Bound)), "since>1m", false},
		{owned(looks), "since>1s", true},
		{owned(looks), "since<3s", false},
		{owned(looks), "since>3s", false},
		{waited(ago(time.Minute, sources.AtLeast)), "wait>30s", true},
		{waited(ago(time.Minute, sources.AtLeast)), "wait<2m", false},
		{waited(ago(time.Minute, sources.Bound), ago(20*time.Second, sources.Told)), "wait>10s", true},
		{waited(ago(time.Minute, sources.Bound), ago(20*time.Second, sources.Told)), "wait>30s", false},
		{waited(), "wait<1s", true},
		{waited(ago(time.Minute, sources.AtLeast)), "wait=1", true},
	} {
		f := Selection{now: now}
		f.Parse(c.text, noLabels)
		if got := f.Passes(&sources.Row{Primitive: c.p}, verdict.Verdict{}); f.Mistake != nil || got != c.want {
			t.Errorf("%s: %t", c.text, got)
		}
	}
	f := Selection{now: now, st: &sources.State{At: now}}
	f.Parse("since<10m", noLabels)
	free := &sources.Row{Primitive: &sources.Primitive{OwnersHow: sources.Told}, Nobody: ago(5*time.Minute, sources.AtLeast)}
	if f.Passes(free, verdict.Verdict{}) {
		t.Error("a row that is free for at least 5 minutes passes since<10m")
	}
}

func TestAFilterFindsWhatRunsSomewhere(t *testing.T) {
	t.Parallel()
	owned := &sources.Row{Primitive: &sources.Primitive{OwnersHow: sources.Told,
		Owners: []sources.Owner{{ID: "a", Label: "compactor pid 7", Attrs: []sources.Attr{{Key: "application", Value: "compactor"}, {Key: "client", Value: "10.0.0.7:5123"}}}},
		Queue:  sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{ID: "w", Label: "host-2:7"}}}}}
	free := &sources.Row{Primitive: &sources.Primitive{OwnersHow: sources.Told},
		Terms: []sources.Term{{Owner: sources.OwnerRef{Label: "host-3:1"}}, {Owner: sources.OwnerRef{Label: "host-9:1"}, End: sources.Stamp{At: time.Unix(9, 0), How: sources.Seen}}}}
	for text, want := range map[string][2]bool{
		"host=10.0.0.7": {true, false}, "program=compactor": {true, false}, "session=\"compactor pid 7\"": {true, false}, "host=host-2": {true, false},
		"host=host-9": {false, true}, "session=host-9:1": {false, true}, "host=host-3": {}, "host=compactor": {},
	} {
		f := Selection{}
		f.Parse(text, noLabels)
		for range 2 { // what was read of a label is kept
			if got := [2]bool{f.Passes(owned, verdict.Verdict{}), f.Passes(free, verdict.Verdict{})}; f.Mistake != nil || got != want {
				t.Errorf("%s: %v, want %v", text, got, want)
			}
		}
	}
}
