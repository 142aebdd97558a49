package app

import (
	"bufio"
	"io"
	neturl "net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"coordtop/internal/ground/raced"
	"coordtop/internal/localserver"
)

// TestLocksThatLibrariesTakeAreFoundAndClaimedAgain has the libraries themselves, of npm and of
// Go's module proxy: what they write is what the table of formats says, a claim right after the
// release succeeds, that of BullMQ after its check for stalled jobs, and what the old owner
// releases then frees nothing of the new one's.
func TestLocksThatLibrariesTakeAreFoundAndClaimedAgain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it installs libraries, once in a run of all tests")
	}
	raced.Alone(t, "it installs libraries, once in a run of all tests")
	for what, tt := range map[string]struct {
		dir          string
		install, run []string
		locks        map[string]string // the format by name
	}{
		"npm": {
			"npmlocks", []string{"npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error"}, []string{"node", "locks.cjs"},
			map[string]string{"report": "~node-redlock", "mutex:orders": "redis-semaphore", "semaphore:api": "redis-semaphore", "bull:mail:j42:lock": "BullMQ"},
		},
		"Go": {
			"golocks", []string{"go", "build", "-o", "locks", "."}, []string{"./locks"},
			map[string]string{"invoices": "~redsync", "import": "~redislock"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), tt.dir)
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", tt.dir))); err != nil {
				t.Fatal(err)
			}
			if out, err := inDir(t, dir, tt.install...).CombinedOutput(); err != nil {
				t.Skipf("%q does not work here: %v\n%s", tt.install, err, out)
			}
			s := localserver.RedisForTest(t, localserver.RedisOptions{})
			url := "redis://" + s.Addr()
			says, next := speaks(t, inDir(t, dir, append(tt.run, s.Addr())...))
			says("taken")
			found := locksOn(t, url)
			for name, want := range tt.locks {
				f := found[name]
				if f.format() != want || len(f.Owners) != 1 {
					t.Errorf("%s: %+v, %q, want %q", name, f, f.format(), want)
					continue
				}
				w := newWorld(t)
				if code, line := releases(t, w, url+"/0?"+f.Kind+"="+neturl.QueryEscape(name), f.Owners[0].Guard, "--write", "--yes"); code != exitOK {
					t.Errorf("%s: exit code %d, printed %+v: %s", name, code, line, w.stderr)
				}
			}
			if len(found) != len(tt.locks) {
				t.Errorf("these are no locks: %+v", found)
			}
			next()
			says("claimed")
			for name := range tt.locks {
				again := locksOn(t, url)[name]
				if len(again.Owners) != 1 || again.Owners[0].Guard == found[name].Owners[0].Guard {
					t.Errorf("%s is owned by %+v now, by %+v before", name, again.Owners, found[name].Owners)
				}
			}
		})
	}
}

func inDir(t *testing.T, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	return cmd
}

// speaks starts a program that prints a line for each step, and takes the next one when it reads a
// line. It ends with the test.
func speaks(t *testing.T, cmd *exec.Cmd) (says func(want string), next func()) {
	t.Helper()
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // it is over
	})
	lines := bufio.NewScanner(out)
	says = func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("it says %q, not %q", lines.Text(), want)
		}
	}
	return says, func() { _, _ = io.WriteString(in, "\n") }
}
