package dflocksource

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/coord/dflockwire"
	"coordtop/internal/emulator/dflocktest"
	"coordtop/sources"
)

func TestALockIsSeenTakenRenewedWaitedForAndReleased(t *testing.T) {
	t.Parallel()
	r := serve(t, dflocktest.Options{}).watch(Options{})
	owner, waiter := r.program(), r.program()
	nonce := owner.lock("billing/leader", 30*time.Second)
	r.Event(sources.EventAcquired, "billing/leader")
	row := r.row("billing/leader", "an owner", func(row *sources.Row) bool { return len(row.Owners) == 1 })
	o := row.Owners[0]
	want := fmt.Sprintf("conn %d", r.id("billing/leader"))
	if o.ID != want || o.Label != want || row.Kind != sources.KindMutex || row.Limit != 1 {
		t.Errorf("%s %q of %v %d, want %s", o.ID, o.Label, row.Kind, row.Limit, want)
	}
	if o.Expires.How != sources.Told || !o.Expires.After().Before(o.Expires.At) || time.Until(o.Expires.At) > 31*time.Second {
		t.Errorf("its lease ends in (%v, %v], %v", o.Expires.After(), o.Expires.At, o.Expires.How)
	}
	waiter.enqueue("billing/leader")
	row = r.row("billing/leader", "a waiter", func(row *sources.Row) bool { return row.Queue.Len == 1 })
	if len(row.Queue.Waiters) != 0 {
		t.Errorf("the server names nobody, and the queue has %+v", row.Queue.Waiters)
	}
	if _, err := owner.Renew(t.Context(), dflockwire.Key{Name: "billing/leader"}, nonce, 40*time.Second); err != nil {
		t.Fatal(err)
	}
	row = r.row("billing/leader", "a renewal", func(row *sources.Row) bool { return row.Owners[0].Renewed.How == sources.Seen })
	if late := row.Owners[0].Expires.At; !late.After(o.Expires.At) {
		t.Errorf("after the renewal it ends at %v, before that at %v", late, o.Expires.At)
	}
	owner.release("billing/leader", nonce)
	r.row("billing/leader", "the next owner", func(row *sources.Row) bool {
		return len(row.Owners) == 1 && row.Owners[0].ID != o.ID && row.Queue.Len == 0
	})
	waiter.Close()
	r.row("billing/leader", "nobody", func(row *sources.Row) bool { return len(row.Owners) == 0 && row.OwnersHow == sources.Told })
}

func TestOfASemaphoreOnlyCountsAreKnown(t *testing.T) {
	t.Parallel()
	r := serve(t, dflocktest.Options{}).watch(Options{})
	p := r.program()
	p.permit("pool", 5)
	p.permit("pool", 5)
	row := r.row("pool", "two permits", func(row *sources.Row) bool { return row.Taken == 2 })
	if row.Kind != sources.KindSemaphore || row.Limit != 5 || row.OwnersHow != sources.Unknown || len(row.Owners) != 0 {
		t.Errorf("%v of limit %d, owners %v %+v", row.Kind, row.Limit, row.OwnersHow, row.Owners)
	}
	p.Close()
	row = r.row("pool", "none", func(row *sources.Row) bool { return row.Taken == 0 })
	if s := r.Hub.State(); row.StatusAt(s, s.At) != sources.StatusFree || row.Limit != 5 {
		t.Errorf("nobody owns it, and it is %v; its limit is %d", row.StatusAt(s, s.At), row.Limit)
	}
	r.program().permit("pool", 5)
	r.row("pool", "one permit", func(row *sources.Row) bool { return row.Taken == 1 })
	n := sources.Counts{}
	for _, e := range r.Drain() {
		if e.Kind == sources.EventOwnerUnknown {
			t.Errorf("its owners were never known, and it says: %+v", e)
		}
		if e.Kind == sources.EventCountChanged && e.Ref.Name == "pool" {
			if e.Was.Taken != n.Taken {
				t.Errorf("%s, which is %s after it was %s", e.Detail, e.Was.Text(), n.Text())
			}
			n = e.Now
		}
	}
	if want := (sources.Counts{Taken: 1, Limit: 5}); n != want {
		t.Errorf("by its events it ends with %s", n.Text())
	}
	if got := r.row("pool", "", func(*sources.Row) bool { return true }).Changes(time.Now(), time.Hour); got < 3 {
		t.Errorf("its count changed %d times, want 3 at least", got)
	}
}

