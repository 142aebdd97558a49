package ydbtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"pgregory.net/rapid"
)

// chaos drives the model at random and keeps its own account of what is unanswered.
type chaos struct {
	model   *cluster
	now     time.Time
	streams []*stream
	lastReq uint64
	// open requests by stream and number; what they may be answered with and how often
	// is checked as the answers come.
	open map[*stream]map[uint64]string
	pend map[*stream]map[uint64]bool
}

func TestInvariantsHoldAfterAnySequence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var ping uint64
		c := &chaos{now: time.Unix(0, 0), open: map[*stream]map[uint64]string{}, pend: map[*stream]map[uint64]bool{}}
		c.model = newCluster(c.now, []string{"local"}, Limits{}, func() uint64 { ping++; return ping })
		c.model.createNode(nodePath, nil)
		t.Repeat(map[string]func(*rapid.T){
			"attach":   c.attach,
			"request":  c.request,
			"request2": c.request,
			"request3": c.request,
			"hang up":  c.hangUp,
			"stop":     c.stop,
			"wait":     c.wait,
			"fault":    c.fault,
			"":         c.check,
		})
	})
}

func (c *chaos) live() []*stream {
	c.streams = slices.DeleteFunc(c.streams, func(st *stream) bool { return st.closed })
	return c.streams
}

func (c *chaos) pick(t *rapid.T) *stream {
	live := c.live()
	if len(live) == 0 {
		t.Skip("no stream")
	}
	return rapid.SampledFrom(live).Draw(t, "stream")
}

func (c *chaos) attach(t *rapid.T) {
	st := c.model.open(rapid.IntRange(0, 1).Draw(t, "front end"), Read|Write|Erase)
	c.open[st], c.pend[st] = map[uint64]string{}, map[uint64]bool{}
	c.streams = append(c.streams, st)
	c.model.advance(c.now)
	c.model.receive(st, sessionStart(&pb.SessionRequest_SessionStart{
		SessionId:     rapid.Uint64Range(0, 4).Draw(t, "session"),
		SeqNo:         rapid.Uint64Range(0, 2).Draw(t, "seq"),
		TimeoutMillis: rapid.SampledFrom([]uint64{0, 100, 30_000}).Draw(t, "timeout"),
		ProtectionKey: rapid.SampledFrom([][]byte{nil, []byte("k")}).Draw(t, "key"),
	}))
}

func (c *chaos) request(t *rapid.T) {
	st := c.pick(t)
	c.lastReq++
	id := c.lastReq
	name := rapid.SampledFrom([]string{"s", "q", "e"}).Draw(t, "name")
	count := rapid.Uint64Range(1, 3).Draw(t, "count")
	wait := rapid.SampledFrom([]uint64{0, 50, 5000, forever}).Draw(t, "wait")
	data := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "data")
	kinds := map[string]*pb.SessionRequest{
		"acquire": acquire(id, name, count, wait, data), "release": release(id, name),
		"create": create(id, name, count, data), "update": update(id, name, data),
		"delete":   remove(id, name, rapid.Bool().Draw(t, "force")),
		"describe": describe(id, name, rapid.SampledFrom([]string{"", "data", "owners"}).Draw(t, "watch")),
	}
	kind := rapid.SampledFrom([]string{"acquire", "acquire", "acquire", "release", "create", "update", "delete", "describe"}).Draw(t, "kind")
	req := kinds[kind]
	if name == "e" && kind == "acquire" {
		req = ephemeral(req)
	}
	c.open[st][id] = kind
	c.model.advance(c.now)
	c.model.receive(st, req)
}

func (c *chaos) hangUp(t *rapid.T) {
	st := c.pick(t)
	c.model.advance(c.now)
	c.model.hangUp(st)
}

func (c *chaos) stop(t *rapid.T) {
	st := c.pick(t)
	c.model.advance(c.now)
	c.model.receive(st, stop())
}

func (c *chaos) wait(t *rapid.T) {
	c.now = c.now.Add(rapid.SampledFrom([]time.Duration{time.Millisecond, 40 * time.Millisecond, 3 * time.Second, 31 * time.Second}).Draw(t, "time"))
	silent := rapid.IntRange(0, 9).Draw(t, "silent") == 0
	for {
		due, ok := c.model.timers.next()
		if !ok || due.After(c.now) {
			break
		}
		c.model.advance(due)
		for _, st := range c.live() {
			if !silent {
				c.model.receive(st, pong(st.ping))
			}
		}
	}
	c.model.advance(c.now)
}

