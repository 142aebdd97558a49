package sources_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
)

func TestSilentScopeTurnsStaleAtItsLimitAndOnlyThat(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", time.Hour)))
		w.tell(sources.Change{Scope: "other", Relists: true, Synced: true, Alive: []string{"other"},
			Set: []*sources.Primitive{{Ref: ref("far"), Kind: sources.KindMutex, OwnersHow: sources.Told, At: time.Now()}}})
		w.wantStatus("app", sources.StatusLed)
		w.wantStatus("far", sources.StatusFree)
		heard := time.Now()
		time.Sleep(3*time.Second - time.Millisecond) // the script goes on proving that main is alive
		w.wantStatus("far", sources.StatusFree)
		w.happened()
		time.Sleep(time.Millisecond)
		synctest.Wait()
		w.wantStatus("far", sources.StatusStale)
		w.wantStatus("app", sources.StatusLed)
		events, _ := w.hub.Subscribe(w.hub.State().LastSeq - 1).Events(1)
		if e := events[0]; e.Kind != sources.EventSourceDown || e.Scope != "other" || e.Detail != "no answer for 3s" || !e.After.Equal(heard) {
			t.Errorf("last event %+v, want scope other down since it was heard", e)
		}
		s := w.hub.State()
		if src := s.Sources[0]; src.Health != sources.HealthStale || src.Err == nil || src.Rows != 2 {
			t.Errorf("source is %+v, want stale for a reason, with 2 rows", src)
		}
	})
}

func TestSilenceLimitGrowsWithTheSampling(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.script.Silence(true)
		w.tell(sources.Change{Relists: true, Synced: true, Alive: []string{"main"}, About: &sources.About{Mode: "polling", Sampling: 4 * time.Second}})
		if got := w.hub.State().Scopes[0].Silence; got != 10*time.Second {
			t.Errorf("limit = %v, want 2.5 x 4 s", got)
		}
		time.Sleep(10*time.Second - 1)
		if got := w.hub.State().Scopes[0].Health; got != sources.HealthLive {
			t.Errorf("health = %v before the limit", got)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := w.hub.State().Scopes[0].Health; got != sources.HealthStale {
			t.Errorf("health = %v at the limit", got)
		}
	})
}

func TestAnswerAfterSilenceEndsTheDarkness(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.script.Silence(true)
		w.list(election("app", leased("a", time.Hour)))
		heard := time.Now()
		time.Sleep(10 * time.Second)
		w.wantStatus("app", sources.StatusStale)
		if dark := w.hub.State().Scopes[0].Dark; len(dark) != 1 || !dark[0].From.Equal(heard) || !dark[0].To.IsZero() {
			t.Errorf("dark = %v, want one that lasts since %v", dark, heard)
		}
		w.tell(sources.Change{Alive: []string{"main"}, At: time.Now().Add(-time.Second)})
		w.wantStatus("app", sources.StatusLed)
		if dark := w.hub.State().Scopes[0].Dark; len(dark) != 1 || !dark[0].To.Equal(time.Now()) {
			t.Errorf("dark = %v, want one that ends now", dark)
		}
		if terms := w.row("app").Terms; len(terms) != 1 {
			t.Errorf("terms = %+v, want the one that goes on", terms)
		}
		time.Sleep(time.Second)
		w.script.Fail(errors.New("reset"))
		synctest.Wait()
		if dark := w.hub.State().Scopes[0].Dark; len(dark) != 2 || !dark[1].From.Equal(dark[0].To) {
			t.Errorf("dark = %v, want the second to begin where the first ends", dark)
		}
	})
}

func TestNothingIsKnownAfterTheLastAnswerThatWasRead(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.script.Silence(true)
		w.list(election("app", leased("a", time.Hour)))
		time.Sleep(time.Second)
		read := time.Now()
		w.tell(sources.Change{Alive: []string{"main"}, At: read.Add(time.Hour)})
		time.Sleep(time.Second) // this process stands still
		w.tell(sources.Change{Alive: []string{"main"}, At: read})
		time.Sleep(time.Second)
		w.script.Fail(errors.New("reset"))
		synctest.Wait()
		if dark := w.hub.State().Scopes[0].Dark; len(dark) != 1 || !dark[0].From.Equal(read) {
			t.Errorf("dark = %v, want one from %v on", dark, read)
		}
	})
}

