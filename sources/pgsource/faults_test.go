package pgsource

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

func election() []Selection { return []Selection{{Pattern: "4242", Kind: sources.KindElection}} }

// happened returns a check that fails unless the interval of the event may hold what happened since from, and surely had
// happened when this is called.
func happened(t *testing.T, from time.Time) func(sources.Event) {
	to := time.Now()
	return func(e sources.Event) {
		t.Helper()
		if e.How == sources.Told || e.After.IsZero() || e.After.After(to) || e.At.Before(from) {
			t.Errorf("it happened between %v and %v, the event says (%v, %v], %v", from, to, e.After, e.At, e.How)
		}
	}
}

// led watches a server on which somebody leads 4242.
func led(t *testing.T) (*rig, *person) {
	t.Helper()
	r := borrow(t)
	leader := r.session("a").do("select pg_advisory_lock(4242)")
	r.watch(Options{Selections: election()}).synced()
	r.row("", "4242", "led", is(sources.StatusLed))
	return r, leader
}

func TestHandOverWithinOneIntervalIsOneChangeOfOwner(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	a, b := r.session("a").do("select pg_advisory_lock(4242)"), r.session("b")
	done := r.wait(b, "select pg_advisory_lock(4242)")
	r.watch(Options{Selections: election()}).synced()
	r.row("", "4242", "led", is(sources.StatusLed))
	before := time.Now()
	a.do("select pg_advisory_unlock(4242)")
	noError(t, <-done)
	check := happened(t, before)
	e := r.Expect(sources.EventOwnerChanged, "4242")
	check(e)
	if !strings.Contains(e.Previous.Label, pids(a.pid)) || !strings.Contains(e.Owner.Label, pids(b.pid)) ||
		e.Cause != sources.CauseReleased || e.How != sources.Inferred || e.Gap.Max != e.At.Sub(e.After) || e.Gap.Min != 0 {
		t.Errorf("%+v", e)
	}
	row := r.row("", "4242", "led by b", func(row *sources.Row, _ *sources.State) bool { return owners(row.Primitive) == pids(b.pid) })
	if o := row.Owners[0]; o.Since.How != sources.Seen || !o.Since.At.Equal(e.At) || row.Queue.Len != 0 {
		t.Errorf("%+v", o)
	}
}

func TestHandOverToOneThatSharesIsOneChangeOfOwnerToo(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	a, b := r.session("a").do("select pg_advisory_lock(4242)"), r.session("b")
	done := r.wait(b, "select pg_advisory_lock_shared(4242)")
	r.watch(Options{Selections: election()}).synced()
	r.row("", "4242", "led", is(sources.StatusLed))
	before := time.Now()
	a.leave()
	noError(t, <-done)
	check := happened(t, before)
	e := r.Expect(sources.EventOwnerChanged, "4242")
	check(e)
	if !strings.Contains(e.Previous.Label, pids(a.pid)) || !strings.Contains(e.Owner.Label, pids(b.pid)) || e.Cause != sources.CauseSession {
		t.Errorf("%+v", e)
	}
}

func TestWaitersComeAndGo(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	a, b, c := r.session("a").do("select pg_advisory_lock(4242)"), r.session("b"), r.session("c")
	r.watch(Options{Selections: election()}).synced()
	first := r.wait(b, "select pg_advisory_lock(4242)")
	if e := r.Expect(sources.EventWaiterJoined, "4242"); !strings.Contains(e.Owner.Label, pids(b.pid)) {
		t.Errorf("%+v", e)
	}
	r.wait(c, "select pg_advisory_lock(4242)")
	r.Expect(sources.EventWaiterJoined, "4242")
	one[bool](r.root, "select pg_cancel_backend($1)", b.pid)
	if err := <-first; err == nil {
		t.Fatal("the waiter was not cancelled")
	}
	if e := r.Expect(sources.EventWaiterLeft, "4242"); !strings.Contains(e.Owner.Label, pids(b.pid)) {
		t.Errorf("%+v", e)
	}
	a.leave()
	if e := r.Expect(sources.EventOwnerChanged, "4242"); e.Cause != sources.CauseSession || e.How != sources.Inferred || !strings.Contains(e.Owner.Label, pids(c.pid)) {
		t.Errorf("%+v", e)
	}
}

func TestTerminatedBackendIsAnEndedSession(t *testing.T) {
	t.Parallel()
	r, a := led(t)
	before := time.Now()
	one[bool](r.root, "select pg_terminate_backend($1, 5000)", a.pid) // waits for the end
	check := happened(t, before)
	e := r.Event(sources.EventReleased, "4242")
	check(e)
	if e.Cause != sources.CauseSession || e.How != sources.Inferred {
		t.Errorf("%+v", e)
	}
	r.row("", "4242", "without a leader", is(sources.StatusNoLeader))
}

