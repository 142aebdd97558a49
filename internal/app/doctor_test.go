package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
)

// examined runs doctor and returns its lines, with single blanks.
func examined(t *testing.T, w *world, code int, args ...string) (lines []string) {
	t.Helper()
	if got := w.main(t.Context(), append([]string{"doctor"}, args...)...); got != code {
		t.Errorf("exit code %d, want %d: %s", got, code, w.stderr)
	}
	text := w.stdout.String()
	if strings.Contains(text+w.stderr.String(), marker) {
		t.Errorf("the password is shown: %s%s", text, w.stderr)
	}
	if _, err := os.Stat(filepath.Join(w.home, ".local")); !os.IsNotExist(err) {
		t.Errorf("a folder was made for what is kept between runs: %v", err)
	}
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

// graded are the lines of a grade.
func graded(lines []string, grade string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.HasPrefix(l, grade+" ") })
}

func has(t *testing.T, lines []string, want ...string) {
	t.Helper()
	for _, part := range want {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, part) }) {
			t.Errorf("no line begins with %q:\n%s", part, strings.Join(lines, "\n"))
		}
	}
}

func TestDoctorSaysInOneLineWhatIsWrong(t *testing.T) {
	t.Parallel()
	redis := localserver.RedisForTest(t, localserver.RedisOptions{Password: marker, Users: []string{
		"short on >" + marker + " ~app:* resetchannels +ping +scan +pttl +getrange",
		"alien on >" + marker + " ~other:* resetchannels +ping +scan +pttl +strlen +getrange",
	}})
	sealed := localserver.RedisForTest(t, localserver.RedisOptions{TLS: true})
	postgres := localserver.PostgresForTest(t, localserver.PostgresOptions{Password: marker, Setup: []string{"create role ann login password '" + marker + "'"}})
	open := localserver.RedisForTest(t, localserver.RedisOptions{})
	sentinel := localserver.RedisForTest(t, localserver.RedisOptions{Master: open.Addr()})
	ydb := ydbForTest(t, ydbtest.Options{Users: map[string]ydbtest.User{"blind": {Password: marker, Deny: ydbtest.Read | ydbtest.Write | ydbtest.Erase}}})
	locks, _ := dflockd(t, dflocktest.Options{Secret: marker})
	alive, _ := dflockd(t, dflocktest.Options{})
	closed, silent := localserver.RefusingForTest(t), deaf(t)
	withTLS := strings.Replace(postgres.URLFor("ann", marker, "postgres"), "sslmode=disable", "sslmode=require", 1)
	for _, c := range []struct {
		name, url string
		code      int
		fail      string
		more      []string
	}{
		{"a wrong port", "redis://:" + marker + "@" + closed, exitFailed, "fail connect nothing listens at " + closed + ": check host and port", []string{"ok name 127.0.0.1 is an address"}},
		{"a wrong port of Postgres", "postgres://ann:" + marker + "@" + closed + "/db", exitFailed, "fail connect nothing listens at " + closed, nil},
		{"a wrong port of YDB", "grpc://" + closed + "/local", exitFailed, "fail connect nothing listens at " + closed, nil},
		{"a wrong port of dflockd", "dflockd://" + closed, exitFailed, "fail connect nothing listens at " + closed, nil},
		{"an unknown host", "redis://:" + marker + "@host.invalid:7", exitFailed, "fail name there is no host by the name in host.invalid:7: check its spelling", nil},
		{"a wrong password", "redis://:" + marker + "-not@" + redis.Addr(), exitNoAnswer, "fail login the server at " + redis.Addr() + " refuses the password of default", []string{"ok connect " + redis.Addr() + " in "}},
		{"a wrong password of Postgres", postgres.URLFor("ann", marker+"-not", "postgres"), exitNoAnswer, "fail login the server at " + postgres.Addr() + " refuses the password of ann", nil},
		{"a dead server of dflockd", "dflockd://" + alive.Addr() + "," + closed, exitFailed, "fail login nothing listens at " + closed, []string{"ok login without an auth token at " + alive.Addr(), "the keys of " + closed}},
		{"a wrong token of dflockd", "dflockd://:" + marker + "-not@" + locks.Addr(), exitNoAnswer, "fail login the server at " + locks.Addr() + " refuses our auth token", nil},
		{"a missing right", "redis://short:" + marker + "@" + redis.Addr() + "?keys=app:*", exitNoAnswer, "fail right +strlen missing, as tried on app:coordtop-doctor",
			[]string{"ok login as short", "ok right +scan", "missing on the board:", "all owners", "to get it: ACL SETUSER short +strlen"}},
		{"no right to the keys", "redis://alien:" + marker + "@" + redis.Addr() + "?mutex=app:lock:a", exitNoAnswer, "fail right +pttl +strlen +getrange missing, as tried on app:lock:a",
			[]string{"to get it: ACL SETUSER alien +pttl +strlen +getrange %R~app:lock:a"}},
		{"no right to the node of YDB", "grpc://blind:" + marker + "@" + ydb.Endpoint(0) + "/local?node=" + ydbNode + "&semaphore=quota", exitNoAnswer, "fail watch no right to use the coordination node " + ydbNode + ": grant select_row on it", []string{"ok login blind"}},
		{"TLS with a wrong name", "rediss://" + sealed.Addr() + "?server_name=other.example&ca=" + sealed.TLSFiles().CA, exitFailed,
			"fail TLS the certificate of " + sealed.Addr() + " is not accepted: check the name in the URL, and until when it is valid (x509: certificate is valid for ", []string{"ok connect "}},
		{"TLS with an unknown authority", "rediss://" + sealed.Addr(), exitFailed, "fail TLS the certificate of " + sealed.Addr() + " is signed by an authority that is not trusted", nil},
		{"TLS of a server without TLS", withTLS, exitFailed, "fail TLS the server at " + postgres.Addr() + " breaks off TLS", nil},
		{"a Sentinel for a Redis", "redis://" + sentinel.Addr(), exitFailed, "fail answer " + sentinel.Addr() + " is a Sentinel, which has no keys: write redis+sentinel://" + sentinel.Addr() + "/main", nil},
		{"a server that never answers", "redis://:" + marker + "@" + silent, exitFailed, "fail answer no answer from " + silent + ": check host and port", []string{"ok connect " + silent}},
		{"a Postgres that never answers", "postgres://ann:" + marker + "@" + silent + "/db?sslmode=disable", exitFailed, "fail answer no answer from " + silent, nil},
		{"a YDB that never answers", "grpc://" + silent + "/local", exitFailed, "fail answer no answer from " + silent, nil},
		{"a Postgres for a Redis", "redis://:" + marker + "@" + postgres.Addr(), exitFailed, "fail answer " + postgres.Addr() + " is a Postgres server: write postgres://", nil},
		{"a Redis for a Postgres", "postgres://ann:" + marker + "@" + open.Addr() + "/db?sslmode=disable", exitFailed, "fail answer " + open.Addr() + " is a Redis server: write redis://", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			lines := examined(t, newWorld(t), c.code, "--timeout", "9s", c.url)
			failures := graded(lines, "fail")
			if len(failures) == 0 || !strings.HasPrefix(failures[0], c.fail) {
				t.Errorf("%q, want one line that begins with %q", failures, c.fail)
			}
			has(t, lines, append(c.more, "ok config ", "ok state ", "ok audit ")...)
		})
	}
}

