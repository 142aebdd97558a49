package pgcoord_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
)

const (
	childKey = "COORDTOP_PGCOORD_KEY"   // the key that it claims
	childEnv = "COORDTOP_PGCOORD_CHILD" // makes this test binary an owner that waits to be killed
	patience = 2 * time.Minute          // bounds every wait for an event; a good run never comes near it
)

// beOwner takes a lock and holds it until it is killed.
func beOwner() int {
	d, err := pgcoord.New(os.Getenv(childEnv), pgcoord.Options{})
	if err == nil {
		var s coord.DriverSession
		if s, err = d.Open(context.Background(), coord.SessionOptions{Description: "child"}); err == nil {
			_, _, err = s.Acquire(context.Background(), coord.Claim{Kind: coord.KindMutex, Name: os.Getenv(childKey), Wait: coord.Forever})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("owns it")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until killed
	return 0
}

func driver(t testing.TB, dsn string, o pgcoord.Options) *pgcoord.Driver {
	t.Helper()
	d, err := pgcoord.New(dsn, o)
	noError(t, err)
	return d
}

// closing is driver, closed when the test ends.
func closing(t testing.TB, dsn string, o pgcoord.Options) *pgcoord.Driver {
	t.Helper()
	d := driver(t, dsn, o)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := d.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return d
}

func open(t testing.TB, d coord.Driver, o coord.SessionOptions) coord.DriverSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := d.Open(ctx, o)
	noError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = s.Close(ctx) // the test may have broken what it would release
	})
	return s
}

// must acquires, and waits for it.
func must(t testing.TB, s coord.DriverSession, c coord.Claim) coord.Grant {
	t.Helper()
	c.Wait = coord.Forever
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	g, ok, err := s.Acquire(ctx, c)
	if err != nil || !ok {
		t.Fatalf("acquiring %q: ok %v, %v", c.Name, ok, err)
	}
	return g
}

// won is the result of a claim that waited: a grant, or why there is none.
type won struct {
	grant coord.Grant
	ok    bool
	err   error
}

// wait begins a claim that waits, and returns when the server has one more row of the key.
func wait(t testing.TB, s coord.DriverSession, look *pgx.Conn, c coord.Claim) <-chan won {
	t.Helper()
	c.Wait = coord.Forever
	before, outcome := rowsOf(t, look, c.Name), make(chan won, 1)
	go func() { // the end of its session ends it
		g, ok, err := s.Acquire(context.Background(), c)
		outcome <- won{g, ok, err}
	}()
	eventually(t, "it waits", func() bool { return rowsOf(t, look, c.Name) > before })
	return outcome
}

// sql is a connection of the superuser beside the driver's.
func sql(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(context.Background(), dsn)
	noError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		c.Close(ctx)
	})
	return c
}

// one reads a single value.
func one[T any](t testing.TB, c *pgx.Conn, query string, args ...any) T {
	t.Helper()
	var v T
	if err := c.QueryRow(context.Background(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// eventually waits until ok, or fails.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
	}
}

// ended waits for the end of a grant.
func ended(t testing.TB, g coord.Grant) error {
	t.Helper()
	select {
	case <-g.Done():
		return g.Err()
	case <-time.After(patience):
		t.Fatal("the grant did not end")
		return nil
	}
}

var lastKey atomic.Int64

// freshKey is a bigint that no other test uses.
func freshKey() string {
	return fmt.Sprint(time.Now().UnixNano()/1000*1000 + lastKey.Add(1)%1000)
}

// common is the server of all tests that leave it as it is; TestMain stops it.
var common = sync.OnceValues(func() (*localserver.Postgres, error) {
	commonStarted.Store(true)
	return localserver.StartPostgres(context.Background(), localserver.PostgresOptions{Config: []string{"max_connections = 500"}})
})

var commonStarted atomic.Bool

// shared is the address of a server that others use at the same time: the one that the
// environment names, else a private one.
func shared(t testing.TB) string {
	t.Helper()
	localserver.NeedsServer(t)
	if dsn := os.Getenv(localserver.PostgresEnv); dsn != "" {
		return dsn
	}
	p, err := common()
	noError(t, err)
	return p.URL()
}

// proxied is shared behind a proxy that can misbehave.
func proxied(t testing.TB) (string, *localserver.Proxy) {
	t.Helper()
	u, err := url.Parse(shared(t))
	noError(t, err)
	proxy := localserver.ProxyForTest(t, u.Host)
	u.Host = proxy.Addr()
	return u.String(), proxy
}

// rowsOf counts the owners and waiters of a bigint key.
func rowsOf(t testing.TB, c *pgx.Conn, key string) int {
	t.Helper()
	return one[int](t, c, strings.Replace(heldQuery, "and granted", "", 1), key)
}

// server starts a private Postgres for tests that break it.
func server(t testing.TB, o localserver.PostgresOptions) *localserver.Postgres {
	t.Helper()
	return localserver.PostgresForTest(t, o)
}

// noError ends the test if there is an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
