package redissource

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/kit"
)

// burst is how many locks go at once.
const burst = 20_000

// locks writes n locks of the name app:lock:i.
func (r *rig) locks(n int) {
	r.t.Helper()
	r.do("EVAL", `for i=0,ARGV[1]-1 do redis.call('SET','app:lock:'..i,ARGV[2]) end`, 0, n, uuidA)
}

// dropLocks deletes them again, in one step of the server.
func (r *rig) dropLocks(n int) {
	r.t.Helper()
	r.do("EVAL", `for i=0,ARGV[1]-1 do redis.call('DEL','app:lock:'..i) end`, 0, n)
}

// TestALockTakenAfterABurstDoesNotWaitForAllOfIt deletes many locks at once and takes one
// right after.
func TestALockTakenAfterABurstDoesNotWaitForAllOfIt(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{})
	r.locks(burst)
	watch(t, r, Options{Selections: []Selection{{Pattern: "app:lock:*"}}}).synced()
	r.Drain()
	r.dropLocks(burst)
	r.do("SET", "app:lock:after", uuidB)
	released, before := 0, -1
	for released < burst || before < 0 {
		switch e := r.Next(); {
		case e.Kind == sources.EventReleased:
			released++
		case e.Kind == sources.EventAcquired && e.Ref.Name == "app:lock:after":
			before = released
		default:
			t.Fatalf("%+v", e)
		}
	}
	if before > burst/2 {
		t.Errorf("it was told after %d of %d others", before, burst)
	}
}

// TestAStepThatWritesToMoreKeysThanAPushMayNameIsReadAsAWhole writes to 60,000 keys in one
// step, most of which are gone after it.
func TestAStepThatWritesToMoreKeysThanAPushMayNameIsReadAsAWhole(t *testing.T) {
	t.Parallel()
	for name, protocol := range map[string]int{"RESP3": 3, "RESP2": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{}, held)
			c := client(r.server.Addr(), "", "")
			c.Protocol = protocol
			watch(t, r, Options{Client: c, Selections: leaders(), Resync: time.Hour}).synced()
			r.Drain()
			r.do("EVAL", `for i=1,60000 do redis.call('SET','app:leader:'..i,'x') redis.call('DEL','app:leader:'..i) end
				redis.call('SET','app:leader:x',ARGV[1]) redis.call('SET','app:leader:new',ARGV[1])`, 0, uuidB)
			wait := map[string]sources.EventKind{"app:leader:x": sources.EventOwnerChanged, "app:leader:new": sources.EventAcquired}
			for len(wait) > 0 {
				e := r.Next()
				if kind, ok := wait[e.Ref.Name]; !ok || e.Kind != kind {
					t.Fatalf("%+v", e)
				}
				delete(wait, e.Ref.Name)
			}
		})
	}
}

// TestABacklogIsReadWithoutARest has more pushed than one look reads.
func TestABacklogIsReadWithoutARest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := still(t)
		w.link.answered, w.listing.resync, w.checks.due = time.Now(), time.Now().Add(time.Hour), time.Now().Add(time.Hour)
		for i := range 10 * chunk {
			name := fmt.Sprintf("app:lock:%d", i)
			w.keys[name] = newKey(name, rule{})
			w.keys[name].denied = true // it needs no answer of a server
			w.link.inbox.add(name, w.link.heartbeat.notice(time.Now()), "")
		}
		w.link.Link = kit.NewLink(t.Context())
		defer w.link.Link.Close()
		start := time.Now()
		for !w.link.inbox.oldest().IsZero() {
			noError(t, w.turn(t.Context()))
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("it rested for %v", took)
		}
	})
}

// TestNoRowIsBelievedWhosePushIsUnreadForLong lets a push wait for longer than the server
// may be silent.
func TestNoRowIsBelievedWhosePushIsUnreadForLong(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.link.Link = kit.NewLink(t.Context())
	k := newKey("app:lock:x", rule{})
	k.denied = true // it needs no answer of a server
	w.keys[k.name] = k
	now := time.Now()
	w.link.answered, w.listing.resync, w.checks.due = now, now.Add(time.Hour), now.Add(time.Hour)
	w.link.inbox.add(k.name, notice{first: now.Add(-w.link.o.Silence - time.Second), last: now}, "")
	w.link.Start(func() error { return w.turn(t.Context()) })
	c, err := w.link.Next(t.Context())
	if err != nil || !c.Relists {
		t.Errorf("%+v, %v", c, err)
	}
	w.link.Link.Close()
	if !k.stale || w.listing.sweep == nil || !w.listing.sweep.first {
		t.Errorf("the key is not told anew: stale %v, %+v", k.stale, w.listing.sweep)
	}
}

// TestABacklogIsReadFromBothEnds takes part of what waits.
func TestABacklogIsReadFromBothEnds(t *testing.T) {
	t.Parallel()
	b := newInbox()
	start := time.Now()
	push := func(name string, at int) {
		b.add(name, notice{first: start.Add(time.Duration(at)), last: start.Add(time.Duration(at))}, "")
	}
	for i := range 20 {
		push(fmt.Sprint(i), i)
	}
	names, _ := b.take(9, []string{"10", "unknown"})
	if want := []string{"10", "0", "1", "19", "18", "17", "16", "15", "14"}; !slices.Equal(names, want) {
		t.Errorf("took %q, want %q", names, want)
	}
	if oldest := b.oldest(); !oldest.Equal(start.Add(2)) {
		t.Errorf("the oldest is of %v", oldest.Sub(start))
	}
	for range 10_000 { // of a name on screen that is written again and again
		push("10", 30)
		b.take(1, []string{"10"})
	}
	if len(b.order) > 2*len(b.notices)+chunk {
		t.Errorf("%d places for %d names", len(b.order), len(b.notices))
	}
	names, _ = b.take(100, nil)
	if len(names) != 11 || len(b.notices) != 0 || !b.oldest().IsZero() {
		t.Errorf("the rest is %q", names)
	}
}

// BenchmarkBurst deletes 20,000 locks in one step of the server and takes one right after:
// how long until the last event, and until that of the one, was read.
func BenchmarkBurst(b *testing.B) {
	r := serve(b, localserver.RedisOptions{})
	watch(b, r, Options{Selections: []Selection{{Pattern: "app:lock:*"}}}).synced()
	for b.Loop() {
		r.locks(burst)
		for n := 0; n < burst; {
			if r.Next().Kind == sources.EventAcquired {
				n++
			}
		}
		r.Drain()
		start := time.Now()
		r.dropLocks(burst)
		dropped := time.Now()
		r.do("SET", "app:lock:after", uuidB)
		var all, one time.Duration
		for n := 0; n < burst || one == 0; {
			switch e := r.Next(); {
			case e.Kind == sources.EventReleased:
				if n++; n == burst {
					all = time.Since(start)
				}
			case e.Ref.Name == "app:lock:after":
				one = time.Since(dropped)
			}
		}
		r.do("DEL", "app:lock:after")
		r.Event(sources.EventReleased, "")
		b.ReportMetric(all.Seconds()*1000, "all-ms")
		b.ReportMetric(one.Seconds()*1000, "next-ms")
	}
}
