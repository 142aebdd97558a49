package sources_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// TestALargeListingDelaysNoOtherSource has one source list 50,000 rows, and lose them all, while
// another tells a change every 20 ms: each must be read soon, with few of the others before it.
func TestALargeListingDelaysNoOtherSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hub := sources.NewHub(t.Context(), sources.HubOptions{})
		defer hub.Close()
		few, many := sourcetest.NewScript("main"), sourcetest.NewScript("main")
		w := &world{t: t, hub: hub, script: few}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- sources.Run(ctx, hub, []sources.Spec{{Name: "redis", Source: few}, {Name: "many", Source: many}})
		}()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("Run = %v", err)
			}
		}()
		synctest.Wait()
		w.list(election("app"))
		events := hub.Subscribe(hub.State().LastSeq)
		defer events.Close()
		var list []*sources.Primitive
		for i := range 50_000 {
			p := election(fmt.Sprint("k", i), sources.Owner{ID: "a"})
			p.Source = "many"
			list = append(list, p)
		}
		for _, what := range []string{"listing", "loss"} {
			many.Push(sources.Change{Scope: "main", Relists: true, Set: list, Synced: true, Alive: []string{"main"}})
			list = nil
			synced, others, seen := false, 0, 0
			for n := 0; !synced; n++ {
				few.Push(sources.Change{Scope: "main", Set: []*sources.Primitive{election("app", sources.Owner{ID: fmt.Sprint(what, n)})}})
				for until := time.Now().Add(20 * time.Millisecond); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
					for batch, _ := events.Events(256); len(batch) > 0; batch, _ = events.Events(256) { // as watch does
						for _, e := range batch {
							if e.Ref.Source == "redis" && e.Kind.BeginsOwner() {
								seen, others = seen+1, 0
							} else if others++; others > 2000 {
								t.Fatalf("%s: %d events of the other source before the next one of this", what, others)
							}
							synced = synced || e.Kind == sources.EventSynced && e.Ref.Source == "many"
						}
					}
				}
				if seen != n+1 {
					t.Fatalf("%s: of %d changes %d were told in time", what, n+1, seen)
				}
			}
			if seen < 20 {
				t.Errorf("%s: it was told within %d changes of the other source: no pauses", what, seen)
			}
		}
	})
}
