package pgsource

import (
	"fmt"
	"strings"
	"testing"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// pooled is a pooler that lends its one server session to all.
func (r *rig) pooled() string {
	r.t.Helper()
	return localserver.PgbouncerForTest(r.t, localserver.PgbouncerOptions{
		Server: r.server, Mode: "transaction", Config: []string{"default_pool_size = 1"},
	}).URL()
}

// labelled waits until the one owner of 4242 has a label that begins so.
func (r *rig) labelled(begin string) sources.Owner {
	r.t.Helper()
	row := r.row("", "4242", "owned by "+begin, func(row *sources.Row, s *sources.State) bool {
		return len(row.Owners) == 1 && strings.HasPrefix(row.Owners[0].Label, begin)
	})
	return row.Owners[0]
}

func TestALockThatWasLeftInAPooledSessionNamesWhoTookItAndWhoHasTheSessionNow(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{})
	pool := r.pooled()
	r.watch(Options{Selections: []Selection{{Pattern: "4242"}}}).synced()
	r.selects("4242") // so that it is looked at often
	r.sessionAt(pool, "rails-migrate").do("select pg_advisory_lock(4242)").leave()
	o := r.labelled("rails-migrate pid ")
	if attr(o.Attrs, sources.Leaked) != "" {
		t.Errorf("while nothing tells that: %q", attr(o.Attrs, sources.Leaked))
	}
	r.sessionAt(pool, "worker").do("select 1")
	o = r.labelled("rails-migrate, now worker pid ")
	const text = "either leaked through a pooler: taken by rails-migrate, serves worker now; falls when the pooler closes it; ending it is safe while idle; " +
		"or the program that took it changed its own name"
	if got := attr(o.Attrs, sources.Leaked); got != text || attr(o.Attrs, sources.TakenBy) != "rails-migrate" || attr(o.Attrs, "application") != "worker" {
		t.Errorf("it says %q, taken by %q, application %q", got, attr(o.Attrs, sources.TakenBy), attr(o.Attrs, "application"))
	}
	if o.Program != sources.ProgramOf("rails-migrate", "127.0.0.1", "postgres") {
		t.Error("it is marked as a lock of the program that has the session now")
	}
}

func TestASessionThatAnswersUsIsSurelyLent(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{})
	pool := r.pooled()
	r.sessionAt(pool, "rails-migrate").do("select pg_advisory_lock(4242)").leave()
	r.watch(Options{URL: pool, Selections: []Selection{{Pattern: "4242"}}}).synced()
	row := r.row("", "4242", "held", is(sources.StatusHeld))
	const text = "leaked through a pooler: who took it was not seen"
	if got := attr(row.Owners[0].Attrs, sources.Leaked); !strings.HasPrefix(got, text) {
		t.Errorf("it says %q", got)
	}
}

func TestTheDataOfASessionIsNoPartOfItsName(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	r.watch(Options{}).synced()
	p := r.session("me|one").do("select pg_advisory_lock(4242)")
	r.labelled("me pid ")
	for _, data := range []string{"two", ""} {
		p.do(fmt.Sprintf("set application_name = 'me|%s'", data))
		row := r.row("", "4242", "with data", func(row *sources.Row, s *sources.State) bool { return string(row.Owners[0].Data.Head) == data })
		if o := row.Owners[0]; o.Label != "me pid "+pids(p.pid) || attr(o.Attrs, sources.Leaked) != "" || attr(o.Attrs, sources.TakenBy) != "" {
			t.Errorf("with %q: %q %v", data, o.Label, o.Attrs)
		}
	}
}

// TestOnlyWhatWasSeenIsSaidOfTheTaker covers takes before the first look, takes by a session that had
// done more by then, and what happens while nobody looks.
func TestOnlyWhatWasSeenIsSaidOfTheTaker(t *testing.T) {
	t.Parallel()
	t.Run("taken before the first look", func(t *testing.T) {
		t.Parallel()
		r := borrow(t)
		p := r.session("early").do("select pg_advisory_lock(4242)")
		r.watch(Options{}).synced()
		p.do("set application_name = 'late'")
		o := r.labelled("late pid ")
		if got := attr(o.Attrs, sources.Leaked); attr(o.Attrs, sources.TakenBy) != "" || !strings.Contains(got, "was named early before") || !strings.Contains(got, "who took it was not seen") {
			t.Errorf("it says %q of %v", got, o.Attrs)
		}
	})
	t.Run("other work since", func(t *testing.T) {
		t.Parallel()
		r := borrow(t)
		r.watch(Options{}).synced()
		p := r.session("first")
		p.do("select pg_advisory_lock(4242)\n; select 1")
		p.do("select 1")
		r.row("", "4242", "held", is(sources.StatusHeld))
		p.do("set application_name = 'second'")
		o := r.labelled("first, now second pid ")
		if got := attr(o.Attrs, sources.TakenBy) + attr(o.Attrs, sources.FirstSeenAs); got != "first" || !strings.Contains(attr(o.Attrs, sources.Leaked), "by first, serves second") && !strings.Contains(attr(o.Attrs, sources.Leaked), "as first, serves second") {
			t.Errorf("it says %q, %v", got, o.Attrs)
		}
	})
	t.Run("renamed in the dark", func(t *testing.T) {
		t.Parallel()
		r := borrow(t)
		proxy := behind(r)
		p := r.session("before").do("select pg_advisory_lock(4242)")
		r.labelled("before pid ")
		proxy.Cut()
		r.row("", "4242", "stale", is(sources.StatusStale))
		p.do("select pg_advisory_unlock(4242); set application_name = 'after'; select pg_advisory_lock(4242)")
		proxy.Resume()
		if o := r.labelled("after pid "); attr(o.Attrs, sources.TakenBy)+attr(o.Attrs, sources.FirstSeenAs)+attr(o.Attrs, sources.Leaked) != "" {
			t.Errorf("it says %v", o.Attrs)
		}
	})
	t.Run("idle in the dark", func(t *testing.T) {
		t.Parallel()
		r := borrow(t)
		proxy := behind(r)
		p := r.session("before").do("select pg_advisory_lock(4242)")
		r.labelled("before pid ")
		r.row("", "4242", "proved", func(row *sources.Row, _ *sources.State) bool { return row.Owners[0].Proof != 0 })
		proxy.Cut()
		r.row("", "4242", "stale", is(sources.StatusStale))
		proxy.Resume()
		r.row("", "4242", "fresh", is(sources.StatusLed))
		p.do("set application_name = 'after'")
		r.labelled("before, now after pid ")
	})
}
