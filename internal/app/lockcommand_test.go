package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// runsUnder starts lock or elect as a process, with a config file unless that is empty.
func runsUnder(t *testing.T, file string, args ...string) *kept {
	t.Helper()
	h := holdsIn(t, shellPath(), file, args...)
	if err := h.in.Close(); err != nil {
		t.Fatal(err)
	}
	return h
}

// prints waits until the command has printed a text.
func (h *kept) prints(text string) {
	h.t.Helper()
	h.out.await(h.t, func(s string) bool { return strings.Contains(s, text) })
}

// worked are the lines of the audit of lock and elect.
func (h *kept) worked() (lines []string) {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.home(), ".local", "state", "coordtop", workAuditName))
	if err != nil {
		h.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r struct{ Action, Stage, Reason, Result, Detail string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			h.t.Fatal(err)
		}
		lines = append(lines, strings.Join([]string{r.Action, r.Stage, r.Reason, r.Result, r.Detail}, " "))
	}
	return lines
}

func TestLockRunsACommandWhileTheMutexIsOurs(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	h := holdsIn(t, shellPath(), "", "lock", "--data", "nightly", "--reason", "it is time", server.URL()+"?mutex=app:lock:x", "--",
		"sh", "-c", `env | grep ^COORDTOP_; read line; echo "read $line"; echo more >&2; exit 7`)
	h.prints("COORDTOP_DEADLINE_FILE=")
	h.prints("COORDTOP_NAME=app:lock:x\n")
	value, err := c.Get(t.Context(), "app:lock:x").Result()
	nonce, _, _ := strings.Cut(value, " ")
	if err != nil || !strings.HasSuffix(value, " nightly") || len(nonce) != 36 || strings.Contains(h.out.String(), nonce) {
		t.Errorf("the key has %q, %v, and the command %s", value, err, h.out)
	}
	w := newWorld(t)
	if code := w.main(t.Context(), "get", "-o", "json", server.URL()+"?mutex=app:lock:x"); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	var seen struct {
		Primitives []struct{ Owners []struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(w.stdout.String()), &seen); err != nil || len(seen.Primitives) != 1 || len(seen.Primitives[0].Owners) != 1 {
		t.Fatalf("get says %s, %v", w.stdout, err)
	}
	h.prints("COORDTOP_OWNER=" + seen.Primitives[0].Owners[0].ID + "\n")
	h.types("from outside")
	h.ends(7)
	if !strings.Contains(h.out.String(), "read from outside\n") || h.errs.String() != "more\n" {
		t.Errorf("it printed %q and %q", h.out, h.errs)
	}
	gone(t, c, "app:lock:x")
	if got := h.worked(); len(got) != 2 || got[0] != "acquire before it is time  " || got[1] != "acquire after it is time done exit code 7" {
		t.Errorf("the audit has %q", got)
	}
	if list := h.audit(); list != nil {
		t.Errorf("the audit of what people do has %q", list)
	}
}

func TestWhatCannotBeLockedHasItsExitCode(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	set(t, c, "app:lock:taken", "host-a:1", time.Minute)
	if err := c.LPush(t.Context(), "app:lock:list", "x").Err(); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	script := w.write(t, "plain", "echo never\n")
	w.write(t, configFile, "sources:\n- {name: ro, url: '"+server.URL()+"', read_only: true}\n"+
		"- {name: pr, url: '"+server.URL()+"', protect: true, watch: [mutex: 'app:lock:*', election: 'app:leader:*']}\n"+
		"- {name: r, url: '"+server.URL()+"'}\n")
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"lock --wait 0 r/app:lock:taken -- true", 5, "it is taken"},
		{"lock --wait 50ms r/0/app:lock:taken -- true", 5, "not acquired within 50ms"},
		{"lock --wait 0 --conflict-exit 75 r/app:lock:taken -- true", 75, "it is taken"},
		{"lock --wait 0 --conflict-exit 0 r/app:lock:taken -- true", 0, ""},
		{"lock --wait 0 r/app:lock:list -- true", exitCannot, "holds a list"},
		{"lock ro/x -- true", exitReadOnly, "read_only"},
		{"lock pr/app:lock:free -- true", exitUsage, "--reason"},
		{"lock --reason r pr/app:leader:x -- true", exitCannot, "coordtop elect"},
		{"elect --reason r pr/app:lock:free -- true", exitCannot, "coordtop lock"},
		{"elect r/free", exitUsage, "coordtop campaign"},
		{"elect --wait 0 r/app:lock:taken -- true", 5, "it is taken"},
		{"lock r/free", exitUsage, "-- COMMAND"},
		{"lock r/free true", exitUsage, "-- between"},
		{"lock -- true", exitUsage, "the name is missing"},
		{"lock r -- true", exitUsage, "whole source"},
		{"lock --permits 0 r/free -- true", exitUsage, "from 1 on"},
		{"lock --permits 2 r/free -- true", exitCannot, "no semaphore"},
		{"lock --shared r/free -- true", exitCannot, "share"},
		{"lock --grace 20s r/free -- true", exitUsage, "at most half"},
		{"lock --conflict-exit 256 r/free -- true", exitUsage, "from 0 to 255"},
		{"lock --error-exit 70 ro/x -- true", 70, "read_only"},
		{"lock --wait 0 redis://127.0.0.1:1/0?mutex=x -- true", exitNoAnswer, "127.0.0.1:1"},
		{"lock --wait 50ms --error-exit 70 redis://127.0.0.1:1/0?mutex=x -- true", 70, "127.0.0.1:1"},
		{"lock --wait 0 r/app:lock:taken -- no-such-program", 127, "no-such-program"}, // it asks nobody before
		{"lock r/free -- " + script, 126, "permission denied"},
		{"lock --check", exitUsage, "COORDTOP_DEADLINE_FILE"},
		{"lock --check r/free", exitUsage, "no argument"},
	} {
		w.stdout, w.stderr = newStream(), newStream()
		code := w.main(t.Context(), strings.Fields(tt.args)...)
		said := w.stderr.String()
		if code != tt.code || !strings.Contains(said, tt.says) || tt.says == "" && said != "" || strings.Count(said, "\n") > 2 || w.stdout.String() != "" {
			t.Errorf("%s: exit code %d, want %d with %q: %s%s", tt.args, code, tt.code, tt.says, said, w.stdout)
		}
	}
	for _, key := range []string{"free", "app:lock:free", "x", "app:leader:x"} {
		gone(t, c, key)
	}
	if commands, err := c.Info(t.Context(), "commandstats").Result(); err != nil || strings.Contains(commands, "_scan:") {
		t.Errorf("it lists the keys of the server: %s, %v", commands, err)
	}
}

