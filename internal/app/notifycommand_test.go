package app

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"coordtop/internal/localserver"
)

func TestALeaderPrintsTheNotificationsOfItsChannels(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	h := holds(t, "campaign", "--write", "--yes", "--listen", "jobs", "--listen", "Odd \"name", server.URL()+"&election=4242")
	h.line(1, "acquired")
	arrived := func(n int, channel, payload string) {
		t.Helper()
		if l := h.line(n, "notification"); l.Notification == nil || l.Notification.Channel != channel || l.Notification.Payload != payload {
			t.Errorf("it says %+v", l.Notification)
		}
	}
	if _, err := connect(t, server.URL()).Exec(t.Context(), `select pg_notify('unheard', ''), pg_notify('Odd "name', E'\033[31m{"do": 1}')`); err != nil {
		t.Fatal(err)
	}
	arrived(2, `Odd "name`, "\x1b[31m{\"do\": 1}")
	w := newWorld(t)
	if code := w.main(t.Context(), "notify", "--write", "--yes", server.URL(), "jobs", "to  all"); code != exitOK || w.stdout.String()+w.stderr.String() != "" {
		t.Errorf("exit code %d: %s%s", code, w.stdout, w.stderr)
	}
	arrived(3, "jobs", "to  all")
	piped := command(t, "notify", "--write", "--yes", server.URL(), "jobs")
	piped.Stdin = strings.NewReader("from\ninput\n")
	if out, err := piped.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	arrived(4, "jobs", "from\ninput")
	h.types("notify unheard text")
	h.line(5, "notified")
	h.types("notify jobs by  us")
	h.out.await(t, func(s string) bool { return strings.Count(s, "\n") == 7 }) // its answer and the notification, in either order
	if out := h.out.String(); !strings.Contains(out, `"event":"notified"`) || !strings.Contains(out, `"payload":"by  us"`) {
		t.Errorf("it says %s", out)
	}
	h.types("notify")
	h.line(8, "refused")
	h.recorded("notify after sent")
	if list := h.audit(); !slices.Contains(list, "notify before") {
		t.Errorf("the audit has %q", list)
	}
	h.types("resign")
	h.line(10, "resigned")
	h.ends(0)
}

func TestTheEndOfTheProgramEndsAReadOfStandardInput(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	defer out.Close()
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := readInput(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestNotificationsAreGuardedAndOnlyOfPostgres(t *testing.T) {
	t.Parallel()
	postgres := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL()
	redis := localserver.RedisForTest(t, localserver.RedisOptions{}).URL()
	for _, tt := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "--write --yes", []string{"notify", postgres, "jobs", "x"}},
		{exitUsage, "a channel", []string{"notify", "--write", "--yes", postgres}},
		{exitUsage, "whole source", []string{"notify", "--write", "--yes", "calm/4242", "jobs", "x"}},
		{exitReadOnly, "read_only", []string{"notify", "--write", "--yes", "calm", "jobs", "x"}},
		{exitUsage, "--reason", []string{"notify", "--write", "--yes", "kept", "jobs", "x"}},
		{exitCannot, "7999", []string{"notify", "--write", "--yes", postgres, "jobs", strings.Repeat("x", 8000)}},
		{exitCannot, "63", []string{"notify", "--write", "--yes", postgres, strings.Repeat("x", 64), "x"}},
		{exitCannot, "no channels", []string{"notify", "--write", "--yes", redis, "jobs", "x"}},
		{exitCannot, "no channels", []string{"campaign", "--write", "--yes", "--listen", "jobs", redis + "?election=x"}},
		{exitCannot, "--retry-delay", []string{"acquire", "--write", "--yes", "--poll", "1s", redis + "?mutex=x"}},
		{exitUsage, "63", []string{"campaign", "--write", "--yes", "--listen", strings.Repeat("x", 64), postgres + "&election=4242"}},
	} {
		w := newWorld(t)
		w.write(t, configFile, "sources:\n- {name: calm, url: '"+postgres+"', read_only: true}\n- {name: kept, url: '"+postgres+"', protect: true}\n")
		if code := w.main(t.Context(), tt.args...); code != tt.code || !strings.Contains(w.stderr.String(), tt.says) {
			t.Errorf("%.60q: exit code %d: %s", tt.args, code, w.stderr)
		}
	}
}

func TestAWaitOnPostgresTriesAgainOrStandsInTheQueue(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	conn := connect(t, server.URL())
	if _, err := conn.Exec(t.Context(), "select pg_advisory_lock(4242)"); err != nil {
		t.Fatal(err)
	}
	queue := func() (n int) {
		if err := conn.QueryRow(t.Context(), "select count(*) from pg_locks where locktype = 'advisory' and not granted").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	tries := holds(t, "acquire", "--write", "--yes", "--poll", "50ms", server.URL()+"&mutex=4242")
	tries.errs.await(t, func(s string) bool { return strings.Contains(s, "waiting for") })
	waits := holds(t, "acquire", "--write", "--yes", server.URL()+"&mutex=4242")
	eventually(t, "one stands in the queue", func() bool { return queue() > 0 })
	if n := queue(); n != 1 {
		t.Errorf("%d stand in the queue", n)
	}
	if _, err := conn.Exec(t.Context(), "select pg_advisory_unlock(4242)"); err != nil {
		t.Fatal(err)
	}
	waits.line(1, "acquired") // the queue comes first
	waits.types("resign")
	tries.line(1, "acquired")
}
