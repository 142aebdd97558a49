package sources_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"coordtop/sources"
)

// wantEvents compares the new events with lines.
func (w *world) wantEvents(want ...string) {
	w.t.Helper()
	if got := w.happened(); !slices.Equal(got, want) {
		w.t.Errorf("events:\n got %q\nwant %q", got, want)
	}
}

func (w *world) wantStatus(name string, want sources.Status) {
	w.t.Helper()
	if got := w.status(name); got != want {
		w.t.Errorf("status of %s = %q, want %q", name, got, want)
	}
}

func (w *world) set(p ...*sources.Primitive) {
	w.t.Helper()
	w.tell(sources.Change{Set: p})
}

func TestEventsOfALeadershipAreNamedOnceAndInOrder(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", 10*time.Second)))
		w.wantEvents("source_up  seen", "present app +a at_least", "synced  told")
		time.Sleep(2 * time.Second)
		w.set(election("app"))
		w.wantEvents("released app -a released inferred")
		time.Sleep(time.Second)
		w.set(election("app", leased("b", 2*time.Second)))
		w.wantEvents("acquired app +b told")
		time.Sleep(3 * time.Second)
		w.set(election("app"))
		w.wantEvents("expired app -b expired inferred")
	})
}

func TestGapBeforeATakeOverIsAnInterval(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", time.Minute)))
		poll := func(p *sources.Primitive) {
			w.tell(sources.Change{Set: []*sources.Primitive{p}, After: time.Now().Add(-time.Second)})
		}
		time.Sleep(5 * time.Second)
		poll(election("app"))
		time.Sleep(4 * time.Second)
		poll(election("app", leased("b", time.Minute)))
		events, _ := w.events.Events(0)
		got, want := events[len(events)-1].Gap, sources.Interval{Min: 3 * time.Second, Max: 5 * time.Second}
		if got != want {
			t.Errorf("Gap = %v, want %v", got, want)
		}
		stats := w.row("app").Gaps(w.hub.State(), time.Now(), time.Hour)
		if stats.Count != 1 || stats.Sum != want || stats.P50 != want || stats.P95 != want || stats.Longest != want {
			t.Errorf("Gaps = %+v, want one of %v", stats, want)
		}
		time.Sleep(time.Second)
		poll(election("app", leased("c", time.Minute)))
		events, _ = w.events.Events(0)
		if got, want := events[len(events)-1].Gap, (sources.Interval{Max: time.Second}); got != want {
			t.Errorf("Gap between two owners within one look = %v, want %v", got, want)
		}
		if n := w.row("app").Changes(time.Now(), time.Hour); n != 2 {
			t.Errorf("%d changes are counted, want 2", n)
		}
	})
}

func TestSinceSaysHowItIsKnown(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		start := time.Now()
		told := leased("t", time.Minute)
		told.Since = sources.Stamp{At: start.Add(-time.Hour), How: sources.Told}
		bound := leased("b", time.Minute)
		bound.Since = sources.Stamp{At: start.Add(-time.Hour), How: sources.Bound}
		here := leased("h", time.Minute) // a source may say that it is there, and since when its session is
		here.Since = sources.StampBetween(start.Add(-time.Hour), start, sources.AtLeast)
		w.list(election("first", leased("a", time.Minute)), election("told", told), election("bound", bound), election("seen"), election("here", here))
		since := func(name string, want sources.Stamp) {
			t.Helper()
			if got := w.row(name).Owners[0].Since; got != want {
				t.Errorf("Since of %s = %+v, want %+v", name, got, want)
			}
		}
		since("first", sources.Stamp{At: start, How: sources.AtLeast})
		since("told", told.Since)
		since("bound", bound.Since)

		time.Sleep(time.Second)
		taken := time.Now()
		late := bound
		late.ID = "c"
		w.tell(sources.Change{Set: []*sources.Primitive{election("seen", leased("s", time.Minute)), election("bound", late)}, After: start})
		seen := sources.StampBetween(start, taken, sources.Seen)
		since("seen", seen)
		since("bound", seen)

		time.Sleep(time.Second)
		w.set(election("seen", leased("s", time.Minute)), election("first", leased("a", time.Minute)))
		since("seen", seen)
		since("first", sources.Stamp{At: start, How: sources.AtLeast})
		anew := here // of a source that began anew, as after a restart
		anew.Since = sources.Stamp{At: time.Now(), How: sources.AtLeast}
		w.set(election("here", anew))
		since("here", here.Since)
		if got, want := w.row("seen").Owners[0].Renewed, (sources.Stamp{At: time.Now(), How: sources.Seen}); got != want {
			t.Errorf("Renewed = %+v, want %+v", got, want)
		}
	})
}