func TestASignalEndsTheWaitOfALock(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		key := fmt.Sprintf("app:lock:%d", s)
		set(t, c, key, "host-a:1", time.Minute)
		h := runsUnder(t, "", "lock", server.URL()+"?mutex="+key, "--", "true")
		eventually(t, "it waits", func() bool { return strings.Contains(strings.Join(h.workedSoFar(), ""), "before") })
		h.signals(s)
		h.ends(128 + int(s))
		if text := h.errs.String(); !strings.Contains(text, "before it was ours") {
			t.Errorf("it said %s", text)
		}
	}
}

// workedSoFar is worked, which there may not be yet.
func (h *kept) workedSoFar() []string {
	if _, err := os.Stat(filepath.Join(h.home(), ".local", "state", "coordtop", workAuditName)); err != nil {
		return nil
	}
	return h.worked()
}

func TestASignalDuringAHookStartsNoCommand(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	h := runsUnder(t, "", "elect", "--on-won", "echo hook >&2; exec sleep 60", server.URL()+"?election=primary", "--", "echo", "in")
	h.says("hook")
	h.signals(syscall.SIGTERM)
	h.ends(143)
	if h.out.String() != "" {
		t.Errorf("it printed %s", h.out)
	}
	gone(t, writer(t, server.Addr()), "primary")
}

