package localserver_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"coordtop/internal/ground/raced"
	"coordtop/internal/localserver"
)

func TestKilledParentLeavesNoPostgres(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	for _, frozen := range []bool{false, true} {
		t.Run(fmt.Sprintf("server frozen %v", frozen), func(t *testing.T) {
			t.Parallel()
			parent, pid, dir := startParent(t, "postgres")
			children := offspring(t, pid)
			if len(children) == 0 {
				t.Fatal("a Postgres without children")
			}
			if frozen {
				for _, p := range append([]int{pid}, children...) {
					// A process that only helped to start has ended by now.
					if err := syscall.Kill(p, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
						t.Fatal(err)
					}
				}
			}
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait() // it was killed, so this is an error by design
			for _, p := range append([]int{pid}, children...) {
				eventually(t, "the server is gone", func() bool { return !alive(p) })
			}
			eventually(t, "the folder is gone", func() bool { return !exists(dir) })
		})
	}
}

// startParent starts this test binary as a parent of a server and returns when that runs.
func startParent(t *testing.T, kind string) (parent *exec.Cmd, pid int, dir string) {
	t.Helper()
	parent = exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), childEnv+"="+kind)
	parent.Stderr = os.Stderr
	in, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscan(out, &pid, &dir); err != nil || !alive(pid) || !exists(dir) {
		t.Fatalf("the parent said %d %q (%v)", pid, dir, err)
	}
	return parent, pid, dir
}

// offspring lists the processes whose parent is pid.
func offspring(t *testing.T, pid int) []int {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "pid=,ppid=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 2 && f[1] == strconv.Itoa(pid) {
			child, err := strconv.Atoi(f[0])
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, child)
		}
	}
	return found
}

func TestParentKilledWhilePostgresStartsLeavesNothing(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it kills six processes from outside, in one goroutine")
	localserver.NeedsServer(t)
	for _, trace := range []string{"", "initdb.log", "data/PG_VERSION", "data/base/1", "postgres.log", "data/postmaster.pid"} {
		temp, err := os.MkdirTemp("", "coordtop-test-") // not t.TempDir: the server's user must get in
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(temp) })
		if err := os.Chmod(temp, 0o755); err != nil {
			t.Fatal(err)
		}
		parent := exec.Command(os.Args[0])
		parent.Env = append(os.Environ(), childEnv+"=postgres", "TMPDIR="+temp)
		in, err := parent.StdinPipe() // whose end would end it
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the start leaves a trace", func() bool {
			found, err := filepath.Glob(filepath.Join(temp, "coordtop-postgres-*", trace))
			return err == nil && len(found) > 0
		})
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = parent.Wait() // it was killed, so this is an error by design
		eventually(t, "the folder is gone and no process works in it, killed at "+trace, func() bool {
			left, err := os.ReadDir(temp)
			out, psErr := exec.Command("ps", "-eo", "args").Output()
			return err == nil && len(left) == 0 && psErr == nil && !strings.Contains(string(out), temp)
		})
	}
}

// segments lists the System V segments of the machine that belong to a uid.
func segments(t *testing.T, uid uint32) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for i, line := range strings.Split(string(text), "\n") {
		f := strings.Fields(line)
		if i > 0 && len(f) > 7 && f[7] == strconv.Itoa(int(uid)) {
			found[f[1]] = true
		}
	}
	return found
}

// segment is the id of the segment that a running server made, and the server's uid.
func segment(t *testing.T, p *localserver.Postgres) (id string, uid uint32) {
	t.Helper()
	file := filepath.Join(p.Dir(), "data", "postmaster.pid")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(strings.Split(string(text), "\n")[6])
	return f[1], info.Sys().(*syscall.Stat_t).Uid
}
