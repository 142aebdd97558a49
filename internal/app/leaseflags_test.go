package app

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
)

func TestALeaseHasTheLengthOfItsFlag(t *testing.T) {
	t.Parallel()
	longer := func(t *testing.T, l heldLine, usual time.Duration) { // as far as the client knows
		t.Helper()
		at, err := time.Parse(time.RFC3339, l.At)
		if err != nil || l.Until == nil {
			t.Fatalf("it says %+v, %v", l, err)
		}
		if until, err := time.Parse(time.RFC3339, *l.Until); err != nil || until.Sub(at) <= usual {
			t.Errorf("at %s it trusts until %s, %v: no longer than without the flag", l.At, *l.Until, err)
		}
	}
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		server := localserver.RedisForTest(t, localserver.RedisOptions{})
		h := holds(t, "acquire", "--write", "--yes", "--lease", "1h", server.URL()+"?mutex=app:lock:x")
		longer(t, h.line(1, "acquired"), 30*time.Second)
		if left, err := writer(t, server.Addr()).PTTL(t.Context(), "app:lock:x").Result(); left <= 30*time.Second || left > time.Hour {
			t.Errorf("the key lasts %v, %v", left, err)
		}
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
		longer(t, holds(t, "acquire", "--write", "--yes", "--lease", "1m", server.URL()+"&mutex=4242").line(1, "acquired"), 11*time.Second)
	})
	t.Run("dflockd", func(t *testing.T) {
		t.Parallel()
		server, url := dflockd(t, dflocktest.Options{})
		holds(t, "acquire", "--write", "--yes", "--lease", "1h", url+"?mutex=m").line(1, "acquired")
		if e, err := server.Entry("m"); err != nil || len(e.Owners) != 1 || e.Owners[0].Left <= 20*time.Second {
			t.Errorf("it is %+v, %v", e, err)
		}
	})
	for flag, verb := range map[string]string{"--lease": "acquire", "--recovery-window": "campaign"} {
		t.Run("ydb "+flag, func(t *testing.T) {
			t.Parallel()
			server := ydbForTest(t, ydbtest.Options{})
			name := map[string]string{"acquire": "&mutex=m", "campaign": "&election=primary"}[verb]
			h := holds(t, verb, "--write", "--yes", flag, "1m30s", server.URL(0)+"?node="+ydbNode+name)
			longer(t, h.line(1, "acquired"), 10*time.Second)
			if !slices.ContainsFunc(server.Sessions(ydbNode), func(s ydbtest.Session) bool { return s.Timeout == 90*time.Second && s.Owns == 1 }) {
				t.Errorf("the sessions are %+v", server.Sessions(ydbNode))
			}
		})
	}
}

func TestRenewalsAreAsFrequentAsTheirFlagSays(t *testing.T) {
	t.Parallel()
	often := localserver.RedisForTest(t, localserver.RedisOptions{})
	holds(t, "acquire", "--write", "--yes", "--renew-every", "20ms", often.URL()+"?mutex=app:lock:x").line(1, "acquired")
	c := writer(t, often.Addr())
	eventually(t, "it renews often", func() bool { return commands(t, c)["evalsha"] >= 40 })
	server, url := dflockd(t, dflocktest.Options{})
	still, stillURL := dflockd(t, dflocktest.Options{})
	holds(t, "acquire", "--write", "--yes", "--renew-every", "9s", stillURL+"?mutex=m").line(1, "acquired")
	holds(t, "acquire", "--write", "--yes", "--renew-every", "20ms", url+"?mutex=m").line(1, "acquired")
	if err := server.Await(t.Context(), func() bool { return server.Received("n") >= 40 }); err != nil {
		t.Fatal(err)
	}
	if n := still.Received("n"); n > 3 {
		t.Errorf("the other renewed %d times", n)
	}
}

func TestAWaitWithoutAQueueTriesAsOftenAsItsFlagSays(t *testing.T) {
	t.Parallel()
	tries := map[string]func() int{}
	for _, delay := range []string{"20ms", "1h"} {
		server := localserver.RedisForTest(t, localserver.RedisOptions{})
		c := writer(t, server.Addr())
		if err := c.Set(t.Context(), "app:lock:x", "another", time.Hour).Err(); err != nil {
			t.Fatal(err)
		}
		h := holds(t, "acquire", "--write", "--yes", "--retry-delay", delay, server.URL()+"?mutex=app:lock:x")
		h.errs.await(t, func(s string) bool { return strings.Contains(s, "waiting for") })
		tries[delay] = func() int { return commands(t, c)["evalsha"] }
	}
	eventually(t, "it tries often", func() bool { return tries["20ms"]() >= 50 })
	if n := tries["1h"](); n > 5 {
		t.Errorf("the other tried %d times", n)
	}
}

