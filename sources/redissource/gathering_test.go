package redissource

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

func TestPushesAreGatheredOnlyWhileAllAreOfRenewals(t *testing.T) {
	t.Parallel()
	var g gathering
	now := time.Now()
	waits := func() bool { return g.until().After(now) }
	saw := func(n int, renewal bool) {
		for range n {
			g.read(now, 1)
			g.saw(renewal)
		}
	}
	if saw(gatherAfter-1, true); waits() {
		t.Error("it waits before there were enough")
	}
	if saw(1, true); !waits() || g.until().Sub(now) != gatherFor {
		t.Errorf("it waits until %v", g.until().Sub(now))
	}
	if g.read(now.Add(time.Hour), 0); g.until().Sub(now) != gatherFor {
		t.Error("a reading of nothing counts")
	}
	if saw(1, false); waits() {
		t.Error("it waits though something else was seen")
	}
	saw(gatherAfter, true)
	if now = now.Add(gatherFor); waits() {
		t.Error("a push waits though nothing was read for long")
	}
}

func TestMessagesAreLeftUnreadOnlyWhileThereAreManyOfRenewals(t *testing.T) {
	t.Parallel()
	var g gathering
	now := time.Now()
	second := func(n int, renewal bool) bool {
		for range n {
			g.read(now, 1)
			g.saw(renewal)
		}
		now = now.Add(time.Second)
		g.read(now, 0)
		return g.unread()
	}
	if second(0, true) || second(manyPushes-1, true) {
		t.Error("few are left unread")
	}
	if !second(manyPushes, true) {
		t.Error("many are read one by one")
	}
	if second(1, false) {
		t.Error("they are left unread though something else was seen")
	}
	if !second(manyPushes, true) || second(0, true) {
		t.Error("they are left unread a second after the last")
	}
}

// twentyLeaders watches leaders; key names the one of a number, counted round.
func twentyLeaders(t *testing.T) (r *rig, key func(n int) string) {
	t.Helper()
	r = serve(t, localserver.RedisOptions{})
	key = func(n int) string { return fmt.Sprintf("app:leader:%d", n%20) }
	for n := range 20 {
		r.do("SET", key(n), uuidA, "PX", "60000")
	}
	return watch(t, r, Options{Selections: leaders()}).synced(), key
}

// TestAChangeAmongManyRenewalsIsToldAsOneAmongFew has an owner change while pushes are gathered.
func TestAChangeAmongManyRenewalsIsToldAsOneAmongFew(t *testing.T) {
	t.Parallel()
	r, key := twentyLeaders(t)
	for round := range 3 {
		r.Drain()
		for n := range 10 * gatherAfter {
			if _, err := r.writer.Pipelined(r.ctx, func(p redis.Pipeliner) error {
				p.PExpire(r.ctx, key(n), time.Minute+time.Duration(n)*time.Second)
				if n == 9*gatherAfter {
					p.Set(r.ctx, "app:leader:0", fmt.Sprint("host-", round, ":1"), time.Hour)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		for {
			e := r.Next()
			if e.Kind == sources.EventOwnerChanged {
				if e.Owner.ID != fmt.Sprint("host-", round, ":1") || !noticed(e) {
					t.Errorf("%+v", e)
				}
				break
			}
			if e.Kind != sources.EventRenewed && e.Kind != sources.EventLeaseChanged {
				t.Fatalf("%+v", e)
			}
		}
	}
}

// TestAChangeAmongUnreadMessagesIsToldInItsTime has owners change while messages stay unread until the next ping.
func TestAChangeAmongUnreadMessagesIsToldInItsTime(t *testing.T) {
	t.Parallel()
	r, key := twentyLeaders(t)
	for round := range 3 {
		began := time.Now()
		for n := 0; time.Since(began) < 2500*time.Millisecond; n++ {
			noError(t, r.writer.PExpire(r.ctx, key(n), time.Minute+time.Duration(n)*time.Second).Err())
		}
		r.Drain()
		owner := fmt.Sprint("host-", round, ":1")
		before := time.Now()
		r.do("SET", "app:leader:0", owner, "PX", "3600000")
		after := time.Now()
		e := r.Next()
		for e.Kind == sources.EventRenewed || e.Kind == sources.EventLeaseChanged {
			e = r.Next()
		}
		if e.Kind != sources.EventOwnerChanged || e.Owner.ID != owner {
			t.Fatalf("%+v", e)
		}
		earliest, latest := e.After, e.At
		if earliest.IsZero() { // told at its instant: right to within Promptness, see the package comment
			earliest, latest = e.At.Add(-sources.Promptness), e.At.Add(sources.Promptness)
		}
		if latest.Before(before) || earliest.After(after) {
			t.Errorf("told in (%v, %v], it was between %v and %v", earliest, latest, before, after)
		}
	}
}