func TestDoctorFindsNothingWhereAllIsWell(t *testing.T) {
	t.Parallel()
	redis := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, redis.Addr()), "app:lock:a", "host-1:1", time.Hour)
	sealed := localserver.RedisForTest(t, localserver.RedisOptions{TLS: true})
	postgres := localserver.PostgresForTest(t, localserver.PostgresOptions{TLS: true})
	ydb := ydbForTest(t, ydbtest.Options{})
	_, locks := dflockd(t, dflocktest.Options{})
	for name, c := range map[string]struct {
		url  string
		want []string
	}{
		"redis": {"redis://" + redis.Addr() + "/0?keys=app:lock:*", []string{
			"ok TLS none", "ok login as default", "ok right +ping", "ok right +scan", "ok right +pttl +strlen +getrange", "ok right +client|tracking",
			"ok events ", "ok right +type +hlen +hgetall +object|encoding", "ok clock ", "ok between ", "ok changes pushed: tracking", "ok version ", "ok latency ",
		}},
		"redis by its Sentinel": {"redis+sentinel://" + localserver.RedisForTest(t, localserver.RedisOptions{Master: redis.Addr()}).Addr() + "/main/0?keys=app:lock:*", []string{"ok login as default", "ok changes pushed: tracking"}},
		"redis with TLS":        {"rediss://" + sealed.Addr() + "?keys=app:lock:*&ca=" + sealed.TLSFiles().CA, []string{"ok TLS TLS 1.3, a certificate for "}},
		"postgres": {postgres.URL(), []string{
			"ok TLS TLS 1.3, a certificate for ", "ok login as postgres, database postgres", "ok right sessions of other roles", "ok right pg_terminate_backend", "ok right pg_locks",
			"ok right prepared transactions", "ok between no pooler", "ok clock ", "ok changes polling", "ok version ", "ok latency ",
		}},
		"ydb":     {ydb.URL(0) + "?node=" + ydbNode + "&semaphore=quota", []string{"ok login anonymous, database /local", "ok right describe " + ydbNode, "ok changes " + ydbNode + ": pushed: watches"}},
		"dflockd": {locks, []string{"ok login without an auth token", "ok right ping", "ok right stats, answered in ", "ok changes " + strings.TrimPrefix(locks, "dflockd://") + ": polling"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := examined(t, newWorld(t), exitOK, c.url)
			if bad := append(graded(lines, "warn"), graded(lines, "fail")...); len(bad) > 0 {
				t.Errorf("it complains: %q", bad)
			}
			has(t, lines, append(c.want, "ok connect ")...)
			var steps []string
			for _, l := range graded(lines, "ok") {
				if step := strings.Fields(l)[1]; !slices.Contains(steps, step) {
					steps = append(steps, step)
				}
			}
			if got := strings.Join(steps, " "); !strings.HasPrefix(got, "name connect TLS login right ") || !strings.HasSuffix(got, " config state recording audit log cache") {
				t.Errorf("the order is %s", got)
			}
		})
	}
}