func TestLostConnectionIsStaleAtOnceAndInventsNothing(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("stays", leased("a", time.Minute)), election("changes", leased("b", time.Hour)),
			election("lapses", leased("c", time.Second)), election("vanishes", leased("d", time.Hour)))
		for range 2 {
			time.Sleep(10 * time.Second)
			w.set(election("stays", leased("a", time.Minute)))
		}
		synctest.Wait()
		w.happened()
		heard := time.Now()
		w.script.OnConnect(func() []sources.Change { return nil })
		time.Sleep(500 * time.Millisecond)
		w.script.Fail(errors.New("reset"))
		synctest.Wait()
		for _, name := range []string{"stays", "changes", "lapses", "vanishes"} {
			w.wantStatus(name, sources.StatusStale)
		}
		w.wantEvents("source_down  seen")

		time.Sleep(30 * time.Second)
		w.tell(sources.Change{Relists: true, Alive: []string{"main"}, Set: []*sources.Primitive{election("stays", leased("a", time.Hour))}})
		w.wantStatus("stays", sources.StatusLed)
		w.wantStatus("changes", sources.StatusStale) // live scope, but not read since
		w.set(election("changes", leased("x", time.Hour)), election("lapses"))
		w.tell(sources.Change{Synced: true})
		now := time.Now()
		w.wantEvents("source_up  seen", "owner_changed changes -b +x seen",
			"expired lapses -c expired inferred", "released vanishes -d seen", "deleted vanishes seen", "synced  told")
		if w.hasRow("vanishes") {
			t.Error("what was not in the listing still has a row")
		}
		interval := sources.StampBetween(heard, now, sources.Seen)
		terms := w.row("changes").Terms
		if len(terms) != 2 || terms[0].End != interval || terms[1].Start != interval || terms[0].Cause != sources.CauseUnknown {
			t.Errorf("terms = %+v, want an end and a start within %v", terms, interval)
		}
		if terms := w.row("stays").Terms; len(terms) != 1 || terms[0].End != (sources.Stamp{}) {
			t.Errorf("terms = %+v, want one that goes on", terms)
		}
		if dark := w.hub.State().Scopes[0].Dark; len(dark) != 1 || !dark[0].From.Equal(heard) || !dark[0].To.Equal(now) {
			t.Errorf("dark = %v, want from %v to %v", dark, heard, now)
		}
		if row := w.row("stays"); row.RenewEvery() != 10*time.Second {
			t.Errorf("RenewEvery = %v: a pause with a gap in it was counted", row.RenewEvery())
		}
	})
}

func TestPolledRowsAreBelievedUpToTheLookBeforeTheLast(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.script.Silence(true)
		w.tell(sources.Change{Relists: true, Synced: true, Alive: []string{"main"}, About: &sources.About{Sampling: 2 * time.Second},
			Set: []*sources.Primitive{election("app", leased("a", time.Hour))}})
		time.Sleep(10 * time.Second)
		heard := time.Now()
		w.tell(sources.Change{Alive: []string{"main"}})
		time.Sleep(10 * time.Second)
		w.tell(sources.Change{Relists: true, Synced: true, Alive: []string{"main"}, Set: []*sources.Primitive{election("app", leased("b", time.Hour))}})
		if got, want := w.row("app").Terms[1].Start.After(), heard.Add(-2*time.Second); !got.Equal(want) {
			t.Errorf("the take-over is placed after %v, want %v", got, want)
		}
	})
}

func TestNewIncarnationOfTheServerEndsAllTerms(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		in := func(inc string) sources.Change {
			p := election("app", leased("a", time.Hour))
			p.Incarnation = inc
			return sources.Change{Relists: true, Synced: true, Alive: []string{"main"}, Set: []*sources.Primitive{p}, About: &sources.About{Incarnation: inc}}
		}
		w.tell(in("1"))
		w.happened()
		time.Sleep(time.Second)
		w.tell(in("2"))
		w.wantEvents("restarted  told", "released app -a restart inferred", "acquired app +a seen", "synced  told")
		if terms := w.row("app").Terms; len(terms) != 2 || terms[0].Cause != sources.CauseRestart || terms[1].Hue != terms[0].Hue {
			t.Errorf("terms = %+v, want two of one owner, the first ended by a restart", terms)
		}
	})
}

func TestWhatAppearsAfterTheListingIsNew(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		key := func(name string) *sources.Primitive {
			p := election(name, leased("a", time.Hour))
			p.ForgetAfter = time.Hour
			return p
		}
		w.tell(sources.Change{Relists: true, Set: []*sources.Primitive{key("first")}, Alive: []string{"main"}})
		w.tell(sources.Change{Set: []*sources.Primitive{key("second")}, Synced: true})
		w.tell(sources.Change{Set: []*sources.Primitive{key("third")}})
		w.wantEvents("source_up  seen", "present first +a at_least", "present second +a at_least", "synced  told", "acquired third +a told")
		heard := time.Now()
		time.Sleep(500 * time.Millisecond)
		w.tell(sources.Change{Relists: true, Synced: true, Set: []*sources.Primitive{key("first"), key("second"), key("third"), key("fourth")}})
		if got, want := w.row("fourth").Terms[0].Start, sources.StampBetween(heard, time.Now(), sources.Seen); got != want {
			t.Errorf("what appeared in a gap starts at %+v, want %+v", got, want)
		}
	})
}

