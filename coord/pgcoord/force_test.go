package pgcoord_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
)

// guardOf is the guard of the row of a session in pg_locks.
func guardOf(t testing.TB, root *pgx.Conn, pid uint32, key string) pgcoord.Guard {
	t.Helper()
	k, _, err := pgcoord.ParseKey(key)
	noError(t, err)
	g := pgcoord.Guard{PID: pid, Key: k}
	var since *int64
	err = root.QueryRow(context.Background(), `select (extract(epoch from a.backend_start) * 1000000)::bigint, l.database, l.mode,
		(extract(epoch from l.waitstart) * 1000000)::bigint from pg_locks l join pg_stat_activity a using (pid)
		where l.locktype = 'advisory' and pid = $1 and classid = $2 and objid = $3`, pid, k.Class, k.Object).Scan(&g.Start, &g.Database, &g.Mode, &since)
	if err != nil {
		t.Fatalf("the lock %s of process %d: %v", key, pid, err)
	}
	if since != nil {
		g.Since = *since
	}
	return g
}

// ownerOf is a session that owns keys.
func ownerOf(t testing.TB, dsn string, keys ...string) *pgx.Conn {
	t.Helper()
	c := sql(t, dsn)
	for _, k := range keys {
		one[any](t, c, "select pg_advisory_lock("+strings.ReplaceAll(k, ":", ",")+")")
	}
	return c
}

// waits begins to wait for a key, and returns when it does.
func waits(t testing.TB, root *pgx.Conn, dsn, key string) (c *pgx.Conn, ended <-chan error) {
	t.Helper()
	c = sql(t, dsn)
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		_, err := c.Exec(ctx, "select pg_advisory_lock("+key+")")
		done <- err
	}()
	t.Cleanup(func() { cancel(); <-joined })
	eventually(t, "it waits", func() bool {
		return one[bool](t, root, "select exists (select from pg_locks where pid = $1 and not granted and waitstart is not null)", c.PgConn().PID())
	})
	return c, done
}

// alive reports whether the server has a process.
func alive(t testing.TB, root *pgx.Conn, pid uint32) bool {
	t.Helper()
	return one[bool](t, root, "select exists (select from pg_stat_activity where pid = $1)", pid)
}

func force(t testing.TB, d *pgcoord.Driver, g pgcoord.Guard, waiting bool) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return d.ForceRelease(ctx, coord.Foreign{Kind: coord.KindMutex, Name: g.Key.String(), Guard: g.String(), Waiting: waiting})
}

func TestForceReleaseEndsOnlyTheVerySessionThatOwnsTheVeryLock(t *testing.T) {
	t.Parallel()
	dsn := shared(t)
	root, d, key, other := sql(t, dsn), closing(t, dsn, pgcoord.Options{}), freshKey(), freshKey()
	owner := ownerOf(t, dsn, key, other)
	pid := owner.PgConn().PID()
	g := guardOf(t, root, pid, key)
	for name, change := range map[string]func(*pgcoord.Guard){
		"another session with its number": func(g *pgcoord.Guard) { g.Start++ },
		"another process":                 func(g *pgcoord.Guard) { g.PID = root.PgConn().PID() },
		"another lock of the session":     func(g *pgcoord.Guard) { g.Key.Object ^= 1 << 31 }, // the next one may be the other that it owns
		"two numbers, not one":            func(g *pgcoord.Guard) { g.Key.Sub = 2 },
		"another database":                func(g *pgcoord.Guard) { g.Database++ },
		"another mode":                    func(g *pgcoord.Guard) { g.Mode = "ShareLock" },
	} {
		changed := g
		change(&changed)
		if err := force(t, d, changed, false); !errors.Is(err, coord.ErrChanged) {
			t.Errorf("%s: %v, want ErrChanged", name, err)
		}
	}
	if err := force(t, d, g, true); !errors.Is(err, coord.ErrChanged) {
		t.Errorf("it owns, and was ended as one that waits: %v", err)
	}
	one[bool](t, owner, "select pg_advisory_unlock("+key+")")
	if err := force(t, d, g, false); !errors.Is(err, coord.ErrChanged) {
		t.Errorf("it has released the lock: %v, want ErrChanged", err)
	}
	if !alive(t, root, pid) {
		t.Fatal("a session was ended that was not the one of the guard")
	}
	noError(t, force(t, d, guardOf(t, root, pid, other), false))
	eventually(t, "the session has ended", func() bool { return !alive(t, root, pid) })
	if err := force(t, d, g, false); !errors.Is(err, coord.ErrChanged) {
		t.Errorf("once more: %v, want ErrChanged", err)
	}
}

