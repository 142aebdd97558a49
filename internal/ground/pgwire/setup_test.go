package pgwire_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/ground/pgwire"
	"coordtop/internal/localserver"
)

const patience = 20 * time.Second // bounds every wait for an event; a good run never comes near it

func parse(t testing.TB, address string) *pgconn.Config {
	t.Helper()
	c, _, err := pgwire.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// open connects, until the test ends.
func open(t testing.TB, address string) *pgwire.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := pgwire.Open(ctx, pgwire.Options{Config: parse(t, address)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// raw is a connection of the plain library, as others have it.
func raw(t testing.TB, address string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) }) // the test may have broken it
	return c
}

// ask runs one statement in a simple message and returns the first value.
func ask(t testing.TB, c *pgconn.PgConn, sql string) string {
	t.Helper()
	results, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	last := results[len(results)-1]
	if len(last.Rows) == 0 {
		return ""
	}
	return string(last.Rows[0][0])
}

// warm makes the pool have so many idle server sessions, where it may.
func warm(t testing.TB, url string, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for range n {
		c := raw(t, url)
		wg.Go(func() {
			_ = c.Exec(context.Background(), "select pg_sleep(0.05)").Close() // a pool of one serves them in turn
		})
	}
	wg.Wait()
}

// stranger owns a lock of session level through a pooler that lends sessions.
type stranger struct {
	t      testing.TB
	pool   *localserver.Pgbouncer
	direct *pgconn.PgConn
	key    string
	pid    string
}

var lastKey atomic.Int32

// strangerAt makes a pooler of a server, and a stranger that owns a lock through it.
func strangerAt(t testing.TB, p *localserver.Postgres, mode string, config ...string) *stranger {
	t.Helper()
	s := &stranger{t: t, direct: raw(t, p.URL()), key: fmt.Sprint(600 + lastKey.Add(1))}
	s.pool = localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: p, Mode: mode, Config: config})
	c := raw(t, s.pool.URL())
	if ask(t, c, "select pg_try_advisory_lock("+s.key+")") != "t" {
		t.Fatal("the stranger does not get its lock")
	}
	s.pid = s.owner()
	return s
}

func (s *stranger) owner() string {
	return ask(s.t, s.direct, "select pid from pg_locks where locktype = 'advisory' and granted and objid = "+s.key)
}

// unharmed fails the test if the stranger does not own its lock any more.
func (s *stranger) unharmed(after string) {
	s.t.Helper()
	if now := s.owner(); now != s.pid {
		s.t.Errorf("after %s the stranger's lock is owned by %q, not %q", after, now, s.pid)
	}
	log, err := s.pool.Logged()
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, "not ready") || strings.Contains(line, "unclean server") || strings.Contains(line, "transaction blocks not allowed") {
			s.t.Errorf("after %s the pooler says: %s", after, line)
			return
		}
	}
}
