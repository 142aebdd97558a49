package pgcoord_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
)

const (
	childEnv = "COORDTOP_PGCOORD_CHILD" // makes this test binary an owner that waits to be killed
	patience = 20 * time.Second         // bounds every wait for an event; a good run never comes near it
)

// beOwner takes the lock 4242 and holds it until it is killed.
func beOwner() int {
	d, err := pgcoord.New(os.Getenv(childEnv), pgcoord.Options{})
	if err == nil {
		var s coord.DriverSession
		if s, err = d.Open(context.Background(), coord.SessionOptions{Description: "child"}); err == nil {
			_, _, err = s.Acquire(context.Background(), coord.Claim{Kind: coord.KindMutex, Name: "4242", Wait: coord.Forever})
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

// brisk makes watches look often, so that tests are quick.
var brisk = pgcoord.Options{WatchEvery: 100 * time.Millisecond}

func driver(t testing.TB, url string, o pgcoord.Options) *pgcoord.Driver {
	t.Helper()
	d, err := pgcoord.New(url, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// closing is driver, closed when the test ends.
func closing(t testing.TB, url string, o pgcoord.Options) *pgcoord.Driver {
	t.Helper()
	d := driver(t, url, o)
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
	if err != nil {
		t.Fatal(err)
	}
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

// sql is a connection of the superuser beside the driver's.
func sql(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(context.Background(), url)
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

// server starts a private Postgres for tests that break it.
func server(t testing.TB, o localserver.PostgresOptions) *localserver.Postgres {
	t.Helper()
	return localserver.PostgresForTest(t, o)
}