func TestAWaitIsCancelledAndTheSessionLivesOn(t *testing.T) {
	t.Parallel()
	dsn := shared(t)
	root, d, key, own := sql(t, dsn), closing(t, dsn, pgcoord.Options{}), freshKey(), freshKey()
	owner := ownerOf(t, dsn, key)
	waiter, ended := waits(t, root, dsn, key)
	pid := waiter.PgConn().PID()
	g := guardOf(t, root, pid, key)
	later := g
	later.Since++
	for name, err := range map[string]error{
		"a later wait":  force(t, d, later, true),
		"as an owner":   force(t, d, g, false),
		"not the queue": force(t, d, guardOf(t, root, owner.PgConn().PID(), key), true),
	} {
		if !errors.Is(err, coord.ErrChanged) {
			t.Errorf("%s: %v, want ErrChanged", name, err)
		}
	}
	noError(t, force(t, d, g, true))
	if reply, ok := errors.AsType[*pgconn.PgError](<-ended); !ok || reply.Code != "57014" {
		t.Errorf("its statement ended with %v", reply)
	}
	one[any](t, waiter, "select pg_advisory_lock("+own+")") // it goes on
	if err := force(t, d, g, true); !errors.Is(err, coord.ErrChanged) {
		t.Errorf("once more: %v, want ErrChanged", err)
	}
}

func TestAMissingRightToEndASessionIsNamed(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{Setup: []string{
		"create role app login", "create role plain login", "create role sees login", "grant pg_monitor to sees",
		"create role ends login", "grant pg_monitor, pg_signal_backend to ends",
	}})
	root := sql(t, p.URL())
	ofApp, ofRoot := ownerOf(t, p.URLFor("app", "", "postgres"), "4242"), ownerOf(t, p.URL(), "17")
	for _, c := range []struct {
		role  string
		owner *pgx.Conn
		key   string
		says  string // "": it is done
	}{
		{"plain", ofApp, "4242", "pg_monitor"},
		{"sees", ofApp, "4242", "pg_signal_backend"},
		{"ends", ofRoot, "17", "superuser"},
		{"ends", ofApp, "4242", ""},
	} {
		d, pid := closing(t, p.URLFor(c.role, "", "postgres"), pgcoord.Options{}), c.owner.PgConn().PID()
		err := force(t, d, guardOf(t, root, pid, c.key), false)
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", c.role, err)
		case c.says != "" && (!errors.Is(err, coord.ErrRefused) || !strings.Contains(strings.ToLower(err.Error()), c.says)):
			t.Errorf("%s: %v, want a refusal that names %s", c.role, err, c.says)
		case c.says != "" && !alive(t, root, pid):
			t.Errorf("%s has ended it", c.role)
		}
	}
}

func TestNothingIsEndedThroughAPooler(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	root := sql(t, p.URL())
	pid := ownerOf(t, p.URL(), "4242").PgConn().PID()
	for _, mode := range []string{"session", "transaction", "statement"} {
		b := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: p, Mode: mode})
		err := force(t, closing(t, b.URL(), pgcoord.Options{}), guardOf(t, root, pid, "4242"), false)
		if !errors.Is(err, coord.ErrRefused) || !strings.Contains(err.Error(), "name the server's own address") {
			t.Errorf("%s mode: %v", mode, err)
		}
	}
	if !alive(t, root, pid) {
		t.Error("it was ended")
	}
}

