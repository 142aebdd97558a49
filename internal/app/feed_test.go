package app

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// TestProofOfLifeWakesNoBoard has a server that answers, and nothing else.
func TestProofOfLifeWakesNoBoard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hub := sources.NewHub(t.Context(), sources.HubOptions{})
		defer hub.Close()
		board, other := newFeed(hub, nil), hub.Subscribe(0)
		defer board.Close()
		defer other.Close()
		ctx, stop := context.WithCancel(t.Context())
		script := sourcetest.NewScript("main")
		var running sync.WaitGroup
		running.Go(func() {
			_ = sources.Run(ctx, hub, []sources.Spec{{Name: "s", Type: "redis", Source: script}})
		})
		defer running.Wait()
		defer stop()
		script.Push(sources.Change{Scope: "main", Relists: true, Synced: true, Alive: []string{"main"}})
		time.Sleep(2 * time.Second)
		<-board.Wake()
		<-other.Wake()
		script.Push(sources.Change{Alive: []string{"main"}})
		time.Sleep(2 * time.Second)
		if len(board.Wake()) > 0 || len(other.Wake()) == 0 {
			t.Errorf("%d wake-ups of the board, and %d of another reader", len(board.Wake()), len(other.Wake()))
		}
	})
}
