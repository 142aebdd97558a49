package app

import (
	"context"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/localserver"
)

func TestALockOfAnotherDatabaseIsTakenThere(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	conn := connect(t, server.URL())
	if _, err := conn.Exec(t.Context(), "create database elsewhere"); err != nil {
		t.Fatal(err)
	}
	there := connect(t, inDatabase(t, server.URL(), "elsewhere"))
	for _, c := range []*pgx.Conn{conn, there} {
		if _, err := c.Exec(t.Context(), "select pg_advisory_lock_shared(17, -4)"); err != nil {
			t.Fatal(err)
		}
	}
	h := holdsWith(t, "sources:\n- {name: pg, url: '"+server.URL()+"'}\n", "acquire", "--write", "--yes", "--shared", "pg/elsewhere/17:-4")
	h.line(1, "acquired")
	var owners int
	const count = "select count(*) from pg_locks l join pg_database d on d.oid = l.database where locktype = 'advisory' and datname = 'elsewhere'"
	if err := conn.QueryRow(t.Context(), count).Scan(&owners); err != nil {
		t.Fatal(err)
	}
	if owners != 2 {
		t.Errorf("%d own it there, want us and another", owners)
	}
	h.types("resign")
	h.line(2, "resigning")
	h.line(3, "resigned")
	h.ends(0)
}

// connect is another program's connection.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// inDatabase is the address of another database of a server.
func inDatabase(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

func TestAcquireSharesALockOfPostgres(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	a := holds(t, "acquire", "--write", "--yes", "--shared", server.URL()+"&mutex=17:-4")
	a.line(1, "acquired")
	b := holds(t, "acquire", "--write", "--yes", "--shared", "--wait", "2m", server.URL()+"&mutex=17:-4")
	b.line(1, "acquired")
	for _, h := range []*kept{a, b} {
		h.types("resign")
		h.line(2, "resigning")
		h.line(3, "resigned")
		h.ends(0)
	}
}
