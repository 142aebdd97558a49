package sources_test

import (
	"testing"
	"time"

	"coordtop/sources"
)

func TestActionIsToldToSubscribersAndChangesNoRow(t *testing.T) {
	t.Parallel()
	hub := sources.NewHub(t.Context(), sources.HubOptions{})
	defer hub.Close()
	sub := hub.Subscribe(0)
	defer sub.Close()
	hub.AddEvent(sources.Event{Kind: sources.EventAction, How: sources.Ours, Ref: sources.Ref{Source: "r", Name: "x"}, Detail: "resign by ana: done"})
	<-sub.Wake()
	events, missed := sub.Events(0)
	if missed != 0 || len(events) != 1 {
		t.Fatalf("got %v and missed %d, want the one event", events, missed)
	}
	e := events[0]
	if e.Kind.String() != "action" || e.Seq != 1 || e.At.IsZero() || e.Detail != "resign by ana: done" {
		t.Errorf("got %+v", e)
	}
	if rows := hub.State().Rows; len(rows) != 0 {
		t.Errorf("it made rows: %v", rows)
	}
}

func TestAnExpectedEndIsUsedUpByTheFirstEndOfItsOwner(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		expect := func(owner string, how sources.Known, within time.Duration) {
			w.hub.Expect(sources.Ending{Ref: ref("pool"), Owner: owner, Cause: sources.CauseEvicted, How: how}, within)
		}
		pool := func(owners ...string) {
			p := election("pool")
			p.Kind, p.Limit, p.Taken = sources.KindSemaphore, 3, uint64(len(owners))
			for _, id := range owners {
				p.Owners = append(p.Owners, bound(id))
			}
			w.set(p)
		}
		w.start()
		w.list()
		pool("a", "b")
		w.happened()
		expect("a", sources.Inferred, time.Minute)
		expect("b", sources.Unknown, time.Minute)
		pool()
		w.wantEvents("released pool -a evicted inferred", "released pool -b evicted ours")
		expect("a", sources.Told, time.Minute) // the answer comes after the end was seen
		pool("a", "b")
		pool()
		w.wantEvents("acquired pool +a told", "acquired pool +b told", "released pool -a told", "released pool -b told")
		pool("a", "b")
		w.happened()
		expect("a", sources.Inferred, time.Minute)
		expect("a", sources.Told, time.Minute)
		expect("b", sources.Inferred, time.Minute)
		expect("b", sources.Inferred, 0)
		pool()
		w.wantEvents("released pool -a evicted ours", "released pool -b told")
	})
}
