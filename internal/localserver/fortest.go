package localserver

import (
	"context"
	"flag"
	"os"
)

// TB lists the methods of *testing.T that this package needs. It does not import testing, because the demo also uses
// this package.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	Cleanup(func())
}

// NeedsServer skips the test in a short run ("go test -short", "make quick"), in which no server starts. In any other
// run it does nothing, and a missing server fails the test. The functions of this package that end in ForTest call it,
// except ProxyForTest and RefusingForTest; only a test that gets its server in another way must call it.
func NeedsServer(t TB) {
	t.Helper()
	if shortRun() {
		t.Skipf("a short run starts no servers")
	}
}

// shortRun reports whether this is a test binary that runs with -short. It reads the flag, because this package does
// not import testing.
func shortRun() bool {
	short := flag.Lookup("test.short")
	return short != nil && short.Value.String() == "true"
}

// RefusingForTest returns an address that refuses connections until the test ends. The port is bound, but nobody
// listens on it, so no other program can get the port during the test. It needs no server and does not skip a short
// run.
func RefusingForTest(t TB) string {
	t.Helper()
	port, free, err := bindPort()
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(free)
	return address(port)
}

// RedisEnv is the environment variable with the URL of a real server, which test suites use instead of a private one if
// they can.
const RedisEnv = "COORDTOP_TEST_REDIS"

// RedisForTest starts a private server that is stopped when the test ends. A missing
// redis-server fails the test with the install hint.
func RedisForTest(t TB, o RedisOptions) *Redis {
	t.Helper()
	return forTest(t, StartRedis, o)
}

// forTest starts a server that is stopped when the test ends.
func forTest[O any, S interface{ Stop(context.Context) error }](t TB, start func(context.Context, O) (S, error), o O) S {
	t.Helper()
	NeedsServer(t)
	s, err := start(context.Background(), o)
	if err != nil {
		t.Fatalf("%v", err)
		return s
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Fatalf("%v", err)
		}
	})
	return s
}

// RedisURLForTest returns the URL of a server to test against: the one in RedisEnv, otherwise a private one. Others may
// use the server in RedisEnv at the same time, so a test must choose unique key names and must not flush.
func RedisURLForTest(t TB) string {
	t.Helper()
	NeedsServer(t)
	if url := os.Getenv(RedisEnv); url != "" {
		return url
	}
	return RedisForTest(t, RedisOptions{}).URL()
}

// PostgresEnv is the environment variable with the URL of a real server, which test suites use instead of a private one
// if they can.
const PostgresEnv = "COORDTOP_TEST_POSTGRES"

// PostgresForTest starts a private server that is stopped when the test ends. A missing
// Postgres fails the test with the install hint.
func PostgresForTest(t TB, o PostgresOptions) *Postgres {
	t.Helper()
	return forTest(t, StartPostgres, o)
}

// PgbouncerForTest starts a pooler that is stopped when the test ends. A missing pgbouncer
// fails the test with the install hint.
func PgbouncerForTest(t TB, o PgbouncerOptions) *Pgbouncer {
	t.Helper()
	return forTest(t, StartPgbouncer, o)
}
