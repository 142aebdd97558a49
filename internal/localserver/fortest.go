package localserver

import (
	"context"
	"flag"
	"os"
)

// TB is what a server for a test needs of *testing.T; this package does not import
// testing, because the demo uses it too.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	Cleanup(func())
}

// NeedsServer skips the test in a short run ("go test -short", "make quick"), where no
// server starts. In any other run it does nothing: there a missing server fails the test.
// The functions of this package that end in ForTest call it, but for ProxyForTest and RefusingForTest; only a
// test that gets its server in another way calls it itself.
func NeedsServer(t TB) {
	t.Helper()
	if shortRun() {
		t.Skipf("a short run starts no servers")
	}
}

// shortRun reports whether this is a test binary that runs with -short. It asks the flag,
// as this package does not import testing.
func shortRun() bool {
	short := flag.Lookup("test.short")
	return short != nil && short.Value.String() == "true"
}

// RefusingForTest returns an address that refuses connections until the test ends. Its
// port is bound and nobody listens on it, so no other program can get it meanwhile. It
// needs no server and does not skip a short run.
func RefusingForTest(t TB) string {
	t.Helper()
	port, free, err := bindPort()
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(free)
	return address(port)
}

// RedisEnv names the variable that holds the URL of a real server which the suites
// shall use instead of a private one, where they can.
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

// RedisURLForTest returns the URL of a server to test against: the one that RedisEnv
// names, else a private one. Others may use the former at the same time, so a test must
// choose key names nobody else has and must not flush.
func RedisURLForTest(t TB) string {
	t.Helper()
	NeedsServer(t)
	if url := os.Getenv(RedisEnv); url != "" {
		return url
	}
	return RedisForTest(t, RedisOptions{}).URL()
}

// PostgresEnv names the variable that holds the URL of a real server which the suites
// shall use instead of a private one, where they can.
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
