package pgsource

import (
	"strings"
	"testing"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

func TestStandbyShowsItsOwnLocksAndSaysSo(t *testing.T) {
	t.Parallel()
	primary := borrow(t)
	primary.session("a").do("select pg_advisory_lock(4242)")
	r := serve(t, localserver.PostgresOptions{StandbyOf: primary.server})
	r.watch(Options{Selections: election()}).synced()
	r.row("", "4242", "without a leader", is(sources.StatusNoLeader))
	about := r.About("", "standby", func(a sources.About) bool { return a.Role == "standby" })
	if about.Mode != modePolling || len(about.Warnings) != 1 || !strings.Contains(about.Warnings[0], "standby") {
		t.Errorf("%+v", about)
	}
	p := r.session("b").do("select pg_advisory_lock(4242)")
	r.Event(sources.EventAcquired, "4242")
	r.row("", "4242", "led", is(sources.StatusLed))
	was := about.Incarnation
	// Promoted in place it keeps its sessions and their locks.
	r.root.do("select pg_promote()")
	about = r.About("", "primary", func(a sources.About) bool { return a.Role == "primary" && a.Mode == modeWoken })
	if about.Incarnation != was || len(about.Warnings) != 0 {
		t.Errorf("%+v, was %s", about, was)
	}
	row := r.row("", "4242", "led still", is(sources.StatusLed))
	if owners(row.Primitive) != pids(p.pid) {
		t.Errorf("%+v", row.Owners)
	}
	r.NoOwnerEvents()
}

func TestOfSeveralHostsThePrimaryIsWatched(t *testing.T) {
	t.Parallel()
	primary := borrow(t)
	standby := localserver.PostgresForTest(t, localserver.PostgresOptions{StandbyOf: primary.server})
	p := primary.session("a").do("select pg_advisory_lock(4242)")
	both := "postgres://postgres@" + standby.Addr() + "," + primary.server.Addr() + "/postgres?sslmode=disable"
	primary.watch(Options{URL: both}).synced()
	primary.About("", "primary", func(a sources.About) bool { return a.Role == "primary" && a.Mode == modeWoken })
	if row := primary.row("", "4242", "held", is(sources.StatusHeld)); owners(row.Primitive) != pids(p.pid) {
		t.Errorf("%+v", row.Owners)
	}
	refuses(t, connect(t, Options{URL: primary.server.URL() + "&target_session_attrs=read-only"}), false, "none of "+primary.server.Addr())
}

func TestPoolerThatLendsSessionsIsPolledAndWarnedOf(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	r.session("a").do("select pg_advisory_lock(4242)")
	pool := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: r.server, Mode: "transaction"})
	r.watch(Options{URL: pool.URL(), Selections: election()}).synced()
	about := r.About("", "anything", func(sources.About) bool { return true })
	if about.Mode != modePolling || len(about.Warnings) != 1 || !strings.Contains(about.Warnings[0], "transaction or statement mode") {
		t.Errorf("%+v", about)
	}
	r.row("", "4242", "led", is(sources.StatusLed))
	other := r.sessionAt(pool.URL()+"&default_query_exec_mode=simple_protocol", "other")
	for range 5 { // the session that we looked with may be lent to it
		for name, want := range map[string]string{"default_transaction_read_only": "off", "statement_timeout": "0", "lock_timeout": "0"} {
			if got := one[string](other, "select current_setting($1)", name); got != want {
				t.Fatalf("another client of the pooler inherits %s = %s", name, got)
			}
		}
	}
	r.session("b").do("select pg_advisory_lock(17, 4)")
}

func TestPoolerThatGivesSessionsIsFine(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	pool := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: r.server, Mode: "session"})
	p := r.sessionAt(pool.URL(), "pooled").do("select pg_advisory_lock(4242)")
	r.watch(Options{URL: pool.URL(), Selections: election()}).synced()
	about := r.About("", "LISTEN", func(a sources.About) bool { return a.Mode == modeWoken })
	if len(about.Warnings) != 1 || !strings.Contains(about.Warnings[0], "a pooler stands between") {
		t.Errorf("%+v", about)
	}
	row := r.row("", "4242", "led", is(sources.StatusLed))
	if pid := one[uint32](p, "select pg_backend_pid()"); owners(row.Primitive) != pids(pid) {
		t.Errorf("%+v, want %d", row.Owners, pid)
	}
}

func TestWatcherIsKnownByNameCannotWriteAndCountsForNothing(t *testing.T) {
	t.Parallel()
	r := borrow(t).watch(Options{}).synced()
	r.About("", "LISTEN", func(a sources.About) bool { return a.Mode == modeWoken })
	if n := one[int](r.root, "select count(*) from pg_stat_activity where application_name = $1", clientName); n != 2 {
		t.Errorf("%d connections are called %s", n, clientName)
	}
	if n := len(r.Hub.State().Rows); n != 0 {
		t.Errorf("%d rows of nobody: %s", n, r.Witness)
	}
	s, err := New(Options{Name: "src", URL: r.server.URL()})
	noError(t, err)
	link, err := dial(t.Context(), &s.o, s.config, s.selected)
	noError(t, err)
	defer link.Close()
	if _, err := link.Rows(t.Context(), "create table x ()"); err == nil {
		t.Error("it can write")
	}
	for name, want := range map[string]string{"statement_timeout": "5s", "lock_timeout": "1s"} {
		if row, err := link.One(t.Context(), "select current_setting($1)", name); err != nil || row.Text(0) != want {
			t.Errorf("%s = %v, %v", name, row, err)
		}
	}
}