func (c *chaos) fault(t *rapid.T) {
	tab := c.model.find([]string{"local", "n"}).tablet
	switch rapid.IntRange(0, 9).Draw(t, "fault") {
	case 0:
		tab.restart()
	case 1:
		tab.loseRegistration(rapid.IntRange(0, 1).Draw(t, "front end"))
	case 2:
		for _, id := range sortedKeys(tab.sessions) {
			tab.expire(tab.sessions[id])
			break
		}
	}
}

func (c *chaos) check(t *rapid.T) {
	c.answers(t)
	tab := c.model.find([]string{"local", "n"}).tablet
	links := 0
	for name, sem := range tab.semaphores {
		links += len(sem.owners) + len(sem.waiters)
		c.checkSemaphore(t, tab, name, sem)
	}
	for id, s := range tab.sessions {
		links -= len(s.owned) + len(s.waiting)
		for sem := range s.owned {
			if s.waiting[sem] != nil {
				t.Fatalf("session %d owns %s and waits for it", id, sem.name)
			}
		}
		if (s.attached == nil) != (slices.Contains(c.model.timers.due, s.expiry)) {
			t.Fatalf("session %d: attached %t, expiry runs %t", id, s.attached != nil, s.expiry != nil)
		}
		if s.attached == nil && len(s.slots)+len(s.watches) > 0 {
			t.Fatalf("session %d is detached and has requests", id)
		}
	}
	if links != 0 {
		t.Fatalf("semaphores and sessions differ by %d links", links)
	}
}

func (c *chaos) checkSemaphore(t *rapid.T, tab *tablet, name string, sem *semaphore) {
	var taken, last uint64
	for _, l := range sem.owners {
		taken += l.count
		if l.session.owned[sem] != l || tab.sessions[l.session.id] != l.session {
			t.Fatalf("%s: an owner's session does not know it", name)
		}
	}
	if taken != sem.taken || taken > sem.limit {
		t.Fatalf("%s: %d taken, counted %d, limit %d", name, sem.taken, taken, sem.limit)
	}
	for i, l := range sem.waiters {
		if l.orderID <= last || l.orderID > tab.lastOrder {
			t.Fatalf("%s: the queue is out of order at %d", name, i)
		}
		last = l.orderID
		if l.session.waiting[sem] != l {
			t.Fatalf("%s: a waiter's session does not know it", name)
		}
		if (l.timer == nil) != (l.timeoutMillis == forever) {
			t.Fatalf("%s: waiter %d with a wait of %d has no timer, or needs none", name, i, l.timeoutMillis)
		}
	}
	if len(sem.waiters) > 0 && sem.fits(sem.waiters[0].count) {
		t.Fatalf("%s: the first of the queue fits and waits", name)
	}
	if sem.ephemeral && sem.empty() {
		t.Fatalf("%s: an empty ephemeral semaphore is left", name)
	}
	for _, w := range sem.watches {
		if w.session.watches[sem] != w {
			t.Fatalf("%s: a watch that its session does not know", name)
		}
	}
}

// answers checks that every request is answered once, that pending comes at most once
// and before the result, and that nothing follows the end of a stream. A request whose
// stream ended, or whose claim is in a queue, may be unanswered.
func (c *chaos) answers(t *rapid.T) {
	for _, d := range c.model.drain() {
		open := c.open[d.to]
		if open == nil {
			t.Fatalf("%s for a stream that has ended", render(d))
		}
		if d.end != nil {
			delete(c.open, d.to)
			continue
		}
		var kind, status string
		var id uint64
		if _, err := fmt.Sscanf(render(d), "%s %d %s", &kind, &id, &status); err != nil && kind != "pending" {
			continue
		}
		switch kind {
		case "pending":
			if open[id] != "acquire" || c.pend[d.to][id] {
				t.Fatalf("pending for %d, which is %q", id, open[id])
			}
			c.pend[d.to][id] = true
		case "acquire", "release", "create", "update", "delete", "describe":
			if open[id] != kind {
				t.Fatalf("%s for %d, which is %q", kind, id, open[id])
			}
			delete(open, id)
		}
	}
	for st, open := range c.open {
		for id, kind := range open {
			if kind != "acquire" || !c.pend[st][id] {
				t.Fatalf("%s %d is not answered", kind, id)
			}
		}
	}
	c.unansweredAreQueued(t)
}

// unansweredAreQueued compares the open acquires with the slots of the sessions.
func (c *chaos) unansweredAreQueued(t *rapid.T) {
	slots := map[*stream]int{}
	for _, s := range c.model.find([]string{"local", "n"}).tablet.sessions {
		for sem, to := range s.slots {
			if s.waiting[sem] == nil {
				t.Fatalf("session %d has an unanswered acquire and does not wait", s.id)
			}
			slots[to.stream]++
		}
	}
	for st, open := range c.open {
		if len(open) != slots[st] {
			t.Fatalf("%d acquires are open, %d are in queues", len(open), slots[st])
		}
	}
}
