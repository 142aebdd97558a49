package backends

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/localserver"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/sources/pgsource"
	"coordtop/sources/sourcetest"
)

// forceRig is a server, a source that watches one of its locks, and an operator that may act.
type forceRig struct {
	*sourcetest.Witness
	*operate.Operator
	t      *testing.T
	server *localserver.Postgres
}

// newForceRig watches a server as the role does.
func newForceRig(t *testing.T, server *localserver.Postgres, role string) *forceRig {
	t.Helper()
	url := server.URLFor(role, "", "postgres")
	source, err := pgsource.New(pgsource.Options{Name: "s", URL: url, Selections: []pgsource.Selection{{Pattern: "4242"}, {Pattern: "17:-4"}}})
	if err != nil {
		t.Fatal(err)
	}
	r := &forceRig{t: t, server: server, Witness: sourcetest.Watch(t, "postgres", source)}
	b := operate.Backend{Type: "postgres", Identity: "ana@desk:1"}
	postgresDriver(Host{Lookup: func(string) (string, bool) { return "", false }}, config.Source{Name: "s", URL: url}, &b)
	r.Operator = operate.New(context.Background(), operate.Options{
		View: r.Hub, Always: true, Backends: map[string]operate.Backend{"s": b},
		Audit: operate.NewAuditLog(filepath.Join(t.TempDir(), "audit.jsonl"), operate.Actor{User: "ana"}),
	})
	t.Cleanup(func() {
		if err := r.Operator.Close(); err != nil {
			t.Error(err)
		}
	})
	r.Synced()
	return r
}

// session logs a role in and runs statements.
func (r *forceRig) session(role string, statements ...string) *pgx.Conn {
	r.t.Helper()
	return session(r.t, r.server, role, statements...)
}

func session(t *testing.T, server *localserver.Postgres, role string, statements ...string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), server.URLFor(role, "", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	for _, sql := range statements {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	return c
}

// wait begins to wait for 4242, and returns the end of that.
func (r *forceRig) wait(c *pgx.Conn) <-chan error {
	r.t.Helper()
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		_, err := c.Exec(ctx, "select pg_advisory_lock(4242)")
		ended <- err
	}()
	r.t.Cleanup(func() { cancel(); <-joined })
	return ended
}

// row waits for a row of 4242.
func (r *forceRig) row(what string, ok func(*sources.Row) bool) *sources.Row {
	r.t.Helper()
	return r.Row("postgres", "4242", what, func(row *sources.Row, _ *sources.State) bool { return ok(row) })
}

// request is a confirmed one.
func request(v action.Verb, t action.Target) action.Request {
	return action.Request{Verb: v, Target: t, Typed: t.Ref.Name, Reason: "it is stuck"}
}

// over starts an action and waits for its end.
func (r *forceRig) over(q action.Request) action.Run {
	r.t.Helper()
	id, err := r.Start(q)
	if err != nil {
		r.t.Fatal(err)
	}
	for {
		for _, run := range r.Operator.Status().Runs {
			if run.ID == id && run.Phase.Over() {
				return run
			}
		}
		select {
		case <-r.Wake():
		case <-r.t.Context().Done():
			r.t.Fatal("it does not end")
		}
	}
}