func TestALostAnswerLeavesItUnknownWhetherASessionWasEnded(t *testing.T) {
	t.Parallel()
	for _, half := range []localserver.Half{localserver.Request, localserver.Reply} {
		dsn, proxy := proxied(t)
		root, key := sql(t, shared(t)), freshKey()
		pid := ownerOf(t, shared(t), key).PgConn().PID()
		lost := proxy.Lose(half, "pg_terminate_backend")
		if err := force(t, closing(t, dsn, pgcoord.Options{}), guardOf(t, root, pid, key), false); !errors.Is(err, coord.ErrUncertain) {
			t.Errorf("half %d: %v, want ErrUncertain", half, err)
		}
		<-lost
		if half == localserver.Reply {
			eventually(t, "the session has ended", func() bool { return !alive(t, root, pid) })
		} else if !alive(t, root, pid) {
			t.Error("a request that was lost has ended it")
		}
	}
	dsn, proxy := proxied(t)
	root, key := sql(t, shared(t)), freshKey()
	pid := ownerOf(t, shared(t), key).PgConn().PID()
	proxy.Cut()
	if err := force(t, closing(t, dsn, pgcoord.Options{}), guardOf(t, root, pid, key), false); err == nil || errors.Is(err, coord.ErrUncertain) {
		t.Errorf("not connected: %v: surely nothing was done", err)
	}
}

func TestASessionOfOursIsNotEndedByForce(t *testing.T) {
	t.Parallel()
	dsn := shared(t)
	root, d, key := sql(t, dsn), closing(t, dsn, pgcoord.Options{}), freshKey()
	g := must(t, open(t, d, coord.SessionOptions{}), coord.Claim{Kind: coord.KindMutex, Name: key})
	pid := one[int64](t, root, strings.Replace(heldQuery, "count(*)", "pid", 1), key)
	if err := force(t, d, guardOf(t, root, uint32(pid), key), false); !errors.Is(err, coord.ErrInvalid) {
		t.Errorf("%v, want ErrInvalid", err)
	}
	if g.Err() != nil {
		t.Errorf("it ended: %v", g.Err())
	}
}

func TestGuardsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, want := range []pgcoord.Guard{
		{PID: 4711, Start: time.Now().UnixMicro(), Database: 5, Key: pgcoord.PairKey(17, -4), Mode: "ExclusiveLock"},
		{PID: 1, Start: 1, Database: 1 << 31, Key: pgcoord.Key{Class: 17, Object: 4, Sub: 9}, Mode: "ShareUpdateExclusiveLock", Since: 7},
	} {
		if g, err := pgcoord.ParseGuard(want.String()); err != nil || g != want {
			t.Errorf("%s is read as %+v, %v", want, g, err)
		}
	}
	whole := "pid=1,start=2,db=3,key=4,mode=exclusive"
	if _, err := pgcoord.ParseGuard(whole); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"", "pid=1", "gid=x,db=3,key=4,mode=exclusive", strings.Replace(whole, "start=2", "start=0", 1), whole + ",", whole + ",more=1", " " + whole,
		strings.Replace(whole, "key=4", "key=name", 1), strings.Replace(whole, "pid=1", "pid=4294967297", 1), strings.Replace(whole, "exclusive", "", 1),
	} {
		if g, err := pgcoord.ParseGuard(text); err == nil {
			t.Errorf("%q is read as %+v", text, g)
		}
		d := driver(t, "postgres://127.0.0.1:1/x", pgcoord.Options{})
		if err := d.ForceRelease(t.Context(), coord.Foreign{Guard: text}); !errors.Is(err, coord.ErrInvalid) {
			t.Errorf("%q: %v, want ErrInvalid", text, err)
		}
	}
}