func TestDoctorSaysWhatIsMissingAndHowToGetIt(t *testing.T) {
	t.Parallel()
	redis := localserver.RedisForTest(t, localserver.RedisOptions{Users: []string{"polls on >" + marker + " ~app:* resetchannels +ping +scan +pttl +strlen +getrange"}})
	set(t, writer(t, redis.Addr()), "app:lock:a", "host-1:1", time.Hour)
	lines := examined(t, newWorld(t), exitOK, "redis://polls:"+marker+"@"+redis.Addr()+"?keys=app:*")
	has(t, lines, "ok right +pttl +strlen +getrange", "warn right +client|tracking missing", "changes at their instant", "to get it: ACL SETUSER polls +client|tracking",
		"warn right +type +hlen +hgetall +object|encoding missing", "ok changes polling")

	postgres := localserver.PostgresForTest(t, localserver.PostgresOptions{Password: marker, Setup: []string{`create role "an app" login password '` + marker + "'"}})
	login(t, postgres.URL(), "mary").does("select pg_advisory_lock(4242)")
	lines = examined(t, newWorld(t), exitOK, postgres.URLFor("an app", marker, "postgres"))
	has(t, lines, "warn right the role an app does not see what sessions of other roles do", `to get it: GRANT pg_monitor TO "an app"`,
		"warn right pg_terminate_backend (pg_signal_backend) missing", `to get it: GRANT pg_signal_backend TO "an app"`)
	if notes := graded(lines, "warn note"); len(notes) > 0 {
		t.Errorf("it says twice: %q", notes)
	}
}

func TestDoctorNamesAPooler(t *testing.T) {
	t.Parallel()
	postgres := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	for mode, want := range map[string]string{"transaction": "a pooler in transaction or statement mode stands between", "session": "a pooler stands between"} {
		pool := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: postgres, Mode: mode, Config: []string{"default_pool_size = 5"}})
		lines := examined(t, newWorld(t), exitOK, pool.URL())
		if warned := graded(lines, "warn"); len(warned) != 1 || !strings.HasPrefix(warned[0], "warn between "+want) {
			t.Errorf("%s: %q, want one line on the pooler", mode, warned)
		}
	}
}

