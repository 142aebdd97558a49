package redissource

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// crowd writes n keys with a TTL that nobody watches: the server deletes an expired key
// the later the more such keys there are.
func (r *rig) crowd(n int) {
	r.t.Helper()
	_, err := r.writer.Pipelined(r.ctx, func(p redis.Pipeliner) error {
		for i := range n {
			p.Set(r.ctx, fmt.Sprintf("session:%d", i), "x", time.Hour)
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func TestExpiryIsToldAtTheEndOfTheLeaseInACrowd(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{})
	r.crowd(10_000)
	watch(t, r, Options{Selections: leaders()}).synced()
	for i := range 5 {
		name := fmt.Sprintf("app:leader:%d", i)
		before := time.Now()
		r.do("SET", name, uuidA, "PX", "600")
		set := time.Now()
		r.Expect(sources.EventAcquired, name)
		e := r.ranOut(name)
		earliest, latest := before.Add(600*time.Millisecond), set.Add(601*time.Millisecond)
		if e.At.Before(earliest) || !e.After.IsZero() && e.After.After(latest) {
			t.Errorf("it ended between %v and %v and is said to have between %v and %v", earliest, latest, e.After, e.At)
		}
		if late := e.At.Sub(latest); late > 2*time.Second { // the server itself would take half a minute
			t.Errorf("told %v after the end", late)
		}
	}
}

func TestExpiryThatAnotherClientComesAcrossIsNoRelease(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}).synced()
	r.do("SET", "app:leader:x", uuidA, "PX", "100")
	r.Expect(sources.EventAcquired, "app:leader:x")
	deadline := time.NewTimer(testLimit)
	defer deadline.Stop()
	for r.do("SET", "app:leader:x", uuidB, "NX", "PX", "60000") == nil { // as a contender does
		select {
		case <-deadline.C:
			t.Fatal("the lease never ends")
		default:
		}
	}
	for {
		e := r.Next()
		switch {
		case e.Kind == sources.EventExpired && e.Cause == sources.CauseExpired:
		case e.Kind == sources.EventReleased && e.Cause == sources.CauseUnknown && unproved(e):
		case e.Kind == sources.EventOwnerChanged && (e.Cause == sources.CauseExpired || e.Cause == sources.CauseUnknown && unproved(e)):
			return
		case e.Kind == sources.EventAcquired:
			return
		default:
			t.Fatalf("%+v", e)
		}
	}
}

func TestRenewalMovesTheDeadline(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}).synced()
	r.do("SET", "app:leader:x", uuidA, "PX", "1200")
	r.Expect(sources.EventAcquired, "app:leader:x")
	for _, ttl := range []string{"2000", "2800", "3600"} {
		r.do("PEXPIRE", "app:leader:x", ttl)
		r.Expect(sources.EventRenewed, "app:leader:x")
	}
	shortened := time.Now()
	r.do("PEXPIRE", "app:leader:x", "400") // its end comes sooner
	r.Expect(sources.EventLeaseChanged, "app:leader:x")
	e := r.ranOut("app:leader:x")
	if took := e.At.Sub(shortened); took < 400*time.Millisecond || took > 3200*time.Millisecond {
		t.Errorf("it ended after %v", took)
	}
}

// TestAPolledLeaseThatMayHaveBeenRenewedUnseenIsNotCalledExpired polls a key rarely: the looks
// shortly before and at the end of its lease prove that it ran out. Where the first of them
// is held up, its owner renews and gives it up unseen.
func TestAPolledLeaseThatMayHaveBeenRenewedUnseenIsNotCalledExpired(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~* &* +@all -client|tracking -config"}})
	proxy := localserver.ProxyForTest(t, r.server.Addr())
	o := Options{Client: client(proxy.Addr(), "eve", "secret"), Selections: leaders(), PollMin: time.Hour, PollMax: time.Hour, Resync: time.Hour}
	o.Share = 100 // a scan that a busy machine makes slow is followed by no rest in which the lease ends unseen
	watch(t, r, o).synced()
	r.mode(modePolling)
	take := func() {
		r.do("SET", "app:leader:x", uuidA, "PX", "2000")
		r.Hub.Refresh("src")
		r.Expect(sources.EventAcquired, "app:leader:x")
	}
	take()
	r.ranOut("app:leader:x")
	take()
	held, release := proxy.Hold("getrange")
	<-held
	r.do("PEXPIRE", "app:leader:x", "600000")
	r.do("DEL", "app:leader:x")
	r.do("BLPOP", "nothing", "2.1")
	release()
	if e := r.Expect(sources.EventReleased, "app:leader:x"); e.Cause != sources.CauseUnknown {
		t.Errorf("it was renewed and given up unseen: %+v", e)
	}
}

func TestKeyWithoutEndIsShownAsSuch(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}, []any{"SET", "app:leader:x", uuidA}).synced()
	row := r.Row("", "app:leader:x", "led", led)
	if o := row.Owners[0]; !o.NoExpiry || o.Expires.How != sources.Unknown || o.Lease != 0 {
		t.Errorf("%+v", o)
	}
}

func TestKeyThatNobodyOwnsIsForgotten(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{
		Selections: []Selection{{Pattern: "app:leader:*"}, {Pattern: "app:leader:named"}, {Pattern: "app:lock:*", Expected: true}},
		Forget:     100 * time.Millisecond, Resync: 50 * time.Millisecond,
	}, held, []any{"SET", "app:lock:x", uuidA})
	r.Row("", "app:leader:x", "led", led) // a sweep that took as long as Resync goes on with the next
	r.Row("", "app:lock:x", "held", func(row *sources.Row, _ *sources.State) bool { return row.Taken == 1 })
	r.do("DEL", "app:leader:x", "app:lock:x")
	r.Event(sources.EventReleased, "")
	r.Event(sources.EventReleased, "")
	r.Row("", "app:lock:x", "free", func(row *sources.Row, s *sources.State) bool { return row.Status(s) == sources.StatusFree })
	rows := func(s *sources.State) map[string]bool {
		names := map[string]bool{}
		for _, row := range s.Rows {
			if row != nil {
				names[row.Name] = true
			}
		}
		return names
	}
	r.State("the key to be forgotten", func(s *sources.State) bool { return len(rows(s)) > 0 && !rows(s)["app:leader:x"] })
	names := rows(r.Hub.State())
	if !names["app:leader:named"] || !names["app:lock:x"] {
		t.Errorf("rows: %v", names)
	}
	r.do("SET", "app:leader:x", uuidB, "PX", "60000")
	if e := r.Event(sources.EventAcquired, ""); e.Ref.Name != "app:leader:x" {
		t.Errorf("%+v", e)
	}
}

func TestNamedKeyIsShownBeforeItExists(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: []Selection{{Pattern: "app:leader:x", Kind: sources.KindElection, Expected: true}}}).synced()
	row := r.Row("", "app:leader:x", "leaderless", leaderless)
	if row.OwnersHow != sources.Told || !row.Expected {
		t.Errorf("%+v", row.Primitive)
	}
	r.do("SET", "app:leader:x", uuidB, "PX", "60000")
	if e := r.Event(sources.EventAcquired, ""); !noticed(e) {
		t.Errorf("%+v", e)
	}
}
