package sources_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
)

// push tells a Change and waits until it was taken in, but not until it is published.
func (w *world) push(c sources.Change) {
	w.t.Helper()
	c.Scope = "main"
	w.script.Push(c)
	synctest.Wait()
}

// quiet starts a world that has been quiet for a while, with two led elections.
func (w *world) quiet() {
	w.t.Helper()
	w.start()
	w.list(election("app", leased("a", time.Hour)), election("other", leased("a", time.Hour)))
	time.Sleep(5*time.Second + time.Millisecond)
	synctest.Wait()
}

func TestChangeAfterQuietIsPublishedAtOnce(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.quiet()
		rev := w.hub.State().Rev
		w.push(sources.Change{Set: []*sources.Primitive{election("app")}})
		if got := w.hub.State(); got.Rev != rev+1 || got.LastSeq == 0 {
			t.Errorf("rev = %d after the change, want %d", got.Rev, rev+1)
		}
		w.wantStatus("app", sources.StatusNoLeader)
	})
}

func TestStatesAreAtMostTenASecondAndTheLastChangeIsInOne(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.quiet()
		rev := w.hub.State().Rev
		for i := range 1000 {
			p := election("app")
			if i%2 == 0 {
				p = election("app", leased("b", time.Hour))
			}
			w.push(sources.Change{Set: []*sources.Primitive{p}})
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if got := w.hub.State().Rev - rev; got < 10 || got > 11 {
			t.Errorf("%d states in a second, want 10 and the leading edge", got)
		}
		rev = w.hub.State().Rev
		w.push(sources.Change{Set: []*sources.Primitive{election("app", leased("last", time.Hour))}})
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if got := w.row("app").Owners[0].ID; got != "last" || w.hub.State().Rev != rev+1 {
			t.Errorf("owner is %s in state %d, want the last one in state %d", got, w.hub.State().Rev, rev+1)
		}
	})
}

func TestChangeOfOwnerOnScreenDoesNotWait(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.quiet()
		w.push(sources.Change{Set: []*sources.Primitive{election("other")}}) // the leading edge
		time.Sleep(20 * time.Millisecond)
		rev := w.hub.State().Rev
		w.push(sources.Change{Set: []*sources.Primitive{election("app", leased("b", time.Hour))}})
		if w.hub.State().Rev != rev {
			t.Error("a row that nobody watches was published before the end of the step")
		}
		w.hub.Focus([]sources.Ref{ref("app")}, sources.Ref{})
		renewed := leased("b", 2*time.Hour)
		w.push(sources.Change{Set: []*sources.Primitive{election("app", renewed)}})
		if w.hub.State().Rev != rev {
			t.Error("a renewal does not wait for the end of the step")
		}
		w.push(sources.Change{Set: []*sources.Primitive{election("app", leased("c", time.Hour))}})
		if w.hub.State().Rev != rev+1 || w.row("app").Owners[0].ID != "c" {
			t.Error("a change of owner in a watched row waits")
		}
		for range 50 { // more than any screen can show
			w.push(sources.Change{Set: []*sources.Primitive{election("app", leased("b", time.Hour))}})
			w.push(sources.Change{Set: []*sources.Primitive{election("app", leased("c", time.Hour))}})
		}
		if w.hub.State().Rev > rev+2 {
			t.Errorf("%d states within one instant", w.hub.State().Rev-rev)
		}
	})
}

func TestFirstListingDoesNotWait(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.push(sources.Change{Alive: []string{"main"}, About: &sources.About{Mode: "tracking"}}) // the source is up
		time.Sleep(20 * time.Millisecond)
		rev := w.hub.State().Rev
		w.push(sources.Change{Relists: true, Set: []*sources.Primitive{election("app")}})
		if w.hub.State().Rev != rev {
			t.Error("the beginning of a listing was published before the end of the step")
		}
		w.push(sources.Change{Synced: true})
		w.wantStatus("app", sources.StatusNoLeader)
		w.push(sources.Change{Relists: true, Synced: true})
		if w.hub.State().Rev > rev+1 {
			t.Error("a later listing does not wait for the end of the step")
		}
	})
}

