package pgsource

import (
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

func TestWhatARightRefusesIsNeverAskedFor(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{Setup: []string{
		"create role alice login", "revoke execute on function pg_control_system(), pg_control_checkpoint() from public",
	}})
	p := r.session("a")
	r.watch(Options{URL: r.server.URLFor("alice", "", "postgres")}).synced()
	for range 3 {
		p.do("select pg_advisory_lock(4242)")
		r.row("", "4242", "held", is(sources.StatusHeld))
		p.do("select pg_advisory_unlock(4242)")
		r.row("", "4242", "free", is(sources.StatusFree))
	}
	log, err := r.server.Logged()
	noError(t, err)
	for line := range strings.Lines(log) {
		if strings.Contains(line, "ERROR") || strings.Contains(line, "denied") {
			t.Errorf("the server logs: %s", line)
		}
	}
}

func TestWhyASessionCannotBeEndedIsSaid(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{Config: []string{"max_prepared_transactions = 5"}, Setup: []string{
		"create role app login", "create role plain login", "create role sees login", "grant pg_monitor to sees",
		"create role ends login", "grant pg_monitor, pg_signal_backend to ends", "create role member login", "grant app to member",
	}})
	r.sessionAt(r.server.URLFor("app", "", "postgres"), "api").do("select pg_advisory_lock(1)")
	r.session("psql").do("select pg_advisory_lock(2)")
	r.session("two phases").do("begin; select pg_advisory_xact_lock(3); prepare transaction 'it''s 77'")
	pool := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: r.server})
	const prepared = "a prepared transaction has no session: postgres, or a superuser, ends it in the database postgres with ROLLBACK PREPARED 'it''s 77'"
	for _, c := range []struct{ url, app, root string }{
		{r.server.URLFor("plain", "", "postgres"), "grant pg_signal_backend and pg_monitor to it", "only a superuser may end a session of the role postgres, and plain is none"},
		{r.server.URLFor("sees", "", "postgres"), "the role sees may not end sessions of app: grant pg_signal_backend to it", "only a superuser"},
		{r.server.URLFor("ends", "", "postgres"), "", "only a superuser"},
		{r.server.URLFor("member", "", "postgres"), "", "only a superuser"},
		{r.server.URL(), "", ""},
		{pool.URL(), "a pooler stands between", "a pooler stands between"},
	} {
		w := (&rig{t: t, server: r.server}).watch(Options{URL: c.url}).synced()
		for name, want := range map[string]string{"1": c.app, "2": c.root, "3": prepared} {
			row := w.row("", name, "owned", is(sources.StatusHeld))
			if got := attr(row.Owners[0].Attrs, NotEnded); !strings.Contains(got, want) || (got == "") != (want == "") {
				t.Errorf("%s: lock %s: %q, want %q", c.url, name, got, want)
			}
		}
	}
	r.root.do("rollback prepared 'it''s 77'")
}

func TestARightThatIsGrantedMeanwhileIsNoticed(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{Setup: []string{"create role app login", "create role sees login", "grant pg_monitor to sees"}})
	r.sessionAt(r.server.URLFor("app", "", "postgres"), "api").do("select pg_advisory_lock(1)")
	r.watch(Options{URL: r.server.URLFor("sees", "", "postgres")}).synced()
	missing := func(want bool) func(*sources.Row, *sources.State) bool {
		return func(row *sources.Row, _ *sources.State) bool {
			return (attr(row.Owners[0].Attrs, NotEnded) != "") == want
		}
	}
	r.row("", "1", "a right is missing", missing(true))
	r.root.do("grant pg_signal_backend to sees")
	r.row("", "1", "none is missing", missing(false))
}

func TestLocksOfAnOwnerThatAreNotWatchedAreNamed(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	p := r.session("a").do("select pg_advisory_lock(4242), pg_advisory_lock(7), pg_advisory_lock_shared(7), pg_advisory_lock(17, -4)")
	r.session("b").do("select pg_advisory_lock(8)")
	r.watch(Options{Selections: election(), PollMin: time.Hour}).synced()
	row := r.row("", "4242", "led", is(sources.StatusLed))
	if got := attr(row.Owners[0].Attrs, AlsoOwns); got != "17:-4 7" {
		t.Errorf("it also owns %q", got)
	}
	r.Hub.Focus([]sources.Ref{row.Ref}, row.Ref)
	p.do("select pg_advisory_unlock(7), pg_advisory_unlock_shared(7), pg_advisory_lock(n) from generate_series(100, 110) n")
	r.Hub.Refresh("src")
	r.row("", "4242", "with eleven more", func(row *sources.Row, _ *sources.State) bool {
		return attr(row.Owners[0].Attrs, AlsoOwns) == "100 101 102 103 104 105 106 107 108 109 and 2 more"
	})
}
