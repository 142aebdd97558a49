package localserver_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// guardsOf lists the guards that a parent started.
func guardsOf(t *testing.T, parent int) (pids []int) {
	t.Helper()
	for _, pid := range offspring(t, parent) {
		args, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if err == nil && strings.Contains(string(args), "coordtop-guard") {
			pids = append(pids, pid)
		}
	}
	if len(pids) != 1 {
		t.Fatalf("%d guards", len(pids))
	}
	return pids
}

// killAll kills processes and returns when they hold nothing any more: a zombie is gone.
func killAll(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	for _, pid := range pids {
		eventually(t, "it is gone", func() bool {
			stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			return err != nil || strings.Contains(string(stat), ") Z ")
		})
	}
}

// Not parallel: it looks for its folders in a temporary folder of its own.
func TestOnlyFoldersOfTheDeadAreRemoved(t *testing.T) {
	localserver.NeedsServer(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	sweep := func(what string, dir string, stays bool) {
		t.Helper()
		if err := localserver.RemoveDead(); err != nil {
			t.Fatal(err)
		}
		if stays && !exists(dir) {
			t.Errorf("%s: the folder is gone", what)
		}
		if !stays { // a process that another test is just starting may hold it until it has become another program
			eventually(t, what+": the folder is gone", func() bool { return localserver.RemoveDead() == nil && !exists(dir) })
		}
	}
	parent, server, dir := startParent(t, "redis")
	guard := guardsOf(t, parent.Process.Pid)[0]
	sweep("all live", dir, true)
	if err := syscall.Kill(guard, syscall.SIGSTOP); err != nil { // as if it took its time
		t.Fatal(err)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait() // it was killed, so this is an error by design
	sweep("the guard and the server live", dir, true)
	killAll(t, server)
	sweep("the guard lives", dir, true)
	killAll(t, guard)
	sweep("all dead", dir, false)

	parent, server, dir = startParent(t, "redis")
	killAll(t, guardsOf(t, parent.Process.Pid)...)
	sweep("the parent and the server live", dir, true)
	_ = parent.Process.Kill()
	_ = parent.Wait() // as above
	sweep("the server lives", dir, true)
	killAll(t, server)
	sweep("all dead, the guard first", dir, false)
}

// Not parallel: as above.
func TestWhatIsNotAFolderOfADeadDemoIsLeftAlone(t *testing.T) {
	temp, other := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	live, err := localserver.TempFolder("demo")
	if err != nil {
		t.Fatal(err)
	}
	fifo := func(dir string) string {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(dir, "alive"), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	write := func(path string) string {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(to, path string) string {
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	in := func(name string) string { return filepath.Join(temp, name) }
	stay := []string{
		live.Dir, fifo(in("another-redis-x")), write(in("coordtop-redis-old/redis.conf")), write(in("coordtop-file")),
		write(in("coordtop-redis-file/alive")), link(fifo(filepath.Join(other, "dead")), in("coordtop-redis-link")),
		filepath.Join(other, "dead/alive"),
	}
	if err := os.Mkdir(in("coordtop-redis-linked"), 0o700); err != nil {
		t.Fatal(err)
	}
	stay = append(stay, link(filepath.Join(other, "dead/alive"), in("coordtop-redis-linked/alive")))
	if os.Geteuid() == 0 {
		foreign := fifo(in("coordtop-redis-foreign"))
		if err := os.Chown(foreign, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		stay = append(stay, foreign)
	}
	gone := fifo(in("coordtop-redis-dead"))
	write(filepath.Join(gone, "data/base"))
	if err := localserver.RemoveDead(); err != nil {
		t.Fatal(err)
	}
	for _, path := range stay {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("removed: %v", err)
		}
	}
	if exists(gone) {
		t.Error("the dead one is left")
	}
	if err := live.Close(); err != nil || exists(live.Dir) {
		t.Errorf("closing the live one: %v", err)
	}
}

func TestStartGivenUpWhileInitdbWritesLeavesNothing(t *testing.T) {
	localserver.NeedsServer(t)
	temp, err := os.MkdirTemp("", "coordtop-test-") // not t.TempDir: the server's user must get in
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	if err := os.Chmod(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	for _, trace := range []string{"initdb.log", "data/PG_VERSION", "data/global", "data/base/1/*", "data/base/1/2*", "data/global/pg_control"} {
		ctx, giveUp := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { // joined below
			p, err := localserver.StartPostgres(ctx, localserver.PostgresOptions{})
			if err == nil {
				err = p.Stop(context.Background())
			}
			done <- err
		}()
		eventually(t, "the start leaves a trace", func() bool {
			found, err := filepath.Glob(filepath.Join(temp, "coordtop-postgres-*", trace))
			return err == nil && len(found) > 0
		})
		giveUp()
		if err := <-done; err == nil || strings.Contains(err.Error(), "removing") {
			t.Errorf("given up at %s: %v", trace, err)
		}
		var left []fs.DirEntry
		if left, err = os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("given up at %s: left %v, %v", trace, left, err)
		}
		if out, err := exec.Command("ps", "-eo", "args").Output(); err != nil || strings.Contains(string(out), temp) {
			t.Errorf("given up at %s: something works in it: %v", trace, err)
		}
	}
}

// Not parallel: it looks for its folders in a temporary folder of its own.
func TestAFolderWhoseMakerWasKilledBeforeItHadAPipeIsRemovedLater(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	for name, left := range map[string]bool{"coordtop-unfinished-new": true, "coordtop-unfinished-old": false, "coordtop-demo-old": true} {
		dir := filepath.Join(temp, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "old") {
			if err := os.Chtimes(dir, time.Time{}, time.Now().Add(-2*time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		if err := localserver.RemoveDead(); err != nil {
			t.Fatal(err)
		}
		if exists(dir) != left {
			t.Errorf("%s is there: %v, want %v", name, !left, left)
		}
	}
	f, err := localserver.TempFolder("demo")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(f.Dir, "alive")); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Errorf("the pipe of a folder: %v, %v", info, err)
	}
	if err := f.Close(); err != nil || exists(f.Dir) {
		t.Errorf("closing left %s, %v", f.Dir, err)
	}
}
