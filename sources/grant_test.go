package sources_test

import (
	"slices"
	"testing"
	"time"

	"coordtop/sources"
)

// due is an owner whose lease ends at an instant, read with no doubt worth mentioning.
func due(id string, at time.Time) sources.Owner {
	return sources.Owner{ID: id, Label: id, Lease: time.Hour, Expires: sources.StampBetween(at.Add(-time.Millisecond), at, sources.Told)}
}

// TestAnOwnerBehindDarknessIsInDoubtUnlessSomethingProvesTheSameGrant has an owner of one ID before
// and behind ten seconds that nobody saw, in each way in which that can be.
func TestAnOwnerBehindDarknessIsInDoubtUnlessSomethingProvesTheSameGrant(t *testing.T) {
	t.Parallel()
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // that of a bubble
	end := start.Add(time.Hour)
	with := func(o sources.Owner, fence, proof uint64) sources.Owner {
		o.Fence, o.Proof = fence, proof
		return o
	}
	session := sources.Owner{ID: "a", Session: "a"}
	vague := due("a", end)
	vague.Expires = sources.StampBetween(end.Add(-12*time.Second), end, sources.Told)
	for name, c := range map[string]struct {
		before, after sources.Owner
		proved        bool
	}{
		"the same deadline":                     {due("a", end), due("a", end.Add(time.Millisecond)), true},
		"a deadline that moved":                 {due("a", end), due("a", end.Add(10*time.Second)), false},
		"a deadline that moved by a little":     {due("a", end), due("a", end.Add(150*time.Millisecond)), false},
		"a deadline that came sooner":           {due("a", end), due("a", end.Add(-time.Minute)), false},
		"a deadline that was read while silent": {due("a", end), vague, false},
		"no deadline":                           {bound("a"), bound("a"), false},
		"a session":                             {session, session, false},
		"a deadline that is gone":               {due("a", end), bound("a"), false},
		"the same fence":                        {with(bound("a"), 7, 0), with(bound("a"), 7, 0), true},
		"a fence that became known":             {bound("a"), with(bound("a"), 7, 0), false},
		"the same proof":                        {with(due("a", end), 0, 7), with(due("a", end.Add(time.Minute)), 0, 7), true},
		"another proof":                         {with(bound("a"), 0, 7), with(bound("a"), 0, 8), false},
		"a proof that is gone":                  {with(bound("a"), 0, 7), bound("a"), false},
	} {
		inWorld(t, func(w *world) {
			w.start()
			w.list(election("app"))
			time.Sleep(time.Second)
			w.set(election("app", c.before))
			took := time.Now()
			time.Sleep(time.Second)
			w.dark(10*time.Second, election("app", c.after))
			seen := time.Now()
			row := w.row("app")
			if len(row.Terms) != 1 || !row.Terms[0].Start.At.Equal(took) || row.Terms[0].End != (sources.Stamp{}) {
				t.Errorf("%s: the terms are %+v, want the one that began", name, row.Terms)
			}
			since, sure := row.Owners[0].Since, row.Terms[0].Sure
			if c.proved && (!since.At.Equal(took) || since.How != sources.Seen || !sure.IsZero()) {
				t.Errorf("%s: it is owned since %v (%v), sure from %v: want %v, as it was seen", name, since.At, since.How, sure, took)
			}
			if !c.proved && (!since.At.Equal(seen) || since.How != sources.AtLeast || since.Earliest().After(took) || !sure.Equal(seen)) {
				t.Errorf("%s: it is owned since %v (%v), sure from %v: want at least since %v", name, since.At, since.How, sure, seen)
			}
			time.Sleep(4 * time.Second)
			w.set(election("app"))
			held := sources.Interval{Min: 4 * time.Second, Max: time.Since(took)}
			if c.proved {
				held.Min = held.Max
			}
			if got := w.last(sources.EventReleased).Held; got != held {
				t.Errorf("%s: it was held for %v, want %v", name, got, held)
			}
		})
	}
}

