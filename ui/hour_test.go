package ui

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
	"coordtop/sources/sourcetest"
	"coordtop/ui/uitest"
)

// hourChanges is how many leaders begin in storyHour after its beginning.
const hourChanges = 10

// storyHour tells an hour to a Hub in virtual time, of which a Timeline must lose nothing, and returns
// what it knows at the end, at 13:00 by a clock that was put forward:
//
//	12:00     everything is led
//	12:10:00  billing/cron has no leader for 8 s
//	12:20:00  search/indexer changes hands six times in 3.5 s
//	12:25     the source is silent for 4 min, in which mail/digest gets another leader
//	12:40:00  payments/settle has no leader for 300 ms
//	12:45:00  the clock is put forward by 5 s
//	12:50:00  the permits of connections are all taken for 20 s
func storyHour(t *testing.T) *testFeed {
	t.Helper()
	var st *sources.State
	var end time.Time
	var events []sources.Event
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(12 * time.Hour)
		h := &hourSource{clock: sources.SystemClock(), script: sourcetest.NewScript(), prims: map[string]*sources.Primitive{}}
		h.start = h.clock.Now().Wall
		h.hub = sources.NewHub(t.Context(), sources.HubOptions{Clock: h})
		defer h.hub.Close()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		for _, name := range []string{"billing/cron", "mail/digest", "payments/settle", "search/indexer", "shard-1/owner"} {
			h.led(name, "host-1")
		}
		h.pool("host-60", "host-61")
		h.script.OnConnect(func() []sources.Change {
			if h.silent.Load() {
				return nil
			}
			return []sources.Change{h.listing()}
		})
		go func() { // received below
			done <- sources.Run(ctx, h.hub, []sources.Spec{{Name: uitest.Redis, Type: "redis", Address: "redis-leases:6379/0", Source: h.script}})
		}()
		h.play()
		h.until(time.Hour)
		st, end = h.hub.State(), h.Now().Wall.UTC()
		events, _ = h.hub.Subscribe(0).Events(0)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return feedAt(st, end, events)
}

// hourSource is the Clock of its Hub, and what its source knows.
type hourSource struct {
	hub    *sources.Hub
	script *sourcetest.Script
	clock  sources.Clock
	start  time.Time
	drift  atomic.Int64
	silent atomic.Bool
	prims  map[string]*sources.Primitive
}

// Now is the virtual time, and how far somebody has set it.
func (h *hourSource) Now() sources.Instant {
	now := h.clock.Now()
	now.Wall = now.Wall.Add(time.Duration(h.drift.Load()))
	return now
}

// until lets time pass up to an instant, counted from the beginning by the clock.
func (h *hourSource) until(at time.Duration) {
	time.Sleep(h.start.Add(at).Sub(h.Now().Wall))
	synctest.Wait()
}

// tell has the source say what is so now.
func (h *hourSource) tell(names ...string) {
	c := sources.Change{At: h.Now().Wall, Alive: []string{""}}
	for _, name := range names {
		c.Set = append(c.Set, h.prims[name])
	}
	h.script.Push(c)
	synctest.Wait()
}

func (h *hourSource) listing() sources.Change {
	now := h.Now().Wall
	c := sources.Change{At: now, Relists: true, Synced: true, Alive: []string{""}, About: &sources.About{Mode: "tracking"}}
	for _, name := range slices.Sorted(maps.Keys(h.prims)) {
		p := *h.prims[name]
		p.At = now
		c.Set = append(c.Set, &p)
	}
	return c
}

// led has an election led by an owner, or by nobody where that is "".
func (h *hourSource) led(name, owner string) {
	p := &sources.Primitive{Ref: sources.Ref{Source: uitest.Redis, Space: "0", Name: name}, Kind: sources.KindElection, Limit: 1,
		LimitHow: sources.Told, OwnersHow: sources.Told, At: h.Now().Wall}
	if owner != "" {
		p.Owners, p.Taken = []sources.Owner{{ID: owner, Label: owner, Session: owner, NoExpiry: true}}, 1
	}
	h.prims[name] = p
}

// pool has the permits of a semaphore of three owned.
func (h *hourSource) pool(owners ...string) {
	p := &sources.Primitive{Ref: sources.Ref{Source: uitest.Redis, Space: "0", Name: "connections"}, Kind: sources.KindSemaphore, Limit: 3,
		Taken: uint64(len(owners)), LimitHow: sources.Told, OwnersHow: sources.Told, At: h.Now().Wall}
	for _, o := range owners {
		p.Owners = append(p.Owners, sources.Owner{ID: o, Label: o, Session: o, NoExpiry: true})
	}
	h.prims["connections"] = p
}

// at lets an election be led by another at an instant.
func (h *hourSource) at(d time.Duration, name, owner string) {
	h.until(d)
	h.led(name, owner)
	h.tell(name)
}

func (h *hourSource) play() {
	const m = time.Minute
	h.at(10*m, "billing/cron", "")
	h.at(10*m+8*time.Second, "billing/cron", "host-2")
	for i := range 6 {
		h.at(20*m+time.Duration(i)*700*time.Millisecond, "search/indexer", []string{"host-2", "host-1", "host-3"}[i%3])
	}
	h.until(25 * m)
	h.script.Silence(true)
	h.silent.Store(true)
	h.led("mail/digest", "host-2")
	h.until(29 * m)
	h.silent.Store(false)
	h.script.Silence(false)
	h.script.Push(h.listing())
	h.hub.Refresh("") // so that a pause before the next connection is no longer by chance
	h.at(40*m, "payments/settle", "")
	h.at(40*m+300*time.Millisecond, "payments/settle", "host-2")
	h.until(45 * m)
	h.drift.Store(int64(5 * time.Second))
	h.at(48*m, "shard-1/owner", "")
	h.at(48*m+90*time.Second, "shard-1/owner", "host-4")
	h.until(50 * m)
	h.pool("host-60", "host-61", "host-62")
	h.tell("connections")
	h.until(50*m + 20*time.Second)
	h.pool("host-60", "host-62")
	h.tell("connections")
}