func TestHubLeavesTheSourcesPrimitivesAlone(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		p := election("app", leased("a", time.Minute))
		was := fmt.Sprintf("%+v", *p)
		w.list(p)
		if now := fmt.Sprintf("%+v", *p); now != was {
			t.Errorf("the primitive was changed from\n%s to\n%s", was, now)
		}
		if w.row("app").Owners[0].Since.How == sources.Unknown {
			t.Error("the row does not know since when")
		}
	})
}

func TestConfiguredRowsAreNotObservedUntilTheyAreRead(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		unread := &sources.Primitive{Ref: ref("app"), Kind: sources.KindElection, Expected: true}
		w.tell(sources.Change{Relists: true, Set: []*sources.Primitive{unread}})
		w.wantStatus("app", sources.StatusNotObserved)
		w.wantEvents()
		w.tell(sources.Change{Set: []*sources.Primitive{election("app")}, Synced: true, Alive: []string{"main"}})
		w.wantStatus("app", sources.StatusNoLeader)
		if got := w.row("app").Nobody; got != (sources.Stamp{At: time.Now(), How: sources.AtLeast}) {
			t.Errorf("Nobody = %+v, want at least since now", got)
		}
		w.set(unread) // an old snapshot is better than none
		w.wantStatus("app", sources.StatusNoLeader)
	})
}

func TestUnknownOwnersAreNeitherNobodyNorAnEnd(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", time.Hour)), election("other", leased("a", time.Hour)))
		w.happened()
		hidden := func(name string) *sources.Primitive {
			p := election(name)
			p.OwnersHow = sources.Unknown
			return p
		}
		known := time.Now()
		time.Sleep(time.Second)
		w.set(hidden("app"), hidden("other"))
		w.wantStatus("app", sources.StatusUnknown)
		w.wantEvents("owner_unknown app told", "owner_unknown other told")
		time.Sleep(time.Second)
		w.set(election("app", leased("a", time.Hour)), election("other", leased("b", time.Hour)))
		w.wantEvents("present app +a at_least", "owner_changed other -a +b seen")
		if got := w.row("other").Terms[1].Start; got != sources.StampBetween(known, time.Now(), sources.Seen) {
			t.Errorf("start = %+v, want some time after the owners were last known", got)
		}
	})
}

func TestSlotsAreReusedWithAnotherGeneration(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("first"), election("second"))
		first, second := w.row("first"), w.row("second")
		w.tell(sources.Change{Gone: []sources.Ref{first.Ref}})
		time.Sleep(time.Second)
		if w.hub.State().Rows[first.Slot] != nil {
			t.Error("the slot of what is gone is not free")
		}
		w.set(election("third"))
		time.Sleep(time.Second)
		third := w.row("third")
		if third.Slot != first.Slot || third.Gen == first.Gen {
			t.Errorf("third has slot %d gen %d, first had %d gen %d", third.Slot, third.Gen, first.Slot, first.Gen)
		}
		if w.row("second") != second {
			t.Error("a row that did not change was made anew")
		}
		if n := w.hub.State().Sources[0].Rows; n != 2 {
			t.Errorf("the source counts %d rows, want 2", n)
		}
	})
}

func TestWhatExistsOnlyWhileOwnedIsForgotten(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		brief, kept := election("brief", leased("a", time.Hour)), election("kept")
		brief.ForgetAfter = time.Minute
		w.list(brief, kept)
		time.Sleep(10 * time.Minute) // it is owned
		w.row("brief")
		w.happened()
		gone := election("brief")
		gone.ForgetAfter = time.Minute
		w.set(gone)
		time.Sleep(time.Minute - time.Second)
		w.row("brief")
		time.Sleep(3 * time.Second)
		if w.hasRow("brief") {
			t.Error("it is still there a minute after its owner left")
		}
		w.row("kept")
		w.wantEvents("released brief -a released inferred")
	})
}

