package app

import (
	"fmt"
	"strings"
	"testing"

	"coordtop/internal/localserver"
)

func TestAPostgresThatCannotBeReadIsExplained(t *testing.T) {
	t.Parallel()
	locked := localserver.PostgresForTest(t, localserver.PostgresOptions{Password: "hunter2"})
	open := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	login(t, open.URL(), "mary").does("select pg_advisory_lock(4242)")
	dark := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	if err := dark.Freeze(); err != nil {
		t.Fatal(err)
	}
	empty := newWorld(t).write(t, "empty.pem", "nothing")
	sealed := localserver.PostgresForTest(t, localserver.PostgresOptions{TLS: true})
	other := localserver.RedisForTest(t, localserver.RedisOptions{TLS: true}).TLSFiles().CA
	for _, c := range []struct {
		name, url string
		want      []string
	}{
		{"nobody listens", "postgres://u@" + localserver.RefusingForTest(t) + "/db", []string{"did not answer", "nothing listens at"}},
		{"no such host", "postgres://u@host.invalid:5433/db", []string{"host.invalid did not answer"}},
		{"a wrong password", "postgres://postgres:wrong-pass@" + locked.Addr() + "/postgres", []string{"refused our credentials: ", "refuses the password of postgres"}},
		{"no password", "postgres://postgres@" + locked.Addr() + "/postgres", []string{"refused our credentials: ", "wants a password for postgres"}},
		{"an unknown database", "postgres://postgres:hunter2@" + locked.Addr() + "/nowhere", []string{"cannot be watched: ", "has no database nowhere"}},
		{"an unknown role", open.URLFor("nobody", "", "postgres"), []string{"refused our credentials: ", "does not let nobody in"}},
		{"no TLS there", "postgres://postgres@" + open.Addr() + "/postgres?sslmode=require", []string{"did not answer", "sslmode=disable", "ssl = on"}},
		{"no answer", dark.URL(), []string{"did not answer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			code := w.main(t.Context(), "get", "--timeout", "4s", c.url, open.URL())
			explained(t, w, code, c.want)
		})
	}
	for ca, want := range map[string]string{
		empty: "no certificate in " + empty,
		other: "signed by an authority that is not trusted",
	} {
		t.Run("certificates: "+want, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(t, configFile, fmt.Sprintf("sources: [{name: bad, url: 'postgres://postgres@%s/postgres', tls: {ca: %s}}, {name: good, url: '%s'}]",
				sealed.Addr(), ca, open.URL()))
			code := w.main(t.Context(), "get", "--timeout", "4s")
			explained(t, w, code, []string{"bad cannot be watched: ", want})
		})
	}
}

func TestAParameterThatPostgresDoesNotKnowIsIgnoredWithAWord(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	login(t, server.URL(), "mary").does("select pg_advisory_lock(4242)")
	w := newWorld(t)
	code := w.main(t.Context(), "get", server.URL()+"&leader=1")
	if said := w.stderr.String(); code != exitOK || !strings.Contains(w.stdout.String(), "4242") || !strings.Contains(said, "is ignored: leader") {
		t.Errorf("exit code %d, said %s", code, said)
	}
}

// explained fails unless one source is said not to answer and the other is shown.
func explained(t *testing.T, w *world, code int, want []string) {
	t.Helper()
	if code != exitNoAnswer {
		t.Errorf("exit code %d", code)
	}
	stderr := w.stderr.String()
	for _, text := range want {
		if !strings.Contains(stderr, text) {
			t.Errorf("lacks %q: %s", text, stderr)
		}
	}
	if lines := strings.Count(strings.TrimSpace(stderr), "\n"); lines > 0 {
		t.Errorf("not one line:\n%s", stderr)
	}
	for _, secret := range []string{"hunter2", "wrong-pass"} {
		if strings.Contains(stderr, secret) {
			t.Errorf("the password is shown: %s", stderr)
		}
	}
	if !strings.Contains(w.stdout.String(), "4242") {
		t.Errorf("the server that works is not shown:\n%s", w.stdout)
	}
}
