package pgsource

import (
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// behind watches an election through a proxy.
func behind(r *rig) *localserver.Proxy {
	r.t.Helper()
	proxy := localserver.ProxyForTest(r.t, r.server.Addr())
	r.watch(Options{URL: "postgres://postgres@" + proxy.Addr() + "/postgres?sslmode=disable", Selections: election()}).synced()
	return proxy
}

func TestAGapHoldsOnlyWhatWasObservedOfIt(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	a, b, c := r.session("a").do("select pg_advisory_lock(4242)"), r.session("b"), r.session("c")
	proxy := behind(r)
	r.row("", "4242", "led", is(sources.StatusLed))
	freed := time.Now()
	a.do("select pg_advisory_unlock(4242)")
	r.Event(sources.EventReleased, "4242")
	r.row("", "4242", "without a leader", is(sources.StatusNoLeader))
	proxy.BlackHole()
	r.row("", "4242", "stale", is(sources.StatusStale))
	dark := time.Now()
	b.do("select pg_advisory_lock(4242)")
	unlock := time.Now()
	b.do("select pg_advisory_unlock(4242)")
	unlocked := time.Now()
	proxy.Resume()
	r.Event(sources.EventSourceUp, "")
	r.row("", "4242", "without a leader again", is(sources.StatusNoLeader))
	take := time.Now()
	c.do("select pg_advisory_lock(4242)")
	e := r.Event(sources.EventAcquired, "4242")
	if e.Gap.Min > e.At.Sub(unlock) || e.Gap.Max < take.Sub(unlocked) {
		t.Errorf("the gap is told as %v, and it was %v to %v at a stretch", e.Gap, take.Sub(unlocked), e.At.Sub(unlock))
	}
	if e.Last != (sources.OwnerRef{}) {
		t.Errorf("%+v is told to have owned it last, and b did in the dark", e.Last)
	}
	row := r.row("", "4242", "led by c", is(sources.StatusLed))
	gaps := row.Gaps(r.Hub.State(), time.Now(), time.Hour)
	if most := max(dark.Sub(freed), e.At.Sub(unlock)); gaps.Longest.Min > most || gaps.P95.Min > most {
		t.Errorf("gaps of %+v, of which no more than %v at a stretch was observed", gaps, most)
	}
	if sum := dark.Sub(freed) + e.At.Sub(unlock); gaps.Sum.Min > sum {
		t.Errorf("gaps of %v in all, of which no more than %v was observed", gaps.Sum, sum)
	}
}

func TestATermThatBeganBeforeTheFirstLookBeganAtLeastThen(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	a := r.session("a").do("select pg_advisory_lock(4242)")
	behind(r)
	r.row("", "4242", "led", is(sources.StatusLed))
	a.do("select pg_advisory_unlock(4242)")
	r.Event(sources.EventReleased, "4242")
	row := r.row("", "4242", "without a leader", is(sources.StatusNoLeader))
	if len(row.Terms) != 1 || row.Terms[0].Start.How != sources.AtLeast {
		t.Errorf("its term is told as %+v", row.Terms)
	}
}

func TestWhatEndedInTheDarkIsNoExpiry(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	a, b := r.session("a").do("select pg_advisory_lock(4242)"), r.session("b").do("select pg_advisory_lock(17)")
	proxy := localserver.ProxyForTest(t, r.server.Addr())
	r.watch(Options{URL: "postgres://postgres@" + proxy.Addr() + "/postgres?sslmode=disable",
		Selections: []Selection{{Pattern: "4242", Kind: sources.KindElection}, {Pattern: "17", Kind: sources.KindMutex}}}).synced()
	r.row("", "4242", "led", is(sources.StatusLed))
	proxy.BlackHole()
	r.row("", "4242", "stale", is(sources.StatusStale))
	before := time.Now()
	a.do("select pg_advisory_unlock(4242)")
	b.leave()
	r.until("the lock of b is free", func() bool {
		return one[bool](r.root, "select not exists (select from pg_locks where locktype = 'advisory' and objid = 17)")
	})
	after := time.Now()
	proxy.Resume()
	want := map[string]sources.Cause{"4242": sources.CauseReleased, "17": sources.CauseSession}
	for range want {
		e := r.Event(sources.EventReleased, "")
		if e.How == sources.Told || e.After.After(after) || e.At.Before(before) {
			t.Errorf("it happened after %v and not after %v, the event says (%v, %v], %v", before, after, e.After, e.At, e.How)
		}
		if cause := want[e.Ref.Name]; e.Cause != sources.CauseUnknown && (e.Cause != cause || e.How != sources.Inferred) {
			t.Errorf("%s ended by %v (%v), want %v, inferred, or unknown", e.Ref.Name, e.Cause, e.How, cause)
		}
	}
}