func TestFirstRowsDoNotWaitForALongListing(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.push(sources.Change{Relists: true, Alive: []string{"main"}, About: &sources.About{Mode: "tracking"}}) // the source is up
		time.Sleep(20 * time.Millisecond)
		rev := w.hub.State().Rev
		for i := range 60 {
			w.push(sources.Change{Set: []*sources.Primitive{election(fmt.Sprint("app", i))}})
			time.Sleep(time.Millisecond)
			if got := w.hub.State().Rev; i < 19 && got != rev || i > 20 && got != rev+1 {
				t.Fatalf("%d states after %d ms, want one after 20 and the next after 100 more", got-rev, i+1)
			}
		}
		w.wantStatus("app0", sources.StatusNoLeader)
	})
}

func TestProofOfLifeAloneIsPublishedOnceASecond(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.quiet()
		rev := w.hub.State().Rev
		for range 100 {
			w.push(sources.Change{Alive: []string{"main"}})
			time.Sleep(100 * time.Millisecond)
		}
		s := w.hub.State()
		if got := s.Rev - rev; got < 9 || got > 11 {
			t.Errorf("%d states in ten seconds, want one a second", got)
		}
		if age := time.Since(s.Scopes[0].Alive); age > time.Second+100*time.Millisecond {
			t.Errorf("the last proof of life is %v old", age)
		}
		for rev = w.hub.State().Rev; w.hub.State().Rev == rev; time.Sleep(time.Millisecond) {
			w.push(sources.Change{Alive: []string{"main"}})
		}
		w.push(sources.Change{Set: []*sources.Primitive{election("app")}})
		w.wantStatus("app", sources.StatusNoLeader) // the state just now was calm: it does not hold up the leading edge
	})
}

func TestProofOfLifeAloneWakesNobodyWhoSkipsIt(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.quiet()
		all, news := w.hub.Subscribe(math.MaxUint64), w.hub.Subscribe(math.MaxUint64)
		news.SkipCalm()
		woken := func(s *sources.Subscription) bool {
			time.Sleep(2 * time.Second)
			select {
			case <-s.Wake():
				return true
			default:
				return false
			}
		}
		woken(all)
		woken(news)
		was := w.hub.State()
		w.push(sources.Change{Alive: []string{"main"}})
		if got := woken(all); !got {
			t.Error("a subscription was not woken for proof of life")
		}
		if got := woken(news); got {
			t.Error("proof of life woke a subscription that skips it")
		}
		if now := w.hub.State(); now.Rev == was.Rev || len(now.Rows) == 0 || &now.Rows[0] != &was.Rows[0] {
			t.Error("the rows were copied for proof of life")
		}
		w.push(sources.Change{Alive: []string{"main"}, Set: []*sources.Primitive{election("app", leased("b", time.Hour))}})
		if got := woken(news); !got {
			t.Error("a new owner woke nobody")
		}
		if now := w.hub.State(); &now.Rows[0] == &was.Rows[0] {
			t.Error("a state that was published has changed")
		}
		w.push(sources.Change{Alive: []string{"main"}, Set: []*sources.Primitive{election("other")}})
		if got := woken(news); !got {
			t.Error("a new row woke nobody")
		}
	})
}

// renewedNow is a Change in which the leader of app has just renewed a lease of a minute.
func renewedNow() sources.Change {
	return sources.Change{Alive: []string{"main"}, Set: []*sources.Primitive{election("app", leased("a", time.Minute))}}
}

func TestARenewalInGoodTimeIsPublishedWithinASecondAndALateOneAtOnce(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.quiet()
		w.push(renewedNow())
		time.Sleep(2 * time.Second)
		news := w.hub.Subscribe(math.MaxUint64)
		news.SkipCalm()
		ends := func() time.Time { return w.hub.State().Rows[0].Owners[0].Expires.At }
		for range 30 {
			time.Sleep(1500 * time.Millisecond)
			was := w.hub.State()
			w.push(renewedNow())
			if w.hub.State() != was {
				t.Errorf("a renewal in good time was published at once")
			}
			end := ends()
			time.Sleep(1100 * time.Millisecond)
			if !ends().After(end) {
				t.Errorf("a second later no state has the renewal")
			}
		}
		if len(news.Wake()) > 0 {
			t.Error("renewals in good time woke a subscription that skips them")
		}
		time.Sleep(50 * time.Second)
		w.wantStatus("app", sources.StatusLedLate)
		w.push(renewedNow())
		w.wantStatus("app", sources.StatusLed)
		if len(news.Wake()) == 0 {
			t.Error("a late renewal woke nobody")
		}
	})
}