func TestABoxOfPostgresNamesAllThatFallsAndThatFalls(t *testing.T) {
	t.Parallel()
	r := newForceRig(t, localserver.PostgresForTest(t, localserver.PostgresOptions{}), "postgres")
	owner := r.session("postgres", "select pg_advisory_lock(4242), pg_advisory_lock(17, -4), pg_advisory_lock(99)", "begin", "create table half (done int)")
	first, second := r.session("postgres"), r.session("postgres")
	served := r.wait(first)
	r.row("one waits", func(row *sources.Row) bool { return row.Queue.Len == 1 })
	r.wait(second)
	row := r.row("two wait", func(row *sources.Row) bool {
		return row.Queue.Len == 2 && sources.AttrOf(row.Owners[0].Attrs, "transaction start") != ""
	})
	r.Row("postgres", "17:-4", "owned", func(row *sources.Row, _ *sources.State) bool { return len(row.Owners) == 1 })
	q := request(action.Release, action.TargetOf(row, &row.Owners[0]))
	effect, err := r.Describe(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	box := strings.Join(append(effect.Lines, effect.Next, effect.Call), "\n")
	for _, want := range []string{
		"Its whole session ends", "Its transaction, open for ", " (idle in transaction), is rolled back.", "not watched, which fall too: 99.", "so these fall too: 17:-4.",
		row.Queue.Waiters[0].Label, "select pg_terminate_backend(" + sources.AttrOf(row.Owners[0].Attrs, "pid") + "), if that process began at ", " and still owns 4242",
	} {
		if !strings.Contains(box, want) {
			t.Errorf("the box does not say %q:\n%s", want, box)
		}
	}
	if run := r.over(q); run.Phase != action.Seen || !strings.Contains(run.Text, row.Queue.Waiters[0].Label) {
		t.Errorf("%+v", run)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	row = r.row("who ended it is announced", func(row *sources.Row) bool {
		return len(row.Owners) == 1 && strings.HasPrefix(sources.AttrOf(row.Owners[0].Attrs, pgsource.OwnerEvicted), "ended by force by ana@desk:1 at ")
	})
	if effect, err = r.Describe(t.Context(), request(action.Release, action.TargetOf(row, &row.Owners[0]))); err != nil || !strings.Contains(strings.Join(effect.Lines, "\n"), "Just now another owner was ended by force by ana@desk:1 at ") {
		t.Errorf("the next box says %q, %v", effect.Lines, err)
	}
	if err := owner.Ping(t.Context()); err == nil {
		t.Error("the session of the owner lives")
	}
	var left int
	root := r.session("postgres")
	if err := root.QueryRow(t.Context(), "select count(*) from pg_locks where locktype = 'advisory' and granted").Scan(&left); err != nil || left != 1 {
		t.Errorf("%d locks are owned, %v", left, err)
	}
	var half bool
	if err := root.QueryRow(t.Context(), "select to_regclass('half') is not null").Scan(&half); err != nil || half {
		t.Errorf("the transaction was not rolled back: %v", err)
	}
}

func TestAWaitOnPostgresIsEnded(t *testing.T) {
	t.Parallel()
	r := newForceRig(t, localserver.PostgresForTest(t, localserver.PostgresOptions{}), "postgres")
	r.session("postgres", "select pg_advisory_lock(4242)")
	waiter := r.session("postgres")
	ended := r.wait(waiter)
	row := r.row("one waits", func(row *sources.Row) bool { return row.Queue.Len == 1 && row.Queue.Waiters[0].Guard != "" })
	q := request(action.CancelWait, action.TargetOfWaiter(row, &row.Queue.Waiters[0]))
	effect, err := r.Describe(t.Context(), q)
	if err != nil || !strings.HasPrefix(effect.Call, "select pg_cancel_backend(") || !strings.HasSuffix(effect.Call, " and still waits for 4242") {
		t.Errorf("%+v, %v", effect, err)
	}
	if run := r.over(q); run.Phase != action.Seen {
		t.Errorf("%+v", run)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "57014") {
		t.Errorf("its statement ended with %v", err)
	}
	if err := waiter.Ping(t.Context()); err != nil {
		t.Errorf("its session has ended, too: %v", err)
	}
}

func TestWhatCannotBeReleasedOnPostgresSaysWhichRightIsMissing(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{Config: []string{"max_prepared_transactions = 2"},
		Setup: []string{"create role app login", "create role sees login", "grant pg_monitor to sees", "create role plain login"}})
	r := newForceRig(t, server, "sees")
	r.session("app", "begin", "select pg_advisory_xact_lock_shared(4242)", "prepare transaction 'order 77'", "select pg_advisory_lock_shared(4242)")
	row := r.row("owned twice", func(row *sources.Row) bool { return len(row.Owners) == 2 })
	for i := range row.Owners {
		o, want := &row.Owners[i], "grant pg_signal_backend to it"
		if o.Session == "" {
			want = "app, or a superuser, ends it in the database postgres with ROLLBACK PREPARED 'order 77'"
		}
		if got := r.NotEnded(row, action.TargetOf(row, o)); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", o.Label, got, want)
		}
		if _, err := r.Start(request(action.Release, action.TargetOf(row, o))); !errors.Is(err, operate.ErrNotPossible) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", o.Label, err)
		}
	}
	r.wait(r.session("app"))
	row = r.row("one waits", func(row *sources.Row) bool { return row.Queue.Len == 1 && row.Queue.Waiters[0].Guard != "" })
	_, err := r.Start(request(action.CancelWait, action.TargetOfWaiter(row, &row.Queue.Waiters[0])))
	if want := "grant pg_signal_backend to it"; !errors.Is(err, operate.ErrNotPossible) || !strings.Contains(err.Error(), want) {
		t.Errorf("a wait: %v, want %q", err, want)
	}
	plain := newForceRig(t, server, "plain")
	row = plain.row("owned twice", func(row *sources.Row) bool { return len(row.Owners) == 2 })
	for i := range row.Owners {
		o := &row.Owners[i]
		if _, err := plain.Start(request(action.Release, action.TargetOf(row, o))); o.Session != "" && (!errors.Is(err, operate.ErrNotPossible) || !strings.Contains(err.Error(), "grant pg_signal_backend and pg_monitor to it")) {
			t.Errorf("%s: %v", o.Label, err)
		}
	}
	session(t, server, "postgres", "rollback prepared 'order 77'")
}
