package app

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/ground/raced"
	"coordtop/internal/help"
	"coordtop/internal/localserver"
)

// locksEnv is how many commands TestNoTwoCommandsRunUnderOneLock runs at once on each backend.
const locksEnv = "COORDTOP_TEST_LOCKS"

// lockServer is a server on which commands run under locks.
type lockServer struct {
	url    string // ends with what precedes a name, as "mutex="
	most   int    // commands at once, unless locksEnv says it
	queued func() int
	lose   func() // ends what is owned

	permits string // the flag that a claim of a semaphore needs; "": it has none
}

// lockServers starts a server of each backend, each of which has a mutex "job" and an election "primary".
func lockServers(t *testing.T) map[string]func(t *testing.T) lockServer {
	t.Helper()
	return map[string]func(t *testing.T) lockServer{
		"redis": func(t *testing.T) lockServer {
			s := localserver.RedisForTest(t, localserver.RedisOptions{})
			c := writer(t, s.Addr())
			return lockServer{s.URL() + "?", 50, nil, func() { c.Del(t.Context(), "job", "primary") }, ""}
		},
		"postgres": func(t *testing.T) lockServer {
			s := localserver.PostgresForTest(t, localserver.PostgresOptions{})
			conn := connect(t, s.URL())
			count := func(where string) (n int) {
				if err := conn.QueryRow(t.Context(), "select count("+where+") from pg_locks where locktype = 'advisory' and granted = "+strconv.FormatBool(where != "*")).Scan(&n); err != nil {
					t.Error(err)
				}
				return n
			}
			return lockServer{s.URL() + "&", 8, func() int { return count("*") }, func() { count("pg_terminate_backend(pid)") }, ""}
		},
		"ydb": func(t *testing.T) lockServer {
			s := ydbForTest(t, ydbtest.Options{})
			for _, name := range []string{"imports", "settings", "services"} {
				if err := s.CreateSemaphore(ydbNode, name, 3, nil); err != nil {
					t.Fatal(err)
				}
			}
			return lockServer{s.URL(0) + "?node=" + ydbNode + "&", 8, func() int { return len(s.Waiters(ydbNode, "job")) }, func() {
				for _, link := range append(s.Owners(ydbNode, "job"), s.Owners(ydbNode, "primary")...) {
					if err := s.ExpireSession(ydbNode, link.SessionID); err != nil {
						t.Error(err)
					}
				}
			}, "--permits"}
		},
		"dflockd": func(t *testing.T) lockServer {
			s, url := dflockd(t, dflocktest.Options{})
			return lockServer{url + "?", 8, func() int {
				entry, _ := s.Entry("job") // it is there while somebody owns it
				return len(entry.Waiters)
			}, s.Restart, "--limit"}
		},
	}
}

func TestNoTwoCommandsRunUnderOneLock(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it starts a hundred processes and looks from outside; other tests run commands under locks with the race detector")
	for name, start := range lockServers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := start(t), t.TempDir()
			most := s.most
			if text := os.Getenv(locksEnv); text != "" {
				most, _ = strconv.Atoi(text)
			}
			log := filepath.Join(dir, "log")
			first := holdsIn(t, shellPath(), "", "lock", s.url+"mutex=job", "--", "sh", "-c", "echo in; read line")
			first.prints("in\n")
			var others []*kept
			var want strings.Builder
			for i := range most {
				others = append(others, runsUnder(t, "", "lock", s.url+"mutex=job", "--", "sh", "-c",
					fmt.Sprintf("exec 9>>%s; flock -n 9 || echo overlap >&9; echo in %d >&9; sleep 0.01; echo out %d >&9", log, i, i)))
				fmt.Fprintf(&want, "in %d\nout %d\n", i, i)
				if s.queued != nil {
					eventually(t, "it waits", func() bool { return s.queued() == i+1 })
				}
			}
			first.types("")
			first.ends(exitOK)
			for _, h := range others {
				h.ends(exitOK)
			}
			text, err := os.ReadFile(log)
			if err != nil || strings.Contains(string(text), "overlap") || len(text) != want.Len() || s.queued != nil && string(text) != want.String() {
				t.Errorf("%v, in order %s", err, text)
			}
		})
	}
}

func shellPath() []string { return []string{"PATH=" + os.Getenv("PATH")} }

// endless prints the id of its process and ignores TERM.
const endless = "trap '' TERM; echo $$ in; while :; do sleep 0.01; done"

// dead fails the test if the process of an endless runs. It may be a zombie, for long where nobody reaps orphans.
func (h *kept) dead() {
	h.t.Helper()
	pid, _, _ := strings.Cut(h.out.String(), " ")
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if _, state, _ := strings.Cut(string(stat), ") "); err == nil && !strings.HasPrefix(state, "Z") {
		h.t.Errorf("the command runs: %s", stat)
	}
}

func TestALostLeaseEndsTheCommandAndTheNextIsIn(t *testing.T) {
	t.Parallel()
	for name, start := range lockServers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			first := runsUnder(t, "", "lock", s.url+"mutex=job", "--", "sh", "-c", endless)
			first.prints(" in\n")
			next := runsUnder(t, "", "lock", s.url+"mutex=job", "--", "echo", "next")
			if s.queued != nil {
				eventually(t, "it waits", func() bool { return s.queued() == 1 })
			}
			s.lose()
			first.ends(exitLost)
			first.dead()
			if text := first.errs.String(); !strings.Contains(text, "the lease is over, the command was ended: ") {
				t.Errorf("it said %s", text)
			}
			next.ends(exitOK)
		})
	}
}

