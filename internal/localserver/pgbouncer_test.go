package localserver_test

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/localserver"
)

func TestPgbouncerLendsOneServerSessionToAllOrGivesEachItsOwn(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	for _, mode := range []string{"transaction", "session"} {
		b := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: p, Mode: mode})
		a, c := pg(t, b.URL()), pg(t, b.URL())
		simple := pgx.QueryExecModeSimpleProtocol
		first := one[int](t, a, "select pg_backend_pid()", simple)
		if second := one[int](t, c, "select pg_backend_pid()", simple); (first == second) != (mode == "transaction") {
			t.Errorf("%s mode: two clients are served by %d and %d", mode, first, second)
		}
	}
}

func TestPgbouncerLeavesNothingAfterStop(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{Setup: []string{"create role alice login"}})
	b, err := localserver.StartPgbouncer(ctx, localserver.PgbouncerOptions{
		Server: p, Roles: []string{"alice"}, Config: []string{"max_client_conn = 7"},
	})
	if err != nil {
		t.Fatal(err)
	}
	alice := pg(t, b.URLFor("alice", "postgres"))
	if who := one[string](t, alice, "select current_user::text", pgx.QueryExecModeSimpleProtocol); who != "alice" {
		t.Errorf("alice is %q behind the pooler", who)
	}
	pid := b.Pid()
	if os.Geteuid() == 0 {
		out, err := exec.Command("ps", "-o", "uid=", "-p", strconv.Itoa(pid)).Output()
		if uid := strings.TrimSpace(string(out)); err != nil || uid == "0" {
			t.Errorf("it runs as user %s (%v), want another than root", uid, err)
		}
	}
	for range 2 {
		if err := b.Stop(ctx); err != nil {
			t.Errorf("Stop: %v", err)
		}
	}
	if alive(pid) || b.Pid() != 0 {
		t.Error("it survived Stop")
	}
}

func TestPgbouncerThatCannotServeIsTold(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	_, err := localserver.StartPgbouncer(ctx, localserver.PgbouncerOptions{Server: p, Mode: "nonsense"})
	if err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("a bad mode: %v, want what it says", err)
	}
	if _, err := localserver.StartPgbouncer(ctx, localserver.PgbouncerOptions{}); err == nil {
		t.Error("it was started without a server")
	}
	if _, err := os.Stat("/usr/sbin/pgbouncer"); err == nil {
		return // it is found there whatever PATH says
	}
	t.Setenv("PATH", t.TempDir())
	_, err = localserver.StartPgbouncer(ctx, localserver.PgbouncerOptions{Server: p})
	if !errors.Is(err, localserver.ErrMissing) || !strings.Contains(err.Error(), "apt-get install pgbouncer") {
		t.Errorf("missing program: %v, want ErrMissing with the install hint", err)
	}
}