func TestGapOfALiveScopeIsDarkToo(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", time.Hour)))
		heard := time.Now()
		time.Sleep(500 * time.Millisecond)
		w.tell(sources.Change{Relists: true, Alive: []string{"main"}})
		w.wantStatus("app", sources.StatusStale)
		lasting := w.hub.State().Scopes[0]
		if len(lasting.Dark) != 1 || !lasting.Dark[0].From.Equal(heard) || lasting.Synced {
			t.Errorf("scope = %+v, want dark since %v", lasting, heard)
		}
		w.tell(sources.Change{Set: []*sources.Primitive{election("app", leased("b", time.Hour))}, Synced: true})
		if got := w.row("app").Terms[1].Start.After(); !got.Equal(heard) {
			t.Errorf("the take-over is placed after %v, want %v", got, heard)
		}
		if scope := w.hub.State().Scopes[0]; !scope.Dark[0].To.Equal(time.Now()) || !scope.Synced || !scope.Since.Equal(heard) {
			t.Errorf("scope = %+v, want no more darkness, and to be observed since the first listing", scope)
		}
		if !lasting.Dark[0].To.IsZero() {
			t.Error("the darkness of a published state was changed")
		}
	})
}

func TestARestartSaysWhatBecameOfTheServer(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		for _, about := range []sources.About{
			{Incarnation: "1"}, {Incarnation: "2"},
			{Incarnation: "3", Became: "the node was made anew", BecameHow: sources.Inferred},
		} {
			w.tell(sources.Change{Relists: true, About: &about, Synced: true, Alive: []string{"main"}})
		}
		events, _ := w.hub.Subscribe(0).Events(0)
		var told []string
		for _, e := range events {
			if e.Kind == sources.EventRestarted {
				told = append(told, e.Detail+", "+e.How.String())
			}
		}
		if want := []string{"the server was restarted: 2, told", "the node was made anew: 3, inferred"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

func TestAfterAnOutageAChangeMayBeAsOldAsTheAskingOfTheLastLook(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list()
		time.Sleep(10 * time.Second)
		asked := time.Now()
		time.Sleep(100 * time.Millisecond) // the answer took so long, and what it shows may be as old
		w.set(election("app", leased("a", time.Hour)))
		synctest.Wait()
		w.happened()
		time.Sleep(time.Second)
		w.tell(sources.Change{Relists: true})
		w.tell(sources.Change{Synced: true, After: asked, Set: []*sources.Primitive{election("app", leased("b", time.Hour))}})
		var changed []sources.Event
		events, _ := w.hub.Subscribe(0).Events(0)
		for _, e := range events {
			if e.Kind == sources.EventOwnerChanged {
				changed = append(changed, e)
			}
		}
		if len(changed) != 1 || !changed[0].After.Equal(asked) {
			t.Errorf("told as %+v, want after %v", changed, asked)
		}
	})
}

func TestWhoOwnedWhatWasDeletedInTheDarkIsNotToldAsTheLast(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		absent := election("app")
		absent.Absent = true
		w.start()
		w.list(election("app", leased("a", time.Hour)))
		time.Sleep(10 * time.Second)
		w.script.OnConnect(func() []sources.Change { return nil })
		w.script.Fail(errors.New("reset"))
		synctest.Wait()
		time.Sleep(10 * time.Second)
		w.tell(sources.Change{Relists: true, Synced: true, Alive: []string{"main"}, Set: []*sources.Primitive{absent}})
		time.Sleep(time.Second)
		w.set(election("app")) // made anew
		time.Sleep(time.Second)
		w.set(election("app", leased("b", time.Hour)))
		synctest.Wait()
		events, _ := w.hub.Subscribe(0).Events(0)
		e := events[len(events)-1]
		if e.Kind != sources.EventAcquired || e.Last != (sources.OwnerRef{}) {
			t.Errorf("%+v, want no last owner: another may have owned it in the dark", e)
		}
	})
}

// TestWhatWasReadBeforeADarknessAndToldInItDoesNotShortenIt hands over, as a Link does at its end, a look
// that is younger than the last answer.
func TestWhatWasReadBeforeADarknessAndToldInItDoesNotShortenIt(t *testing.T) {
	t.Parallel()
	free := func() *sources.Primitive { return election("app") }
	owned := func(id string, fence uint64) func() *sources.Primitive {
		return func() *sources.Primitive {
			p := election("app", bound(id))
			p.Owners[0].Fence = fence
			return p
		}
	}
	for what, c := range map[string]struct{ late, next func() *sources.Primitive }{
		"owned before and behind": {owned("a", 1), owned("a", 3)}, // b may have been 2
		"free before":             {free, owned("b", 3)},
	} {
		inWorld(t, func(w *world) {
			w.start()
			w.script.Silence(true)
			w.list(owned("a", 1)())
			time.Sleep(20 * time.Millisecond)
			read, late := time.Now(), c.late()
			time.Sleep(10 * time.Second)
			w.wantStatus("app", sources.StatusStale)
			w.script.OnConnect(func() []sources.Change { return nil })
			w.tell(sources.Change{At: read, Set: []*sources.Primitive{late}})
			w.script.Fail(errors.New("reset"))
			synctest.Wait()
			time.Sleep(time.Second)
			w.tell(sources.Change{Relists: true, Synced: true, Alive: []string{"main"}, Set: []*sources.Primitive{c.next()}})
			if e := w.last(sources.EventAcquired); e.Last != (sources.OwnerRef{}) || e.LastSeen.ID != "a" {
				t.Errorf("%s: told after %q, last seen %q: another may have led in the dark", what, e.Last.ID, e.LastSeen.ID)
			}
		})
	}
}