func TestRestartedServerIsAnotherIncarnation(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	r.session("a").do("select pg_advisory_lock(4242), pg_advisory_lock(17, -4)")
	for range 2 {
		r.wait(r.session("w"), "select pg_advisory_lock(4242)")
	}
	r.watch(Options{}).synced()
	was := r.About("", "an incarnation", func(a sources.About) bool { return a.Incarnation != "" })
	down := time.Now()
	noError(t, r.server.Restart(context.Background()))
	r.Event(sources.EventSourceDown, "")
	if e := r.Event(sources.EventRestarted, ""); !strings.HasPrefix(e.Detail, "the server was restarted: ") {
		t.Errorf("%+v", e)
	}
	ended := map[string]bool{}
	for len(ended) < 2 {
		e := r.Event(sources.EventReleased, "")
		if e.Cause != sources.CauseRestart || e.How != sources.Inferred || e.At.Before(down) {
			t.Errorf("%+v", e)
		}
		ended[e.Ref.Name] = true
	}
	r.synced()
	r.row("", "17:-4", "free", is(sources.StatusFree))
	if is := r.About("", "anything", func(sources.About) bool { return true }); is.Incarnation == was.Incarnation || is.Incarnation == "" {
		t.Errorf("incarnation %q after %q", is.Incarnation, was.Incarnation)
	}
	r.session("b").do("select pg_advisory_lock(4242)")
	r.Event(sources.EventAcquired, "4242")
}

func TestFrozenServerComesBackWithItsState(t *testing.T) {
	t.Parallel()
	for name, notice := range map[string]func(t *testing.T, r *rig){
		"stale": func(t *testing.T, r *rig) {
			if row := r.row("", "4242", "stale", is(sources.StatusStale)); len(row.Owners) != 1 {
				t.Errorf("the old state is not kept: %+v", row.Primitive)
			}
		},
		"given up": func(_ *testing.T, r *rig) {
			r.State("the reason", func(s *sources.State) bool {
				err := s.Sources[0].Err
				return err != nil && strings.Contains(err.Error(), "no answer from "+r.server.Addr()) && !errors.Is(err, sources.ErrRefused)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := led(t)
			noError(t, r.server.Freeze())
			notice(t, r)
			noError(t, r.server.Thaw())
			r.row("", "4242", "led again", is(sources.StatusLed))
			r.NoOwnerEvents()
		})
	}
}

func TestKilledServerGoesStaleAtOnce(t *testing.T) {
	t.Parallel()
	r, _ := led(t)
	r.server.Kill()
	r.Event(sources.EventSourceDown, "")
	r.row("", "4242", "stale", is(sources.StatusStale))
	r.State("the reason", func(s *sources.State) bool {
		err := s.Sources[0].Err
		return err != nil && strings.Contains(err.Error(), "nothing listens at")
	})
	r.NoOwnerEvents()
}

func TestBlackHoledLinkGoesStaleAndShowsTheTruthAfterwards(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	a, b := r.session("a").do("select pg_advisory_lock(4242)"), r.session("b")
	proxy := localserver.ProxyForTest(t, r.server.Addr())
	r.watch(Options{URL: "postgres://postgres@" + proxy.Addr() + "/postgres?sslmode=disable", Selections: election()}).synced()
	r.row("", "4242", "led", is(sources.StatusLed))
	proxy.BlackHole()
	r.row("", "4242", "stale", is(sources.StatusStale))
	change := time.Now()
	a.do("select pg_advisory_unlock(4242)")
	b.do("select pg_advisory_lock(4242)")
	check := happened(t, change)
	proxy.Resume()
	e := r.Event(sources.EventOwnerChanged, "4242")
	check(e)
	r.row("", "4242", "led by b", func(row *sources.Row, s *sources.State) bool {
		return owners(row.Primitive) == pids(b.pid) && row.Status(s) == sources.StatusLed
	})
}

func TestLinkCutInANetworkNamespaceGoesStaleAndComesBack(t *testing.T) {
	t.Parallel()
	n := localserver.NamespaceForTest(t)
	r := serve(t, localserver.PostgresOptions{Listen: []string{n.Host()}})
	r.session("a").do("select pg_advisory_lock(4242)")
	r.watch(Options{Selections: election(), Dial: n.Dial, URL: strings.Replace(r.server.URL(), "127.0.0.1", n.Host(), 1)}).synced()
	r.row("", "4242", "led", is(sources.StatusLed))
	noError(t, n.Cut(t.Context()))
	r.row("", "4242", "stale", is(sources.StatusStale))
	noError(t, n.Mend(t.Context()))
	r.row("", "4242", "led again", is(sources.StatusLed))
	r.NoOwnerEvents()
}

func TestOurTerminatedSessionIsSaidSoAndLookingGoesOn(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	r.session("a").do("select pg_advisory_lock(4242)")
	r.watch(Options{Selections: election()}).synced()
	r.About("", "LISTEN", func(a sources.About) bool { return a.Mode == modeWoken })
	// The one that listens comes back alone.
	killed := one[int](r.root, "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = $1 and query ilike 'listen%'", clientName)
	if killed != 1 {
		t.Fatalf("%d sessions listen", killed)
	}
	r.About("", "the loss of LISTEN", func(a sources.About) bool {
		return a.Mode == modePolling && len(a.Warnings) == 1 && strings.Contains(a.Warnings[0], "no notification arrives, falling back to polling")
	})
	r.About("", "LISTEN again", func(a sources.About) bool { return a.Mode == modeWoken && len(a.Warnings) == 0 })
	for _, e := range r.Drain() {
		if e.Kind == sources.EventSourceDown {
			t.Errorf("%+v", e)
		}
	}
	one[int](r.root, "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = $1", clientName)
	if e := r.Event(sources.EventSourceDown, ""); !strings.Contains(e.Detail, "57P01") {
		t.Errorf("%+v", e)
	}
	r.synced()
	r.row("", "4242", "led again", is(sources.StatusLed))
	r.NoOwnerEvents()
}