// TestARenewalInTheDarkIsToldOnlyOfTheSameGrant has a deadline move where a nonce proves the grant.
func TestARenewalInTheDarkIsToldOnlyOfTheSameGrant(t *testing.T) {
	t.Parallel()
	for _, proof := range []uint64{0, 7} {
		inWorld(t, func(w *world) {
			w.start()
			a := due("a", time.Now().Add(time.Hour))
			a.Proof = proof
			w.list(election("app", a))
			time.Sleep(time.Second)
			w.happened()
			a.Expires = sources.StampBetween(time.Now().Add(2*time.Hour), time.Now().Add(2*time.Hour+time.Millisecond), sources.Told)
			w.dark(5*time.Second, election("app", a))
			if proof == 0 {
				w.wantEvents("source_down  seen", "source_up  seen", "synced  told")
			} else {
				w.wantEvents("source_down  seen", "source_up  seen", "renewed app +a seen", "synced  told")
			}
		})
	}
}

// TestASilenceThatEndsWithoutAListingPutsOwnersInDoubt has a server answer again on the connection
// on which it was silent: nothing is listed anew.
func TestASilenceThatEndsWithoutAListingPutsOwnersInDoubt(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		end := time.Now().Add(time.Hour)
		w.list(election("endless", bound("a")), election("moved", due("a", end)), election("kept", due("a", end)))
		w.script.Silence(true)
		time.Sleep(5 * time.Second)
		w.wantStatus("endless", sources.StatusStale)
		w.script.Silence(false)
		w.beat()
		answered := time.Now()
		if row := w.row("endless"); row.Owners[0].Since.How != sources.AtLeast || !row.Owners[0].Since.At.Equal(answered) || !row.Terms[0].Sure.Equal(answered) {
			t.Errorf("it is owned since %+v, in %+v: want at least since %v", row.Owners[0].Since, row.Terms, answered)
		}
		time.Sleep(time.Second)
		w.set(election("moved", due("a", end.Add(time.Minute))), election("kept", due("a", end)), election("endless", bound("a")))
		if sure := w.row("moved").Terms[0].Sure; !sure.Equal(time.Now()) {
			t.Errorf("its deadline moved, and it is sure from %v", sure)
		}
		if sure := w.row("kept").Terms[0].Sure; !sure.IsZero() {
			t.Errorf("its deadline is the same, and it is sure from %v only", sure)
		}
		if sure := w.row("endless").Terms[0].Sure; !sure.Equal(answered) {
			t.Errorf("nothing was dark since, and it is sure from %v, want %v", sure, answered)
		}
	})
}

// TestAnOwnerThatWasUnseenForAWhileIsInDoubt has rows that may have changed and changed back.
func TestAnOwnerThatWasUnseenForAWhileIsInDoubt(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		end := time.Now().Add(time.Hour)
		w.list(election("endless", bound("a")), election("moved", due("a", end)), election("kept", due("a", end)))
		time.Sleep(time.Second)
		from, to := time.Now(), time.Now().Add(time.Second)
		time.Sleep(time.Second)
		c := sources.Change{Alive: []string{"main"}}
		for _, name := range []string{"endless", "moved", "kept"} {
			c.Unseen = append(c.Unseen, sources.Unseen{Ref: ref(name), From: from, To: to})
		}
		w.tell(c)
		w.set(election("moved", due("a", end.Add(time.Minute))))
		for name, want := range map[string]time.Time{"endless": to, "moved": to, "kept": {}} {
			if sure := w.row(name).Terms[0].Sure; !sure.Equal(want) {
				t.Errorf("%s is sure from %v, want %v", name, sure, want)
			}
		}
		time.Sleep(time.Second)
		w.set(election("kept", due("a", end.Add(time.Minute))))
		if sure := w.row("kept").Terms[0].Sure; !sure.IsZero() {
			t.Errorf("it renewed when it was seen again, and is sure from %v only", sure)
		}
	})
}

