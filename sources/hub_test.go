package sources_test

import (
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

func TestEventsOfALeadershipAreNamedOnceAndInOrder(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", 10*time.Second)))
		w.wantEvents("source_up  seen", "present app +a at_least", "synced  told")
		time.Sleep(2 * time.Second)
		w.tell(sources.Change{Set: []*sources.Primitive{election("app")}})
		w.wantEvents("released app -a released inferred")
		time.Sleep(time.Second)
		w.tell(sources.Change{Set: []*sources.Primitive{election("app", leased("b", 2*time.Second))}})
		w.wantEvents("acquired app +b told")
		time.Sleep(3 * time.Second)
		w.tell(sources.Change{Set: []*sources.Primitive{election("app")}})
		w.wantEvents("expired app -b expired inferred")
	})
}
