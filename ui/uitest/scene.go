package uitest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// Specs are the sources of the story, to be run with the scripts given.
func Specs(scripts map[string]*sourcetest.Script) []sources.Spec {
	return []sources.Spec{
		{Name: YDB, Type: "ydb", Address: "ydb-eu:2136/eu", Source: scripts[YDB]},
		{Name: Redis, Type: "redis", Address: "redis-leases:6379/0", Source: scripts[Redis]},
		{Name: Postgres, Type: "postgres", Address: "ledger-db:5432/app", Source: scripts[Postgres]},
		{Name: Dflockd, Type: "dflockd", Address: "10.0.3.7:6388", Source: scripts[Dflockd]},
	}
}

// Scripts returns a script for each source of the story.
func Scripts() map[string]*sourcetest.Script {
	scripts := map[string]*sourcetest.Script{}
	for _, name := range []string{YDB, Redis, Postgres, Dflockd} {
		scripts[name] = sourcetest.NewScript()
	}
	return scripts
}

// Scene tells the story to a Hub in virtual time and returns what it knows at the end:
// the first of January 2000, 12:41:07 UTC.
func Scene(t *testing.T) *Feed {
	t.Helper()
	var feed *Feed
	synctest.Test(t, func(t *testing.T) {
		hub := sources.NewHub(t.Context(), sources.HubOptions{})
		defer hub.Close()
		clock := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // where bubbles begin
		until := func(t time.Time) {
			time.Sleep(t.Sub(clock))
			synctest.Wait() // what the sources do at that instant comes first, in every run
			clock = t
		}
		end := clock.Add(12*time.Hour + 41*time.Minute + 7*time.Second)
		until(end.Add(-Length))
		scripts := Scripts()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- sources.Run(ctx, hub, Specs(scripts)) }() // received below
		for _, step := range Story(end) {
			until(step.At)
			if step.Silent {
				scripts[step.Source].Silence(true)
				continue
			}
			scripts[step.Source].Push(step.Change)
		}
		until(end)
		feed = NewFeed(hub.State())
		feed.now = end
		events, missed := hub.Subscribe(0).Events(0)
		if feed.events = events; missed > 0 {
			t.Errorf("the Hub dropped %d events of the story", missed)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return feed
}
