package localserver_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"coordtop/internal/ground/raced"
	"coordtop/internal/localserver"
)

func pg(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		c.Close(ctx)
	})
	return c
}

// one reads a single value.
func one[T any](t *testing.T, c *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := c.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func TestPostgresAnswersOnLoopbackAndLeavesNothingAfterStop(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	ctx := t.Context()
	for _, killed := range []bool{false, true} {
		p, err := localserver.StartPostgres(ctx, localserver.PostgresOptions{})
		if err != nil {
			t.Fatal(err)
		}
		host, port, err := net.SplitHostPort(p.Addr())
		if err != nil || host != "127.0.0.1" || port == "5432" || port != strconv.Itoa(p.Port()) {
			t.Errorf("listens on %s (%v), port %d, want 127.0.0.1 and no standard port", p.Addr(), err, p.Port())
		}
		c := pg(t, p.URL())
		if n := one[int](t, c, "select current_setting('max_connections')::int"); n != 200 {
			t.Errorf("max_connections is %d, want 200", n)
		}
		if s := one[string](t, c, "select current_setting('unix_socket_directories')"); s != "" {
			t.Errorf("it also listens on a socket in %q", s)
		}
		pid, dir := p.Pid(), p.Dir()
		id, uid := segment(t, p)
		if os.Geteuid() == 0 && uid == 0 || !segments(t, uid)[id] {
			t.Fatalf("it runs as user %d with segment %s, want another than root and a segment that is there", uid, id)
		}
		if killed {
			p.Kill()
		}
		for range 2 {
			if err := p.Stop(ctx); err != nil {
				t.Errorf("Stop: %v", err)
			}
		}
		if alive(pid) || exists(dir) || p.Pid() != 0 || segments(t, uid)[id] {
			t.Errorf("after Stop (killed before: %v): process alive %v, folder there %v, Pid %d, segment left %v",
				killed, alive(pid), exists(dir), p.Pid(), segments(t, uid)[id])
		}
		if err := p.Restart(ctx); err == nil {
			t.Error("a stopped server could be restarted")
		}
	}
}

func TestFrozenPostgresIsSilentUntilThawed(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	conn, err := pgconn.Connect(t.Context(), p.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := p.Freeze(); err != nil {
		t.Fatal(err)
	}
	// The question is sent, and waiting for its answer does not close the connection.
	conn.Frontend().SendQuery(&pgproto3.Query{String: "select 1"})
	if err := conn.Frontend().Flush(); err != nil {
		t.Fatal(err)
	}
	if err := conn.Conn().SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if msg, err := conn.Frontend().Receive(); err == nil {
		t.Errorf("a frozen server answered %T", msg)
	}
	if err := p.Thaw(); err != nil {
		t.Fatal(err)
	}
	if err := conn.Conn().SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Frontend().Receive(); err != nil {
		t.Errorf("after Thaw: %v", err)
	}
	if err := p.Freeze(); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("stopping a frozen server: %v", err)
	}
	if err := p.Thaw(); err == nil {
		t.Error("a stopped server could be thawed")
	}
}

func TestPostgresRestartKeepsPortAndDataAndCutsClients(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{Config: []string{"fsync = on", "synchronous_commit = on", "full_page_writes = on"}})
	if _, err := pg(t, p.URL()).Exec(ctx, "create table kept (n int)"); err != nil {
		t.Fatal(err)
	}
	addr, pid := p.Addr(), p.Pid()
	for round := range 2 {
		c := pg(t, p.URL())
		if _, err := c.Exec(ctx, "insert into kept values (1)"); err != nil {
			t.Fatal(err)
		}
		if round == 1 {
			children := offspring(t, p.Pid())
			p.Kill()
			if p.Pid() != 0 {
				t.Error("the server survived Kill")
			}
			for _, child := range children {
				if alive(child) {
					eventually(t, "its child is gone or a zombie", func() bool { return !alive(child) || zombie(child) })
				}
			}
		}
		if err := p.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		if err := c.Ping(ctx); err == nil {
			t.Error("a client's connection survived the restart")
		}
		if p.Addr() != addr || p.Pid() == pid {
			t.Errorf("restarted at %s as %d, want %s and not %d", p.Addr(), p.Pid(), addr, pid)
		}
		if n := one[int](t, pg(t, p.URL()), "select count(*) from kept"); n != round+1 {
			t.Errorf("%d rows after restart %d, want the data kept", n, round)
		}
	}
}

func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}

