package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/history/postgres"
	"coordtop/internal/localserver"
	"coordtop/internal/operate"
)

// onRecorder starts a recorder of one row of a Redis that host-1 owns, and returns a world with its recording and with a
// config that names a port without a server for that Redis: a command that asks the server fails.
func onRecorder(t *testing.T) (w *world, own func(owner string), stop func()) {
	t.Helper()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	redis := writer(t, server.Addr())
	own = func(owner string) { set(t, redis, "app:leader:billing", owner, time.Hour) }
	own("host-1")
	recorder := newWorld(t)
	recorder.write(t, configFile, "sources: [{name: leases, url: \"redis://"+server.Addr()+"/0\", watch: [{election: \"app:leader:*\"}]}]\n")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() { done <- recorder.main(ctx, "record", "--config", recorder.home+"/"+configFile) }() // received in stop
	recorder.stderr.await(t, func(s string) bool { return strings.Contains(s, "recording into "+recorder.home) })
	for look := newWorld(t); !strings.Contains(look.stdout.String(), "host-1"); {
		look.home = recorder.home
		look.main(t.Context(), "history")
	}
	w = newWorld(t)
	w.home = recorder.home
	w.write(t, "elsewhere.yaml", "team: here\nsources: [{name: leases, url: \"redis://127.0.0.1:1/0\", watch: [{election: \"app:leader:*\"}]}]\n")
	stopped := false
	stop = func() {
		if cancel(); !stopped {
			stopped = true
			<-done
		}
	}
	t.Cleanup(stop)
	return w, own, stop
}

func TestCommandsShowWhatTheRecorderSeesAndAskNoServer(t *testing.T) {
	t.Parallel()
	w, own, stop := onRecorder(t)
	config := []string{"--config", w.home + "/elsewhere.yaml"}
	run := func(args ...string) (code int, out, diag string) {
		one := newWorld(t)
		one.home = w.home
		if args[0] != "--config" {
			args = append(args, config...)
		}
		code = one.main(t.Context(), args...)
		return code, one.stdout.String(), one.stderr.String()
	}
	if code, out, diag := run("get"); code != 0 || !strings.Contains(out, "host-1") || diag != "" {
		t.Errorf("get: exit code %d, %s%s", code, out, diag)
	}
	if code, out, diag := run("get", "--from", "servers", "--timeout", "2s"); code != 3 || strings.Contains(out, "host-1") {
		t.Errorf("get of the server: exit code %d, %s%s", code, out, diag)
	}
	if code, out, diag := run("get", "leases/app:leader:billing", "-o", "json"); code != 0 {
		t.Errorf("get of a name: exit code %d, %s%s", code, out, diag)
	} else if v := (struct {
		Primitives []struct{ Owners []struct{ Label string } }
	}{}); json.Unmarshal([]byte(out), &v) != nil || len(v.Primitives) != 1 || v.Primitives[0].Owners[0].Label != "host-1" {
		t.Errorf("get of a name: %s", out)
	}
	w.write(t, "bare.yaml", "team: here\n")
	bare := w.home + "/bare.yaml"
	for _, wrong := range []struct {
		code int
		text string
		args []string
	}{
		{0, "", []string{"--config", bare, "get", "leases/app:leader:billing"}},
		{2, "bare.yaml: names no sources to ask", []string{"--config", bare, "get", "--from", "servers"}},
		{2, "bare.yaml: names no sources to ask", []string{"--config", bare, "record"}},
		{0, "", []string{"wait", "leases/app:leader:billing", "--for", "owner=host-1", "--timeout", "5s"}},
		{0, "", []string{"why"}},
		{0, "", []string{"owners"}},
		{4, "no primitive goes by this name", []string{"get", "leases/app:leader:bill"}},
		{2, "no config names this source", []string{"get", "other/x"}},
		{2, "--from asks none", []string{"get", "--from", "here", "redis://127.0.0.1:1/0"}},
		{2, "--from asks none", []string{"--from", "here", "redis://127.0.0.1:1/0"}},
		{2, "record --listen", []string{"watch", "--listen", "127.0.0.1:0"}},
	} {
		if code, out, diag := run(wrong.args...); code != wrong.code || !strings.Contains(diag, wrong.text) {
			t.Errorf("%v: exit code %d, want %d and %q: %s%s", wrong.args, code, wrong.code, wrong.text, out, diag)
		}
	}

	watch := newWorld(t)
	watch.home = w.home
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- watch.main(ctx, append(config, "watch")...) }() // received below
	watch.stdout.await(t, func(s string) bool { return strings.Contains(s, "present") && strings.Contains(s, "host-1") })
	own("host-2")
	watch.stdout.await(t, func(s string) bool { return strings.Contains(s, "owner_changed") && strings.Contains(s, "host-2") })
	stop()
	watch.stderr.await(t, func(s string) bool { return strings.Contains(s, "nobody since then") })
	watch.stdout.await(t, func(s string) bool {
		return strings.Contains(s, "source_down") && strings.Contains(s, "nobody since then")
	})
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("watch: exit code %d", code)
	}
	if code, out, diag := run("get", "--fail-on", "stale"); code != 10 || !strings.Contains(out, "stale") || !strings.Contains(diag, "what is printed is old") {
		t.Errorf("without the recorder: exit code %d, %s%s", code, out, diag)
	}
	if code, out, diag := run("why", "leases/app:leader:billing"); code != 10 || !strings.Contains(out, "coordtop record --status") || strings.Contains(out+diag, "leases did not") || strings.Contains(out, "coordtop doctor") {
		t.Errorf("the end of the recorder is blamed on a server: exit code %d, %s%s", code, out, diag)
	}
	if code, out, diag := run("wait", "leases/app:leader:billing", "--for", "led", "--timeout", "1s"); code != 5 {
		t.Errorf("wait without the recorder: exit code %d, %s%s", code, out, diag)
	}
}

