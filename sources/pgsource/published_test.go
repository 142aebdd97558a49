package pgsource

import (
	"testing"
	"time"

	"coordtop/sources"
)

// TestWhatALookPublishesOfAnOwnerThatStays has one that owns lock 7 at two looks a second apart, the first
// of which was published.
func TestWhatALookPublishesOfAnOwnerThatStays(t *testing.T) {
	t.Parallel()
	idle := func(b *bench, a *activity, d time.Duration) { a.does.changed = b.theirs(b.now.Add(time.Second - d)) }
	for name, c := range map[string]struct {
		first, then func(b *bench, a *activity)
		want        func(o *sources.Owner) bool // nil: nothing is published
	}{
		"nothing new": {first: func(*bench, *activity) {}, then: func(*bench, *activity) {}},
		"the proof that it has been idle for long": {
			func(b *bench, a *activity) { idle(b, a, time.Second/2) }, func(b *bench, a *activity) { idle(b, a, 3*time.Second/2) },
			func(o *sources.Owner) bool { return o.Proof != 0 },
		},
		"that the proof is another": {
			func(b *bench, a *activity) { idle(b, a, 5*time.Second) }, func(b *bench, a *activity) { idle(b, a, 2*time.Second) },
			func(o *sources.Owner) bool { return o.Proof != 0 },
		},
		"that the lock outlives a transaction": {
			func(_ *bench, a *activity) { a.does.transaction = 5 }, func(_ *bench, a *activity) { a.does.transaction, a.who.application = 6, "renamed" },
			func(o *sources.Owner) bool { return attr(o.Attrs, "level") == "session" },
		},
		"that it may be one of the transaction": {
			func(_ *bench, a *activity) { a.does.transaction = 5 }, func(_ *bench, a *activity) { a.does.transaction, a.who.application = 5, "renamed" },
			func(o *sources.Owner) bool { return attr(o.Attrs, "level") == "" },
		},
		"other rights of our role": {
			func(*bench, *activity) {}, func(b *bench, _ *activity) { b.rightsLook = b.looks + 1 },
			func(*sources.Owner) bool { return true },
		},
	} {
		b := setupTable(t)
		look := func(change func(*bench, *activity)) lookResult {
			a := b.at(1, time.Unix(0, 0))
			change(b, &a)
			return b.look([]lockRow{owns(7, 1, exclusive)}, a)
		}
		look(c.first)
		p := published(look(c.then))["7"]
		if (p != nil) != (c.want != nil) || p != nil && !c.want(&p.Owners[0]) {
			t.Errorf("%s: published %+v", name, p)
		}
	}
}

func TestASessionThatOwnsInTwoModesOwnsTwice(t *testing.T) {
	t.Parallel()
	is := func(id string, m mode) term { return term{id: id, owner: "4@x", mode: m} }
	for name, c := range map[string]struct {
		before, now []term
		want        string
	}{
		"alone":                         {nil, nil, "4@x"},
		"the first at the same look":    {nil, []term{is("4@x", exclusive)}, "4@x shared"},
		"the first at the look before":  {[]term{is("4@x", exclusive)}, nil, "4@x shared"},
		"the same mode before":          {[]term{is("4@x", exclusive), is("4@x shared", share)}, []term{is("4@x", exclusive)}, "4@x shared"},
		"the same mode alone":           {[]term{is("4@x", share)}, []term{}, "4@x"},
		"another mode that came second": {[]term{is("4@x exclusive", exclusive)}, nil, "4@x"},
		"another session":               {nil, []term{{id: "5@x", owner: "5@x", mode: exclusive}}, "4@x"},
	} {
		if got := ownerID("4@x", share, c.before, c.now); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAnOwnerThatGaveUpWhatWasToBeEndedIsNotEndedByForce(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	owner := b.at(1, b.now)
	b.look([]lockRow{owns(7, 1, exclusive)}, owner)
	b.evicted = map[evictedKey]eviction{{"5", "7"}: {by: "ana", pid: 1, at: b.now}}
	if n := b.look(nil, owner); len(n.changes) != 1 || len(n.changes[0].Ended) != 1 || n.changes[0].Ended[0].Cause != sources.CauseReleased {
		t.Errorf("%+v", n)
	}
}