func TestASessionIsNamedAtTheServiceByItsDescription(t *testing.T) {
	t.Parallel()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		server := localserver.RedisForTest(t, localserver.RedisOptions{})
		h := holds(t, "acquire", "--write", "--yes", "--description", "nightly-export", server.URL()+"?mutex=app:lock:x")
		l := h.line(1, "acquired")
		if list, err := writer(t, server.Addr()).ClientList(t.Context()).Result(); !strings.Contains(list, "name=nightly-export") {
			t.Errorf("the clients are %s, %v", list, err)
		}
		if l.Owner.Label == "nightly-export" { // others know an owner by its value
			t.Errorf("it says %+v", l)
		}
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
		h := holds(t, "campaign", "--write", "--yes", "--description", "nightly-export", "--data", "d", server.URL()+"&election=4242")
		if l := h.line(1, "acquired"); l.Owner.Label != "nightly-export" {
			t.Errorf("it says %+v", l.Owner)
		}
		var name string
		const owner = "select application_name from pg_stat_activity join pg_locks using (pid) where locktype = 'advisory'"
		if err := connect(t, server.URL()).QueryRow(t.Context(), owner).Scan(&name); err != nil || name != "nightly-export|d" {
			t.Errorf("its name is %q, %v", name, err)
		}
	})
	t.Run("ydb", func(t *testing.T) {
		t.Parallel()
		server := ydbForTest(t, ydbtest.Options{})
		holds(t, "acquire", "--write", "--yes", "--description", "nightly-export", server.URL(0)+"?node="+ydbNode+"&mutex=m").line(1, "acquired")
		if !slices.ContainsFunc(server.Sessions(ydbNode), func(s ydbtest.Session) bool { return s.Description == "nightly-export" && s.Owns == 1 }) {
			t.Errorf("the sessions are %+v", server.Sessions(ydbNode))
		}
	})
}

func TestAnEphemeralSemaphoreExistsWhileItIsOwned(t *testing.T) {
	t.Parallel()
	server := ydbForTest(t, ydbtest.Options{})
	url := server.URL(0) + "?node=" + ydbNode + "&semaphore=pool"
	holds(t, "acquire", "--write", "--yes", url).ends(exitCannot)
	h := holds(t, "acquire", "--write", "--yes", "--ephemeral", "--permits", "2", url)
	h.line(1, "acquired")
	if s, err := server.Semaphore(ydbNode, "pool"); err != nil || !s.Ephemeral || s.Taken != 2 {
		t.Errorf("it is %+v, %v", s, err)
	}
	beside := holds(t, "acquire", "--write", "--yes", url) // it is ephemeral already
	beside.line(1, "acquired")
	for _, one := range []*kept{h, beside} {
		one.types("resign")
		one.line(3, "resigned")
		one.ends(0)
	}
	if s, err := server.Semaphore(ydbNode, "pool"); err == nil {
		t.Errorf("it is left: %+v", s)
	}
}

func TestWhatABackendCannotKeepIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	redis, postgres := localserver.RedisForTest(t, localserver.RedisOptions{}), localserver.PostgresForTest(t, localserver.PostgresOptions{})
	_, dflock := dflockd(t, dflocktest.Options{})
	ydb := ydbForTest(t, ydbtest.Options{})
	urls := map[string]string{
		"redis": redis.URL() + "?mutex=m", "postgres": postgres.URL() + "&mutex=4242", "dflockd": dflock + "?mutex=m",
		"pool": dflock + "?semaphore=p", "ydb": ydb.URL(0) + "?node=" + ydbNode + "&mutex=m", "quota": ydb.URL(0) + "?node=" + ydbNode + "&semaphore=quota",
	}
	for _, tt := range []struct {
		on   string
		code int
		says string
		args []string
	}{
		{"redis", exitCannot, "at least 50ms", []string{"--lease", "10ms"}},
		{"postgres", exitCannot, "at least 500ms", []string{"--lease", "100ms"}},
		{"ydb", exitCannot, "at most 30m", []string{"--lease", "1h"}},
		{"dflockd", exitCannot, "whole seconds", []string{"--lease", "1500ms"}},
		{"redis", exitCannot, "leaves no room", []string{"--renew-every", "1m"}},
		{"ydb", exitCannot, "leaves no room", []string{"--recovery-window", "3s", "--renew-every", "2s"}},
		{"redis", exitCannot, "no recovery window", []string{"--recovery-window", "1m"}},
		{"dflockd", exitCannot, "no description", []string{"--description", "me"}},
		{"redis", exitCannot, "only a semaphore", []string{"--ephemeral"}},
		{"pool", exitCannot, "keeps nothing that nobody owns", []string{"--ephemeral", "--limit", "2"}},
		{"quota", exitCannot, "lasting semaphore", []string{"--ephemeral"}},
		{"redis", exitUsage, "at most 40", []string{"--description", "two words"}},
		{"ydb", exitUsage, "the same on YDB", []string{"--recovery-window", "1m", "--lease", "2m"}},
	} {
		w := newWorld(t)
		code := w.main(t.Context(), append([]string{"acquire", "--write", "--yes", urls[tt.on]}, tt.args...)...)
		if code != tt.code || !strings.Contains(w.stderr.String(), tt.says) || w.stdout.String() != "" {
			t.Errorf("%s %v: exit code %d, %s%s", tt.on, tt.args, code, w.stdout, w.stderr)
		}
	}
}

// commands counts how often each command was sent to a server.
func commands(t *testing.T, c *redis.Client) map[string]int {
	t.Helper()
	text, err := c.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		calls, _, _ := strings.Cut(strings.TrimPrefix(rest, "calls="), ",")
		if n, err := strconv.Atoi(calls); err == nil {
			counts[name] = n
		}
	}
	return counts
}
