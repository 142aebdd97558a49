package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/ground/raced"
	"coordtop/internal/localserver"
)

// looksEnv makes TestAStrangersLockOutlivesALook look more often with processes of their
// own, which take long.
const looksEnv = "COORDTOP_TEST_LOOKS"

// looks is how often each kind of look is tried.
const looks = 100

// borrower owns a lock of session level through a pooler that lends its server session to
// whoever asks next.
type borrower struct {
	t      *testing.T
	pool   *localserver.Pgbouncer
	direct *pgx.Conn
	key    int
	pid    uint32
}

func borrow(t *testing.T, p *localserver.Postgres, mode string, key int) *borrower {
	t.Helper()
	b := &borrower{t: t, key: key, direct: login(t, p.URL(), "direct").conn}
	b.pool = localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: p, Mode: mode, Config: []string{"default_pool_size = 3"}})
	c := login(t, b.pool.URL(), "borrower").conn
	var ok bool
	sql := fmt.Sprintf("select pg_try_advisory_lock(%d)", key)
	if err := c.QueryRow(t.Context(), sql, pgx.QueryExecModeSimpleProtocol).Scan(&ok); err != nil || !ok {
		t.Fatal(ok, err)
	}
	b.pid = b.owner()
	return b
}

// owner is the server session that owns the lock; 0: none.
func (b *borrower) owner() (pid uint32) {
	b.t.Helper()
	const sql = "select coalesce(max(pid), 0) from pg_locks where locktype = 'advisory' and granted and objid = $1"
	if err := b.direct.QueryRow(context.Background(), sql, b.key).Scan(&pid); err != nil {
		b.t.Fatal(err)
	}
	return pid
}

// stands fails the test if the lock does not.
func (b *borrower) stands(after string) {
	b.t.Helper()
	if now := b.owner(); now != b.pid {
		b.t.Fatalf("after %s the lock is owned by %d, not %d", after, now, b.pid)
	}
	var free bool
	if err := b.direct.QueryRow(context.Background(), "select pg_try_advisory_lock($1)", b.key).Scan(&free); err != nil || free {
		b.t.Fatalf("after %s a direct client gets the lock: %v, %v", after, free, err)
	}
	log, err := b.pool.Logged()
	if err != nil || strings.Contains(log, "not ready") || strings.Contains(log, "transaction blocks not allowed") {
		b.t.Fatalf("after %s the pooler says, %v: %s", after, err, log)
	}
}

func TestAStrangersLockOutlivesALook(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it looks some thousand times, each time with a process of its own")
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	processes := 8
	if n, err := strconv.Atoi(os.Getenv(looksEnv)); err == nil {
		processes = n
	}
	for i, mode := range []string{"transaction", "statement"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			b := borrow(t, p, mode, 600+i)
			url := b.pool.URL()
			for range looks {
				if w := newWorld(t); w.main(t.Context(), "get", url) != 0 {
					t.Fatal(w.stderr)
				}
			}
			b.stands("100 times get")
			for range looks {
				ctx, stop := context.WithTimeout(t.Context(), rand.N(60*time.Millisecond))
				newWorld(t).main(ctx, "get", url)
				stop()
			}
			b.stands("100 times get, interrupted")
			for range looks {
				lookOn(t, url)
			}
			b.stands("100 times watch")
			for range looks {
				campaignInVain(t, url)
			}
			b.stands("100 refused campaigns")
			for range processes {
				boardOn(t, url)
			}
			b.stands(fmt.Sprint(processes, " boards"))
			for _, args := range [][]string{{"watch", url}, {"campaign", "--write", "--yes", url + "&election=4711"}} {
				for range processes {
					h := holds(t, args...)
					end := time.AfterFunc(rand.N(100*time.Millisecond), func() { _ = h.cmd.Process.Signal(syscall.SIGTERM) })
					ends(t, h.cmd)
					end.Stop()
				}
				b.stands(fmt.Sprint(processes, " times ", args[0], ", ended by SIGTERM"))
			}
		})
	}
}

// lookOn watches until everything was seen once.
func lookOn(t *testing.T, url string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w := newWorld(t)
	done := make(chan int, 1)
	go func() { done <- w.main(ctx, "watch", url) }()
	w.stdout.await(t, func(s string) bool { return strings.Contains(s, "synced") })
	stop()
	if code := <-done; code != 0 {
		t.Fatal(code, w.stderr)
	}
}

// campaignInVain campaigns where that must be refused.
func campaignInVain(t *testing.T, url string) {
	t.Helper()
	h := holds(t, "campaign", "--write", "--yes", url+"&election=4711")
	h.ends(exitError)
	if !strings.Contains(h.errs.String(), "a pooler in transaction or statement mode") {
		t.Fatal(h.errs)
	}
}

// boardOn shows the board until it shows a lock, and ends it.
func boardOn(t *testing.T, url string) {
	t.Helper()
	cmd := command(t, url)
	s := onScreen(t, cmd)
	s.await(t, func(out string) bool { return strings.Contains(out, "borrower") || strings.Contains(out, "pid ") })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ends(t, cmd)
}