func TestWakeUpStandsForAnyNumberOfNews(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.quiet()
		w.happened()
		for len(w.events.Wake()) > 0 {
			<-w.events.Wake()
		}
		for range 5 {
			w.push(sources.Change{Set: []*sources.Primitive{election("app", leased("b", time.Hour))}})
		}
		if n := len(w.events.Wake()); n != 1 {
			t.Errorf("%d wake-ups wait, want 1", n)
		}
		<-w.events.Wake()
		w.wantEvents("owner_changed app -a +b told")
		for len(w.events.Wake()) > 0 {
			<-w.events.Wake()
		}
		time.Sleep(2 * time.Second)
		if n := len(w.events.Wake()); n != 1 {
			t.Error("a new state without events wakes nobody")
		}
		<-w.events.Wake()
		w.events.Close()
		w.events.Close()
		w.push(sources.Change{Set: []*sources.Primitive{election("app")}})
		if n := len(w.events.Wake()); n != 0 {
			t.Error("a closed subscription is woken")
		}
		w.wantEvents("released app -b released inferred")
	})
}

func TestSubscriptionGoesOnWhereAStateEnds(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.quiet()
		s := w.hub.State()
		w.push(sources.Change{Set: []*sources.Primitive{election("app")}})
		events, missed := w.hub.Subscribe(s.LastSeq).Events(0)
		if len(events) != 1 || missed != 0 || events[0].Seq != s.LastSeq+1 || events[0].Kind != sources.EventReleased {
			t.Errorf("events behind the state: %+v, %d missed", events, missed)
		}
		sub := w.hub.Subscribe(1 << 40)
		if events, missed := sub.Events(0); len(events) != 0 || missed != 0 {
			t.Errorf("a cursor from the future reads %+v, misses %d", events, missed)
		}
		w.push(sources.Change{Set: []*sources.Primitive{election("app", leased("z", time.Hour))}})
		if events, _ := sub.Events(0); len(events) != 1 {
			t.Errorf("%d events behind a cursor from the future, want the new one", len(events))
		}
	})
}

func TestPublishedStatesNeverChange(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.quiet()
		w.tell(sources.Change{Set: []*sources.Primitive{election("app", leased("z", time.Hour))}})
		s := w.hub.State()
		row := w.row("app")
		rows, terms, kept, activity := slices.Clone(s.Rows), slices.Clone(row.Terms), *row, row.Changes(time.Now(), time.Hour)
		for _, id := range []string{"b", "c", "b", "d"} {
			w.tell(sources.Change{Set: []*sources.Primitive{election("app", leased(id, time.Hour))}})
		}
		w.tell(sources.Change{Gone: []sources.Ref{ref("other")}})
		if !slices.Equal(s.Rows, rows) || !slices.Equal(row.Terms, terms) || row.Rev != kept.Rev || row.Primitive != kept.Primitive ||
			row.Changes(time.Now(), time.Hour) != activity {
			t.Error("a published state was changed")
		}
		if got := w.row("app"); got.Rev <= kept.Rev || got.Rev > w.hub.State().Rev {
			t.Errorf("the new version has rev %d, the old %d, the state %d", got.Rev, kept.Rev, w.hub.State().Rev)
		}
	})
}

func TestClosedHubCanStillBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := sources.NewHub(t.Context(), sources.HubOptions{})
		h.Close()
		h.Close()
		if h.State() == nil || len(h.State().Rows) != 0 {
			t.Error("a closed hub has no state")
		}
		if events, missed := h.Subscribe(0).Events(0); events != nil || missed != 0 {
			t.Errorf("events %v, %d missed", events, missed)
		}
	})
}

// TestASourceWhoseOnlyRowComesAndGoesIsNotPublishedMoreOften has a row that is made and gone in 10 ms.
func TestASourceWhoseOnlyRowComesAndGoesIsNotPublishedMoreOften(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.tell(sources.Change{Relists: true, Synced: true, Alive: []string{"main"}})
		time.Sleep(5 * time.Second)
		rev := w.hub.State().Rev
		for range 100 {
			w.push(sources.Change{Set: []*sources.Primitive{election("app", bound("a"))}})
			time.Sleep(5 * time.Millisecond)
			w.push(sources.Change{Gone: []sources.Ref{ref("app")}})
			time.Sleep(5 * time.Millisecond)
		}
		if n := w.hub.State().Rev - rev; n > 12 {
			t.Errorf("%d states in a second", n)
		}
	})
}
