package localserver

import (
	"context"
	"os"
)

// PostgresEnv names the variable that holds the URL of a real server which the suites
// shall use instead of a private one, where they can.
const PostgresEnv = "COORDTOP_TEST_POSTGRES"

// PostgresForTest starts a private server that is stopped when the test ends. A missing
// Postgres fails the test with the install hint.
func PostgresForTest(t TB, o PostgresOptions) *Postgres {
	t.Helper()
	NeedsServer(t)
	p, err := StartPostgres(context.Background(), o)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() {
		if err := p.Stop(context.Background()); err != nil {
			t.Fatalf("%v", err)
		}
	})
	return p
}

// PostgresURLForTest returns the URL of a server to test against: the one that PostgresEnv
// names, else a private one. Others may use the former at the same time, so a test must
// choose keys nobody else has.
func PostgresURLForTest(t TB) string {
	t.Helper()
	NeedsServer(t)
	if url := os.Getenv(PostgresEnv); url != "" {
		return url
	}
	return PostgresForTest(t, PostgresOptions{}).URL()
}
