package localserver

import (
	"context"
	"os"
)

// TB is what a server for a test needs of *testing.T; this package does not import
// testing, because the demo uses it too.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// RedisEnv names the variable that holds the URL of a real server which the suites
// shall use instead of a private one, where they can.
const RedisEnv = "COORDTOP_TEST_REDIS"

// RedisForTest starts a private server that is stopped when the test ends. A missing
// redis-server fails the test with the install hint.
func RedisForTest(t TB, o RedisOptions) *Redis {
	t.Helper()
	r, err := StartRedis(context.Background(), o)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() {
		if err := r.Stop(context.Background()); err != nil {
			t.Fatalf("%v", err)
		}
	})
	return r
}

// RedisURLForTest returns the URL of a server to test against: the one that RedisEnv
// names, else a private one. Others may use the former at the same time, so a test must
// choose key names nobody else has and must not flush.
func RedisURLForTest(t TB) string {
	t.Helper()
	if url := os.Getenv(RedisEnv); url != "" {
		return url
	}
	return RedisForTest(t, RedisOptions{}).URL()
}