func TestDoctorNamesAProxy(t *testing.T) {
	t.Parallel()
	redis, postgres := localserver.RedisForTest(t, localserver.RedisOptions{}), localserver.PostgresForTest(t, localserver.PostgresOptions{})
	for url, server := range map[string]string{redis.URL() + "?keys=app:*": redis.Addr(), postgres.URL(): postgres.Addr()} {
		proxy := localserver.ProxyForTest(t, server).Addr()
		lines := examined(t, newWorld(t), exitOK, strings.Replace(url, server, proxy, 1))
		if warned := graded(lines, "warn"); len(warned) != 1 || !strings.HasPrefix(warned[0], "warn between ") || !strings.Contains(warned[0], "NAT") {
			t.Errorf("%s: %q, want one line on the proxy", url, warned)
		}
	}
}

func TestDoctorExaminesTheSourcesOfTheConfig(t *testing.T) {
	t.Parallel()
	redis := localserver.RedisForTest(t, localserver.RedisOptions{Password: marker})
	closed := localserver.RefusingForTest(t)
	write := func() *world {
		w := newWorld(t)
		w.vars["PW"] = marker
		w.write(t, configFile, fmt.Sprintf("sources: [{name: good, url: 'redis://%s?keys=app:*', password_env: PW}, {name: bad, url: 'redis://%[1]s'}, {name: gone, url: 'redis://%s'}]", redis.Addr(), closed))
		return w
	}
	w := write()
	examined(t, w, exitFailed, "-o", "json")
	var got struct {
		V       int
		Sources []struct {
			Name, Address string
			Checks        []struct{ Check, Grade, Text string }
		} `json:"reports"`
	}
	if err := json.Unmarshal([]byte(w.stdout.String()), &got); err != nil || got.V != 1 || len(got.Sources) != 4 || got.Sources[3].Name != "paths" {
		t.Fatalf("%v: %s", err, w.stdout)
	}
	for i, want := range []string{"ok", "fail", "fail"} {
		checks := got.Sources[i].Checks
		if last := checks[len(checks)-1]; last.Grade != want {
			t.Errorf("%s ends with %+v, want %s", got.Sources[i].Name, last, want)
		}
	}
	if said := w.stderr.String(); !strings.Contains(said, "coordtop: bad refuses us: the server at "+redis.Addr()+" wants a password") || !strings.Contains(said, "coordtop: gone cannot be used: nothing listens at "+closed) {
		t.Errorf("it said %q", said)
	}
	has(t, examined(t, write(), exitOK, "good"), "good redis://"+redis.Addr(), "ok login as default")
	has(t, examined(t, write(), exitNoAnswer, "good", "bad"), "fail login the server at "+redis.Addr()+" wants a password")
	w = write()
	delete(w.vars, "PW")
	has(t, examined(t, w, exitFailed, "good"), "fail options reading a secret: $PW is not set")
	has(t, examined(t, newWorld(t), exitUsage), "ok config ", "ok state ")
}

func TestDoctorIsColoredOnATerminalOnly(t *testing.T) {
	t.Parallel()
	url := "redis://" + localserver.RefusingForTest(t)
	for name, c := range map[string]struct {
		tty     bool
		vars    map[string]string
		colored bool
	}{
		"a pipe": {}, "a terminal": {tty: true, colored: true}, "a terminal with NO_COLOR": {tty: true, vars: map[string]string{"NO_COLOR": "1"}}, "a dumb one": {tty: true, vars: map[string]string{"TERM": "dumb"}},
	} {
		w := newWorld(t)
		w.tty, w.vars = c.tty, c.vars
		examined(t, w, exitFailed, url)
		if text := w.stdout.String(); strings.Contains(text, "\x1b[31mfail\x1b[m") != c.colored || strings.Contains(text, "\x1b") != c.colored {
			t.Errorf("%s: %q", name, text)
		}
	}
}