// TestATermEndsAtARestartOnlyWhereItCannotHaveOutlivedIt starts the server of an owner anew in the
// dark, and finds the owner again.
func TestATermEndsAtARestartOnlyWhereItCannotHaveOutlivedIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left        time.Duration // of its lease before; 0: it has none
		started     time.Duration // in the dark
		incarnation string
		proof       uint64
		events      []string
		terms       int
	}{
		"it loaded what it had":                      {time.Minute, 5 * time.Second, "one", 0, nil, 1},
		"the lease was over before it started":       {2 * time.Second, 8 * time.Second, "one", 0, []string{"released app -a seen", "acquired app +a seen"}, 2},
		"the lease was over just before it started":  {4 * time.Second, 4100 * time.Millisecond, "one", 0, []string{"released app -a seen", "acquired app +a seen"}, 2},
		"the lease was over after it started":        {7 * time.Second, 4 * time.Second, "one", 0, nil, 1},
		"the lease was over, and the nonce is one":   {2 * time.Second, 8 * time.Second, "one", 7, []string{"renewed app +a seen"}, 1},
		"the lease was over, and it did not restart": {2 * time.Second, 0, "one", 0, nil, 1},
		"it loaded nothing":                          {time.Minute, 5 * time.Second, "two", 0, []string{"released app -a restart inferred", "acquired app +a seen"}, 2},
		"it loaded nothing but what is proved":       {0, 5 * time.Second, "two", 7, nil, 1},
	} {
		inWorld(t, func(w *world) {
			w.start()
			row := func(left time.Duration, incarnation string) *sources.Primitive {
				o := bound("a")
				if left > 0 {
					o = due("a", time.Now().Add(left))
				}
				o.Proof = c.proof
				p := election("app", o)
				p.Incarnation, p.At = incarnation, time.Now()
				return p
			}
			w.list(row(c.left, "one"))
			w.happened()
			w.fail()
			lost := time.Now()
			time.Sleep(10 * time.Second)
			about := &sources.About{Started: lost.Add(c.started)}
			if c.started == 0 {
				about.Started = lost.Add(-time.Hour)
			}
			left := c.left
			if left > 0 {
				left = time.Minute
			}
			w.settle()
			w.happened()
			w.tell(sources.Change{Relists: true, About: about, Set: []*sources.Primitive{row(left, c.incarnation)}, Synced: true, Alive: []string{"main"}})
			if got, want := w.happened(), append(c.events, "synced  told"); !slices.Equal(got, want) {
				t.Errorf("%s: the events are %q, want %q", name, got, want)
			}
			if terms := w.row("app").Terms; len(terms) != c.terms {
				t.Errorf("%s: %+v, want %d terms", name, terms, c.terms)
			}
		})
	}
}

// TestASessionWhoseIDIsMadeUpIsNoOtherBehindDarkness has one process of a Postgres that tells its
// start to one role and hides it from another: who reads it then may not say that somebody else
// owns the lock, nor that one waiter left and another came.
func TestASessionWhoseIDIsMadeUpIsNoOtherBehindDarkness(t *testing.T) {
	t.Parallel()
	of := func(owner, waiter string) *sources.Primitive {
		p := election("app", sources.Owner{ID: owner, Session: owner})
		p.Kind = sources.KindMutex
		p.Queue = sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{ID: waiter, Session: waiter}}}
		return p
	}
	for name, c := range map[string]struct {
		owner, waiter string
		changes       bool
	}{
		"hidden":                  {"13282~10:29:57", "13290~10:29:57", false},
		"hidden of the waiter":    {"13282@08:00:00", "13290~10:29:57", false},
		"a session that is other": {"14000~10:29:57", "14001~10:29:57", true},
		"a start that is other":   {"13282@09:00:00", "13290@08:00:00", true},
	} {
		inWorld(t, func(w *world) {
			w.start()
			w.list(of("13282@08:00:00", "13290@08:00:00"))
			time.Sleep(time.Second)
			events := w.hub.Subscribe(w.hub.State().LastSeq)
			defer events.Close()
			w.dark(10*time.Second, of(c.owner, c.waiter))
			changed := false
			for list, _ := events.Events(0); len(list) > 0; list, _ = events.Events(0) {
				for _, e := range list {
					changed = changed || e.Kind.EndsOwner() || e.Kind == sources.EventAcquired || e.Kind == sources.EventOwnerChanged || e.Kind == sources.EventWaiterLeft
				}
			}
			if since := w.row("app").Owners[0].Since; changed != c.changes || !changed && since.How != sources.AtLeast && since.How != sources.Unknown {
				t.Errorf("%s: a change is told: %v, since %+v", name, changed, since)
			}
		})
	}
}