func TestALeaderThatDiesIsFollowedWhenItsCommandIsDead(t *testing.T) {
	t.Parallel()
	for name, start := range lockServers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			lead := func() *kept {
				return runsUnder(t, "", "elect", "--lease", "3s", s.url+"election=primary", "--", "sh", "-c", endless)
			}
			first := lead()
			first.prints(" in\n")
			second := lead()
			first.signals(syscall.SIGKILL)
			first.ends(-1)
			second.prints(" in\n")
			first.dead()
			s.lose()
			second.says("the lead was lost, campaigning again: ")
			second.out.await(t, func(out string) bool { return strings.Count(out, " in\n") == 2 })
			second.dead() // the command of its first term
		})
	}
}

// scripts makes what the scripts of help lock call, and returns a function that prepares one.
func scripts(t *testing.T) (script func(s lockServer, text string) *exec.Cmd) {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"coordtop": "exec " + self + ` "$@"`, "job": "echo job", "address": "echo $1 >&2", "serve": "echo serving; exec sleep 600", "follow": "exec cat", "handle": "exec cat",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "lines"), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(s lockServer, text string) *exec.Cmd {
		cmd := command(t, "")
		cmd.Path, cmd.Args, cmd.Dir = "/bin/sh", []string{"sh", "-c", text}, dir
		cmd.Env = append(cmd.Env, "PATH="+dir+":"+os.Getenv("PATH"), "LEASES="+s.url)
		return cmd
	}
}

// TestTheScriptsOfHelpLockRun runs each with the beginning of a URL in $LEASES.
func TestTheScriptsOfHelpLockRun(t *testing.T) {
	t.Parallel()
	for name, start := range lockServers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, script := start(t), scripts(t)
			ran := 0
			for _, b := range topic(t, "lock").Blocks() {
				if b.Kind != help.Code || b.Under != "Scripts" {
					continue
				}
				ran++
				cmd := script(s, b.Cells[0])
				out, _ := cmd.CombinedOutput() // its exit code says the rest
				cannot := strings.Contains(b.Cells[0], "semaphore") && (s.permits == "" || (s.permits == "--limit") != strings.Contains(b.Cells[0], "--limit"))
				if code := cmd.ProcessState.ExitCode(); cannot == (code == exitOK) || !cannot && !strings.Contains(string(out), "job\n") {
					t.Errorf("%s: exit code %d: %s", b.Cells[0], code, out)
				}
			}
			if ran != 6 {
				t.Errorf("there are %d scripts", ran)
			}
		})
	}
}

// TestAWaitThatIsOverLeavesNothingAtTheServer holds also for servers that do not notice that a client has hung up.
func TestAWaitThatIsOverLeavesNothingAtTheServer(t *testing.T) {
	t.Parallel()
	for name, start := range lockServers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			first := holdsIn(t, shellPath(), "", "lock", s.url+"mutex=job", "--", "sh", "-c", "echo in; read line")
			first.prints("in\n")
			out, err := command(t, "lock", "--wait", "100ms", s.url+"mutex=job", "--", "/bin/true").CombinedOutput()
			if exit := (&exec.ExitError{}); !errors.As(err, &exit) || exit.ExitCode() != exitTimeout || !strings.HasSuffix(string(out), "job: not acquired within 100ms\n") {
				t.Errorf("%v: %s", err, out)
			}
			if s.queued != nil {
				eventually(t, "its place is given up", func() bool { return s.queued() == 0 })
			}
			first.types("")
			first.ends(exitOK)
		})
	}
}

// TestTheScriptsOfHelpLockFollowChanges runs the first line of each, which does not end, and then the second.
func TestTheScriptsOfHelpLockFollowChanges(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, b := range topic(t, "lock").Blocks() {
		if b.Kind == help.Code && b.Under == "Scripts with other commands" {
			lines = append(lines, b.Cells[0])
		}
	}
	all := []struct {
		backend, ready, seen string
		by                   int // the line that prints seen
	}{{"ydb", "synced", "v2", 0}, {"ydb", "serving", "10.0.0.7:8080", 1}, {"postgres", `"acquired"`, "reload", 0}}
	if len(lines) != 2*len(all) {
		t.Fatalf("there are %d lines", len(lines))
	}
	for i, tt := range all {
		t.Run(tt.ready, func(t *testing.T) {
			t.Parallel()
			s, script, outs := lockServers(t)[tt.backend](t), scripts(t), []*stream{newStream(), newStream()}
			prints := func(j int, wanted string) {
				eventually(t, lines[2*i+j]+" prints "+wanted, func() bool { return strings.Contains(outs[j].String(), wanted) })
			}
			for j, out := range outs {
				cmd := script(s, lines[2*i+j])
				cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = out, out, &syscall.SysProcAttr{Setpgid: true}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // its only error is that it has ended
					_ = cmd.Wait()
				})
				if j == 0 {
					prints(0, tt.ready)
				}
			}
			prints(tt.by, tt.seen)
		})
	}
}

func TestAClaimThatTheServerCanNeverServeIsNotPossible(t *testing.T) {
	t.Parallel()
	s := lockServers(t)["ydb"](t)
	for args, says := range map[string]string{
		"--permits 9 " + s.url + "semaphore=imports": "above the limit",
		"--permits 1 " + s.url + "semaphore=absent":  "create it first",
	} {
		h := holdsIn(t, nil, "", slices.Concat([]string{"lock"}, strings.Fields(args), []string{"--", "/bin/true"})...)
		h.ends(exitCannot)
		if text := h.errs.String(); !strings.Contains(text, says) {
			t.Errorf("lock %s: %s", args, text)
		}
	}
}