func TestAKeyOnTheWrongServerIsFlagged(t *testing.T) {
	t.Parallel()
	r := serve(t, dflocktest.Options{})
	r.another(dflocktest.Options{})
	key, home := "my-resource", dflockwire.Shard("my-resource", 2)
	r.at(r.servers[home]).lock(key, time.Minute)
	r.at(r.servers[1-home]).lock(key, time.Minute)
	r.watch(Options{})
	about := r.About(r.servers[1-home], "a warning", func(a sources.About) bool { return len(a.Warnings) > 0 })
	if !strings.Contains(about.Warnings[0], key) {
		t.Errorf("it says %q", about.Warnings)
	}
	for i, addr := range r.servers {
		row := r.Row(addr, key, "an owner", func(row *sources.Row, _ *sources.State) bool { return len(row.Owners) == 1 })
		if flagged := len(row.Owners[0].Attrs) > 0; flagged != (i != home) {
			t.Errorf("server %d, home %d: flagged %v", i, home, flagged)
		}
	}
}

func TestALockAndASemaphoreOfOneKeyAreTwoRows(t *testing.T) {
	t.Parallel()
	r := serve(t, dflocktest.Options{Newer: dflocktest.Since1_16()})
	p := r.program()
	p.permit("both", 3)
	p.lock("both", time.Minute)
	r.watch(Options{})
	r.row("both", "the lock", func(row *sources.Row) bool { return row.Kind == sources.KindMutex && len(row.Owners) == 1 })
	r.row("both (semaphore)", "the semaphore", func(row *sources.Row) bool { return row.Kind == sources.KindSemaphore && row.Taken == 1 })
}

func TestSelectionsNameKindsAndStay(t *testing.T) {
	t.Parallel()
	r := serve(t, dflocktest.Options{})
	r.program().lock("app/leader", time.Minute)
	r.program().lock("other", time.Minute)
	r.watch(Options{Selections: []Selection{
		{Pattern: "app/*", Kind: sources.KindElection}, {Pattern: "nightly", Kind: sources.KindElection, Expected: true},
	}})
	r.row("app/leader", "an election", func(row *sources.Row) bool { return row.Kind == sources.KindElection })
	r.row("nightly", "an election without a leader", func(row *sources.Row) bool {
		return row.Expected && row.OwnersHow == sources.Told && len(row.Owners) == 0
	})
	for _, row := range r.Hub.State().Rows {
		if row != nil && row.Name == "other" {
			t.Error("a key that nobody selected is watched")
		}
	}
}

func TestVersionFollowsFromWhatTheServerKnows(t *testing.T) {
	t.Parallel()
	for want, newer := range map[string]dflocktest.Newer{
		"1.10 or older": {}, "1.11 to 1.13": {SignalChannels: true}, "1.14 to 1.16": dflocktest.Since1_16(), "2.0 or newer": dflocktest.Since2_1(),
	} {
		r := serve(t, dflocktest.Options{Newer: newer}).watch(Options{})
		r.About(r.servers[0], want, func(a sources.About) bool { return a.Version == want })
		r.Stop()
	}
}

func TestAnIdleKeyIsListedAsFree(t *testing.T) {
	t.Parallel()
	r := serve(t, dflocktest.Options{})
	p := r.program()
	p.release("used", p.lock("used", time.Minute))
	r.watch(Options{})
	r.row("used", "nobody", func(row *sources.Row) bool { return row.OwnersHow == sources.Told && len(row.Owners) == 0 })
}