func TestABoardOnARecorderSaysWhichProcessSeesAndThatItHasEnded(t *testing.T) {
	t.Parallel()
	w, _, stop := onRecorder(t)
	cmd := command(t, "--config", w.home+"/elsewhere.yaml")
	cmd.Env = append(cmd.Env, "HOME="+w.home)
	s := inSight(t, cmd).await("host-1", " ago").keys("o").await(fmt.Sprintf("recorded by process %d on ", os.Getpid()))
	stop()
	s.await("OLD: ", "and nobody since then").keys("1").await("all that is shown is old", "start coordtop record").gone("does not answer").keys("q")
	if code := ends(t, cmd); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestARecorderThatWroteNothingCannotBeFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(t, configFile, "sources: [{url: \"redis://127.0.0.1:1/0\"}]\n")
	if code := w.main(t.Context(), "get", "--from", "here"); code != 1 || !strings.Contains(w.stderr.String(), "following the recorder here") {
		t.Errorf("exit code %d, %s", code, w.stderr)
	}
}

// TestABoardOnTheStoreOfATeamCostsTheWatchedServerNothing counts the sessions of a watched Postgres while commands follow
// its recorder, and what they send to the address that their own config has for it.
func TestABoardOnTheStoreOfATeamCostsTheWatchedServerNothing(t *testing.T) {
	t.Parallel()
	watched := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	store := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	conn, err := pgx.Connect(t.Context(), watched.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	for _, statement := range []string{"set application_name to 'host-1'", "select pg_advisory_lock(4242)"} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t)
	link := localserver.ProxyForTest(t, watched.Addr())
	asked := link.Await("")
	text := "history: {url: \"" + store.URL() + "\"}\nteam: all\nsources: [{name: ledger, url: \"" + watched.URL() + "\", watch: [{election: \"4242\"}]}]\n"
	w.write(t, configFile, text)
	w.write(t, "board.yaml", strings.ReplaceAll(text, watched.Addr(), link.Addr()))
	board := []string{"--config", w.home + "/board.yaml"}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- w.main(ctx, "record") }() // received below
	w.stderr.await(t, func(s string) bool { return strings.Contains(s, "recording into postgres://") })
	run := func(args ...string) (code int, out, diag string) {
		one := newWorld(t)
		one.home = w.home
		code = one.main(t.Context(), append(args, board...)...)
		return code, one.stdout.String(), one.stderr.String()
	}
	for out := ""; !strings.Contains(out, "host-1"); {
		_, out, _ = run("get")
	}
	sessions := func() (n int) {
		t.Helper()
		err := conn.QueryRow(t.Context(), "select sessions from pg_stat_database where datname = current_database()").Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := sessions()
	watch := newWorld(t)
	watch.home = w.home
	watching, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan int, 1)
	go func() { ended <- watch.main(watching, append(board, "watch")...) }() // received below
	watch.stdout.await(t, func(s string) bool { return strings.Contains(s, "host-1") })
	for _, args := range [][]string{{"get"}, {"why"}, {"owners"}, {"wait", "ledger/4242", "--for", "led"}} {
		if code, out, diag := run(args...); code != 0 {
			t.Errorf("%v: exit code %d, %s%s", args, code, out, diag)
		}
	}
	acts := postgres.ShareAudit(t.Context(), postgres.Options{Address: store.URL()})
	defer acts.Close()
	line, err := json.Marshal(operate.Record{At: time.Now(), ID: "elsewhere-1", Stage: operate.After, User: "ben", Host: "desk", Action: "try", Source: "ledger", Space: "postgres", Name: "4242", Result: "failed", Detail: "taken"})
	if err != nil {
		t.Fatal(err)
	}
	acts.Put(postgres.AuditLine{Said: "ben@desk", Source: "ledger", Action: "try", Outcome: "failed", Line: string(line)})
	watch.stdout.await(t, func(s string) bool { return strings.Contains(s, "ben@desk, in the store ") })
	if n := sessions() - before; n != 0 {
		t.Errorf("%d sessions for five commands that ask no server", n)
	}
	select {
	case <-asked:
		t.Error("one of five commands that ask no server sent something to it")
	default:
	}
	cancel()
	stop()
	if a, b := <-done, <-ended; a != 0 || b != 0 {
		t.Errorf("exit codes %d and %d: %s%s", a, b, w.stderr, watch.stderr)
	}
}
