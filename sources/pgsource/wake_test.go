package pgsource

import (
	"context"
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/sources"
)

// seldom makes looks so rare that only a wake-up can bring news within a test.
var seldom = Options{PollMin: time.Hour, PollMax: time.Hour}

func TestNotificationOnAConfiguredChannelMakesItLook(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	o := seldom
	o.Channels = []string{`Odd "channel"`}
	r.watch(o).synced()
	r.About("", "LISTEN", func(a sources.About) bool { return a.Mode == modeWoken })
	r.root.do(`select pg_advisory_lock(4242); notify "Odd ""channel"""`)
	r.Event(sources.EventAcquired, "4242")
}

func TestRefreshLooksAgainNow(t *testing.T) {
	t.Parallel()
	r := borrow(t).watch(seldom).synced()
	r.About("", "LISTEN", func(a sources.About) bool { return a.Mode == modeWoken })
	r.root.do("select pg_advisory_lock(4242)")
	r.Hub.Refresh("src")
	r.Event(sources.EventAcquired, "4242")
}

func TestSelectedLockIsLookedAtMoreOften(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	p := r.session("a").do("select pg_advisory_lock(4242)")
	r.watch(Options{PollMin: 100 * time.Millisecond, PollMax: 5 * time.Second}).synced()
	row := r.row("", "4242", "held", is(sources.StatusHeld))
	r.About("", "rest", func(a sources.About) bool { return a.Sampling >= time.Second })
	r.Hub.Focus([]sources.Ref{row.Ref}, row.Ref)
	p.do("select 17 as busy") // nothing but what the session does is new
	r.row("", "4242", "seen busy", func(row *sources.Row, _ *sources.State) bool {
		return attr(row.Owners[0].Attrs, "query") == "select 17 as busy"
	})
	if a := r.About("", "anything", func(sources.About) bool { return true }); a.Sampling >= time.Second {
		t.Errorf("sampling %v", a.Sampling)
	}
}

// TestOurOwnDriversOwnersShowTheirData lets our core own a lock and watches it.
func TestOurOwnDriversOwnersShowTheirData(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	d, err := pgcoord.New(r.server.URL(), pgcoord.Options{TTL: time.Hour}) // nobody renews here
	noError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testLimit)
		defer cancel()
		if err := d.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	s, err := d.Open(ctx, coord.SessionOptions{Description: "host-07:4411"})
	noError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testLimit)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	g, ok, err := s.Acquire(ctx, coord.Claim{Kind: coord.KindElection, Name: "4242", Data: []byte("http://host-07:4411/ready")})
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	r.watch(Options{Selections: election(), PollMin: time.Hour, PollMax: time.Hour}).synced()
	row := r.row("", "4242", "owned", is(sources.StatusLed))
	if o := row.Owners[0]; o.ID != g.Info().Owner || !strings.HasPrefix(o.Label, "host-07:4411 pid ") || string(o.Data.Head) != "http://host-07:4411/ready" {
		t.Errorf("%+v, the driver says %+v", o, g.Info())
	}
	p, ok := g.(coord.Publisher)
	if !ok {
		t.Fatal("the driver cannot proclaim")
	}
	r.About("", "LISTEN", func(a sources.About) bool { return a.Mode == modeWoken })
	noError(t, p.Publish(ctx, []byte("v=2")))
	r.row("", "4242", "proclaimed", func(row *sources.Row, _ *sources.State) bool { return string(row.Owners[0].Data.Head) == "v=2" })
	if e := r.Event(sources.EventProclaimed, "4242"); e.Owner.ID != g.Info().Owner {
		t.Errorf("%+v", e)
	}
}

func TestForgedAnnouncementChangesNothing(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	p := r.session("api|v=1").do("select pg_advisory_lock(4242)")
	r.watch(Options{}).synced()
	r.About("", "LISTEN", func(a sources.About) bool { return a.Mode == modeWoken })
	p.do(`notify coordtop, '{"database":"postgres","key":"4242","event":"proclaimed","data":"something else"}'`)
	p.do(`notify coordtop, 'no JSON'; notify coordtop, '{"key":"4242","event":"released"}'; select pg_advisory_lock(5151)`)
	r.row("", "5151", "held", is(sources.StatusHeld)) // in the same state the other is told, if it is
	if o := r.row("", "4242", "held", is(sources.StatusHeld)).Owners[0]; string(o.Data.Head) != "v=1" {
		t.Errorf("data %q", o.Data.Head)
	}
}

func TestPollersAreProbableCandidates(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	try := func(p *person) bool { return one[bool](p, "select pg_try_advisory_lock($1) leader", int64(4242)) }
	a, b, c := r.session("a"), r.session("b"), r.session("c")
	if !try(a) || try(b) {
		t.Fatal("not led by a")
	}
	c.do("select pg_try_advisory_lock(4242)") // writes the key
	r.watch(Options{}).synced()
	row := r.row("", "4242", "tried", func(row *sources.Row, _ *sources.State) bool { return len(row.Candidates) == 2 })
	if got := queue(row.Candidates); got != pids(b.pid, c.pid) && got != pids(c.pid, b.pid) {
		t.Errorf("candidates %s, want %d and %d", got, b.pid, c.pid)
	}
	if row.Queue.Len != 0 || !strings.HasPrefix(attr(row.Candidates[0].Attrs, "candidate"), "probable") {
		t.Errorf("%+v", *row.Primitive)
	}
	a.leave()
	r.Event(sources.EventReleased, "4242")
	r.row("", "4242", "still tried", func(row *sources.Row, _ *sources.State) bool {
		return len(row.Owners) == 0 && len(row.Candidates) == 2
	})
	if !try(b) {
		t.Fatal("b cannot lead")
	}
	r.Event(sources.EventAcquired, "4242")
	r.row("", "4242", "tried by c alone", func(row *sources.Row, _ *sources.State) bool { return queue(row.Candidates) == pids(c.pid) })
}

// A program that tries with a parameter shows nobody which lock it tries for. Here such ones
// try for two locks that nobody owns, and none of them can be linked to either.
func TestEmptyQueueIsNotTakenForNoCandidates(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	p := r.session("poller")
	leader := r.session("leader").do("select pg_advisory_lock(4242), pg_advisory_lock(4343)")
	for _, key := range []int64{4242, 4343} {
		if one[bool](p, "select pg_try_advisory_lock($1) leader", key) {
			t.Fatal("led by the poller")
		}
	}
	r.watch(Options{Selections: []Selection{{Pattern: "4242", Kind: sources.KindElection}, {Pattern: "4343", Kind: sources.KindElection}}}).synced()
	leader.leave()
	for _, name := range []string{"4242", "4343"} {
		row := r.row("", name, "without a leader", func(row *sources.Row, _ *sources.State) bool { return len(row.Owners) == 0 })
		if row.Queue.Len != 0 || len(row.Candidates) != 0 || row.Queue.CandidatesHow != sources.Unknown {
			t.Errorf("%s: %+v", name, *row.Primitive)
		}
		if got := row.Status(r.Hub.State()); got != sources.StatusNoLeader {
			t.Errorf("%s: %v", name, got)
		}
	}
}