func TestPostgresRolesDatabasesAndPasswords(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{
		Password: `a 'b"/@c`,
		Setup: []string{
			"create role alice login password 'secret'", "create role bob login password 'x'; grant pg_monitor to bob",
			`create database "App ""x"""`,
		},
		Config: []string{"max_connections = 40"},
	})
	c := pg(t, p.URL())
	if n := one[int](t, c, "select current_setting('max_connections')::int"); n != 40 {
		t.Errorf("max_connections is %d, want the extra line to count", n)
	}
	if s := one[string](t, c, "select passwd from pg_shadow where usename = 'alice'"); !strings.HasPrefix(s, "SCRAM-SHA-256$") {
		t.Errorf("alice's password is kept as %.10s, want SCRAM", s)
	}
	alice := pg(t, p.URLFor("alice", "secret", `App "x"`))
	if db := one[string](t, alice, "select current_database()"); db != `App "x"` {
		t.Errorf("alice is in %q", db)
	}
	var refused *pgconn.PgError
	_, err := pgx.Connect(ctx, p.URLFor("alice", "wrong", "postgres"))
	if !errors.As(err, &refused) || refused.Code != "28P01" {
		t.Errorf("with a wrong password: %v, want 28P01", err)
	}
	if exists(filepath.Join(p.Dir(), "password")) {
		t.Error("the password was left in a file")
	}
}

func TestPostgresTLSIsVerified(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{TLS: true})
	if !one[bool](t, pg(t, p.URL()), "select ssl from pg_stat_ssl where pid = pg_backend_pid()") {
		t.Error("the connection is not encrypted")
	}
	for _, mode := range []string{"disable", "verify-full"} { // the latter with the system's authorities
		url := fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=%s", p.Addr(), mode)
		if c, err := pgx.Connect(ctx, url); err == nil {
			c.Close(ctx)
			t.Errorf("sslmode=%s got in", mode)
		}
	}
}

func TestStandbyFollowsItsPrimaryAndRefusesWrites(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	primary := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	standby := localserver.PostgresForTest(t, localserver.PostgresOptions{StandbyOf: primary})
	if _, err := pg(t, primary.URL()).Exec(ctx, "create table followed (n int)"); err != nil {
		t.Fatal(err)
	}
	c := pg(t, standby.URL())
	if !one[bool](t, c, "select pg_is_in_recovery()") {
		t.Error("the standby is no standby")
	}
	eventually(t, "the standby has what the primary has", func() bool {
		return one[bool](t, c, "select to_regclass('followed') is not null")
	})
	if _, err := localserver.StartPostgres(ctx, localserver.PostgresOptions{StandbyOf: primary, Setup: []string{"create database x"}}); err == nil {
		t.Error("a standby with databases of its own was started")
	}
}

func TestPostgresFolderOfSomebodyElseIsKeptAndUsedAgain(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	ctx := t.Context()
	dir, err := os.MkdirTemp("", "coordtop-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for round := range 2 {
		p, err := localserver.StartPostgres(ctx, localserver.PostgresOptions{Dir: dir, Setup: []string{"create database made"}})
		if err != nil {
			t.Fatal(err)
		}
		sql := "create table mine (n int)"
		if round == 1 {
			sql = "select from mine"
		}
		if _, err := pg(t, p.URLFor("postgres", "", "made")).Exec(ctx, sql); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		if err := p.Stop(ctx); err != nil {
			t.Error(err)
		}
	}
	if !exists(filepath.Join(dir, "data", "PG_VERSION")) {
		t.Error("somebody else's folder was removed")
	}
}

func TestUnusablePostgresIsToldApart(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it makes three clusters to see one start after the other fail")
	localserver.NeedsServer(t)
	ctx := t.Context()
	for _, c := range []struct {
		what    string
		options localserver.PostgresOptions
		want    error
		text    string
	}{
		{"no programs", localserver.PostgresOptions{Bin: t.TempDir()}, localserver.ErrMissing, "apt-get install postgresql"},
		{"the standard port", localserver.PostgresOptions{Port: 5432}, nil, "standard port"},
		{"a bad line", localserver.PostgresOptions{Config: []string{"no_such_setting = on"}}, nil, "no_such_setting"},
		{"a bad statement", localserver.PostgresOptions{Setup: []string{"create nonsense"}}, nil, "nonsense"},
	} {
		p, err := localserver.StartPostgres(ctx, c.options)
		if err == nil {
			p.Stop(ctx)
		}
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %v and %q", c.what, err, c.want, c.text)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, err = localserver.StartPostgres(ctx, localserver.PostgresOptions{Port: taken.Addr().(*net.TCPAddr).Port})
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("on a taken port: %v, want EADDRINUSE", err)
	}
	if os.Geteuid() != 0 {
		return
	}
	dir := filepath.Join(t.TempDir(), "inside") // which nobody else may enter
	_, err = localserver.StartPostgres(ctx, localserver.PostgresOptions{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "cannot reach") {
		t.Errorf("in a folder that its user cannot reach: %v", err)
	}
}

func TestManyPostgresStartAtOnce(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			p, err := localserver.StartPostgres(t.Context(), localserver.PostgresOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := p.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
