package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"coordtop/internal/history"
)

// readEnv names a recording that this binary reads, and would record into, instead of running tests.
const readEnv = "COORDTOP_TEST_READ"

func TestMain(m *testing.M) {
	path := os.Getenv(readEnv)
	if path == "" {
		os.Exit(m.Run())
	}
	r := NewReader(path)
	runs, err := r.Runs(context.Background())
	_, began := Begin(context.Background(), Options{Path: path, Group: true}, history.Run{})
	fmt.Printf("%d runs, live %v, %v, busy %v\n", len(runs), len(runs) > 0 && runs[0].Live, err, errors.Is(began, history.ErrBusy))
	_ = r.Close() // it only read
}

// groupFolder is a folder of ours that a group may read and others may not, on a path that is open to all,
// and this binary.
func groupFolder(t *testing.T, group int) (folder, self string) {
	t.Helper()
	top, err := os.MkdirTemp("", "coordtop-group-") // those of the test are ours alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	folder, self = filepath.Join(top, "state"), filepath.Join(top, "self")
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.Create(self)
	if err == nil {
		_, err = io.Copy(to, from)
		err = errors.Join(err, to.Close(), os.Chmod(self, 0o755), os.Chmod(top, 0o755), os.Mkdir(folder, 0o700), os.Chown(folder, -1, group),
			os.Chmod(folder, 0o750|os.ModeSetgid))
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder, self
}

// TestMembersOfTheGroupReadARecording reads as another user, who may not write to the folder, while a process
// records, after it ended, and after one was killed.
func TestMembersOfTheGroupReadARecording(t *testing.T) {
	t.Parallel()
	const group, member = 64001, 64002
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	folder, self := groupFolder(t, group)
	o := Options{Path: filepath.Join(folder, "history.db"), Group: true}
	read := func(groups ...uint32) string {
		t.Helper()
		cmd := exec.Command(self)
		cmd.Env = []string{readEnv + "=" + o.Path}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: member, Gid: member, Groups: groups}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if got := read(group); !strings.Contains(got, "no such file") {
		t.Errorf("before anybody recorded: %s", got)
	}
	w := begun(t, o, 0)
	write(t, w, batchOf(0, sec))
	if got := read(group); got != "1 runs, live true, <nil>, busy true" {
		t.Errorf("while it is recorded: %s", got)
	}
	if got := read(); !strings.Contains(got, "permission denied") || !strings.Contains(got, "busy false") {
		t.Errorf("one who is not in the group: %s", got)
	}
	killed := copied(t, folder)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := read(group); got != "1 runs, live false, <nil>, busy false" {
		t.Errorf("after it ended: %s", got)
	}
	o.Path = killed
	if got := read(group); got != "1 runs, live false, <nil>, busy false" {
		t.Errorf("after it was killed: %s", got)
	}
}

// copied copies the files of a recording as they are, which is what a process leaves that is killed.
func copied(t *testing.T, folder string) (path string) {
	t.Helper()
	for _, end := range append(sidecars(), "", ".lock") {
		content, err := os.ReadFile(filepath.Join(folder, "history.db") + end)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		path = filepath.Join(folder, "killed.db")
		if err = errors.Join(err, os.WriteFile(path+end, content, 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestARecordingHasTheModeThatIsAskedFor takes the group away again, and lets it in again, after a run that
// left its WAL.
func TestARecordingHasTheModeThatIsAskedFor(t *testing.T) {
	t.Parallel()
	o := Options{Path: filepath.Join(t.TempDir(), "history.db")}
	for _, group := range []bool{true, false, true} {
		o.Group = group
		w := begun(t, o, 0)
		write(t, w, batchOf(0, sec))
		for _, end := range []string{"", "-wal", "-shm", ".lock"} {
			if info, err := os.Stat(o.Path + end); err != nil || info.Mode().Perm() != o.mode() {
				t.Errorf("group %v: %s: %v, %v", group, end, info, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(o.Path + "-wal"); group != (err == nil) {
			t.Errorf("group %v: of the WAL is left: %v", group, err)
		}
	}
}