func TestNothingIsForgottenWhileItsServerIsSilent(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		brief := election("brief")
		brief.ForgetAfter = time.Minute
		w.list(brief)
		w.script.Silence(true)
		time.Sleep(10 * time.Minute) // whether somebody took it since is not known
		w.row("brief")
		w.script.Silence(false)
		w.hub.Refresh("redis") // it may rest between two connections
		time.Sleep(3 * time.Second)
		if w.hasRow("brief") {
			t.Error("it is still there although its server answers again")
		}
	})
}

func TestRowMovesToTheScopeThatTellsIt(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", time.Hour)))
		w.happened()
		w.tell(sources.Change{Scope: "other", Relists: true, Synced: true, Alive: []string{"other"},
			Set: []*sources.Primitive{election("app", leased("a", time.Hour))}})
		w.tell(sources.Change{Gone: []sources.Ref{ref("app")}}) // the old server has it no more
		w.tell(sources.Change{Relists: true, Synced: true})
		if got := w.hub.State().Scopes[w.row("app").Scope].Name; got != "other" {
			t.Errorf("the row is of scope %q", got)
		}
		for _, l := range w.happened() {
			if l == "deleted app told" || l == "released app -a deleted inferred" {
				t.Errorf("event %q of a primitive that moved", l)
			}
		}
	})
}

func TestRenewalsTellTheUsualPauseAndTheLowestLease(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app"))
		w.set(election("app", leased("a", 30*time.Second)))
		for _, pause := range []time.Duration{10 * time.Second, 10 * time.Second, 22 * time.Second} {
			time.Sleep(pause)
			w.set(election("app", leased("a", 30*time.Second)))
		}
		row := w.row("app")
		if row.LowestLease != 8*time.Second {
			t.Errorf("lowest lease = %v, want the 8 s before the late renewal", row.LowestLease)
		}
		if every := row.RenewEvery(); every < 10*time.Second || every > 13*time.Second {
			t.Errorf("usual pause = %v, want about 10 s", every)
		}
		now, limits := time.Now(), sources.DefaultThresholds()
		if got := row.Owners[0].Missed(now.Add(10*time.Second), limits); got != 0 {
			t.Errorf("%d renewals are missed after 10 s", got)
		}
		if got := row.Owners[0].Missed(now.Add(30*time.Second), limits); got != 1 && got != 2 {
			t.Errorf("%d renewals are missed after 30 s", got)
		}
		w.set(election("app", leased("b", time.Minute)))
		if got := w.row("app"); got.LowestLease != time.Minute || got.RenewEvery() != 0 {
			t.Errorf("of the next owner: lowest %v, pause %v, want a minute and a rhythm of its own", got.LowestLease, got.RenewEvery())
		}
	})
}

func TestSemaphoresHaveNoTerms(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		p := election("quota", leased("a", time.Hour), leased("b", time.Hour))
		p.Kind, p.Limit = sources.KindSemaphore, 5
		w.list(p)
		if row := w.row("quota"); len(row.Terms) != 0 || row.LowestLease != 0 {
			t.Errorf("terms %+v, lowest lease %v", row.Terms, row.LowestLease)
		}
		w.set(election("quota", leased("a", time.Hour)))
		if n := len(w.row("quota").Terms); n != 1 {
			t.Errorf("%d terms of what turned out to be an election", n)
		}
		w.set(p)
		if n := len(w.row("quota").Terms); n != 0 {
			t.Errorf("%d terms of what turned out to be a semaphore", n)
		}
	})
}

func TestGoneOfAnotherScopeIsIgnored(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", time.Hour)))
		w.tell(sources.Change{Scope: "other", Relists: true, Synced: true, Alive: []string{"other"}})
		w.tell(sources.Change{Scope: "other", Gone: []sources.Ref{ref("app"), ref("never seen")}})
		w.wantStatus("app", sources.StatusLed)
	})
}