func TestAStateFolderThatCannotBeWrittenStopsNoLock(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	h := &kept{t: t, cmd: command(t, "lock", server.URL()+"?mutex=app:lock:x", "--", "sh", "-c", "echo in; exit 3"), out: newStream(), errs: newStream()}
	h.cmd.Stdout, h.cmd.Stderr = h.out, h.errs
	h.cmd.Env = append(h.cmd.Env, "XDG_STATE_HOME=/proc/none", "PATH="+os.Getenv("PATH"))
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.ends(3)
	if h.out.String() != "in\n" || !strings.Contains(h.errs.String(), "going on without an audit") {
		t.Errorf("it printed %q and %q", h.out, h.errs)
	}
}

func TestCheckInACommandTellsWhetherItsLeaseCanBeTrusted(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := runsUnder(t, "", "lock", server.URL()+"?mutex=app:lock:x", "--", "sh", "-c",
		self+" lock --check; echo now $?; echo 1 2000-01-01T00:00:00Z >$COORDTOP_DEADLINE_FILE; "+self+" lock --check; echo later $?")
	h.ends(exitOK)
	if h.out.String() != "now 0\nlater 9\n" {
		t.Errorf("it printed %s%s", h.out, h.errs)
	}
}

func TestGraceGivesACommandTimeWhenItsLeaseCannotBeKept(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"expired": true, "lost": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := localserver.RedisForTest(t, localserver.RedisOptions{})
			h := runsUnder(t, "", "lock", "--lease", "3s", "--grace", "1s", server.URL()+"?mutex=app:lock:x", "--",
				"sh", "-c", "trap 'echo tidied up; exit 0' TERM; echo in; while :; do sleep 0.01; done")
			h.prints("in\n")
			if want {
				server.Stop(t.Context())
			} else if err := writer(t, server.Addr()).Del(t.Context(), "app:lock:x").Err(); err != nil {
				t.Fatal(err)
			}
			h.ends(exitLost)
			if got := strings.Contains(h.out.String(), "tidied up"); got != want {
				t.Errorf("it got TERM: %v: %s%s", got, h.out, h.errs)
			}
		})
	}
}

func TestALockBehindAPoolerRunsACommandOnlyIfASessionIsItsOwn(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	for mode, want := range map[string]int{"session": exitOK, "transaction": exitCannot} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			pool := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: p, Mode: mode})
			h := runsUnder(t, "", "lock", pool.URL()+"&mutex=4711", "--", "echo", "it runs")
			h.ends(want)
			if ran := strings.Contains(h.out.String(), "it runs"); ran != (want == exitOK) {
				t.Errorf("it ran: %v: %s", ran, h.errs)
			}
			if want != exitOK && !strings.Contains(h.errs.String(), "a pooler in transaction or statement mode") {
				t.Errorf("it said %s", h.errs)
			}
		})
	}
}

func TestATerminalShowsTheOwnerThatALockWaitsFor(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	set(t, c, "app:lock:x", "host-a:1", time.Minute)
	cmd := command(t, "lock", server.URL()+"?mutex=app:lock:x", "--", "echo", "it runs")
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"))
	s := onScreen(t, cmd)
	s.await(t, func(out string) bool { return strings.Contains(out, "app:lock:x: owned by host-a:1") })
	if err := c.Del(t.Context(), "app:lock:x").Err(); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, cmd); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	s.read.Wait()
	if out := s.String(); !strings.Contains(out, "app:lock:x: ours after ") || !strings.HasSuffix(out, "it runs\r\n") {
		t.Errorf("the terminal has %q", out)
	}
}
