package sources_test

import (
	"testing"
	"time"

	"coordtop/sources"
)

// TestARenewalHoldsNothingElseUp has looks at which more than the lease is new, of which no event tells.
func TestARenewalHoldsNothingElseUp(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*sources.Primitive){
		"guard":      func(p *sources.Primitive) { p.Owners[0].Guard = "again" },
		"permits":    func(p *sources.Primitive) { p.Owners[0].Permits = 2 },
		"attribute":  func(p *sources.Primitive) { p.Owners[0].Attrs = []sources.Attr{{Key: "taken", Value: "2"}} },
		"queue":      func(p *sources.Primitive) { p.Queue = sources.Queue{How: sources.Told, Len: 3} },
		"candidates": func(p *sources.Primitive) { p.Candidates = []sources.Waiter{{ID: "z"}} },
		"note":       func(p *sources.Primitive) { p.Note = "cut" },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			inWorld(t, func(w *world) {
				w.quiet()
				w.push(renewedNow())
				time.Sleep(5 * time.Second)
				news := w.hub.Subscribe(w.hub.State().LastSeq)
				news.SkipCalm()
				was, is := w.row("app"), election("app", leased("a", time.Minute))
				change(is)
				w.push(sources.Change{Alive: []string{"main"}, Set: []*sources.Primitive{is}})
				if w.row("app") == was || len(news.Wake()) == 0 {
					t.Error("it waits as a renewal would")
				}
			})
		})
	}
}

// TestARowThatIsReadAgainIsBelievedAtOnce has one that is renewed at the first look after continuity was lost.
func TestARowThatIsReadAgainIsBelievedAtOnce(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		led := func() *sources.Primitive {
			o := leased("a", time.Minute)
			o.Proof = 1
			return election("app", o)
		}
		w.quiet()
		w.push(sources.Change{Alive: []string{"main"}, Set: []*sources.Primitive{led()}})
		time.Sleep(5 * time.Second)
		w.push(sources.Change{Relists: true, Alive: []string{"main"}})
		time.Sleep(time.Second)
		w.wantStatus("app", sources.StatusStale)
		w.push(sources.Change{Alive: []string{"main"}, Set: []*sources.Primitive{led()}})
		w.wantStatus("app", sources.StatusLed)
	})
}

func TestARenewalThatWaitsIsPublishedForWhoLooksNow(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.quiet()
		w.push(renewedNow())
		time.Sleep(5 * time.Second)
		w.push(renewedNow())
		was := w.hub.State()
		w.hub.Publish()
		is := w.hub.State()
		if is == was || !is.Rows[0].Owners[0].Expires.At.After(was.Rows[0].Owners[0].Expires.At) {
			t.Error("the state has no renewal")
		}
		if w.hub.Publish(); w.hub.State() != is {
			t.Error("a state is published where nothing waits")
		}
	})
}
