package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/ground/raced"
)

// processes are all that own or await a lock in Postgres, by what they do.
func (d *demoRun) processes(t *testing.T) map[string]int {
	t.Helper()
	return d.candidates(t, d.locks(t), regexp.MustCompile(`^(\S+) pid \d+$`))
}

// candidates are the processes of those who own or await one of these, by what they do. The
// expression finds the name of a process in a label.
func (d *demoRun) candidates(t *testing.T, locks map[string]lockJSON, named *regexp.Regexp) map[string]int {
	t.Helper()
	running, pids := d.running(t), map[string]int{}
	add := func(what, label string) {
		t.Helper()
		form := named.FindStringSubmatch(label)
		if form == nil {
			t.Fatalf("%s is called %q, want %s", what, label, named)
		}
		if pid, ok := running[form[1]]; ok { // else it was replaced meanwhile
			pids[what] = pid
		}
	}
	for name, l := range locks {
		for i, o := range l.Owners {
			add(fmt.Sprintf("owner %d of %s", i, name), o.Label)
		}
		for i, w := range l.Queue.Waiters {
			add(fmt.Sprintf("waiter %d of %s", i, name), w.Label)
		}
	}
	if len(pids) == 0 {
		t.Fatal("no process of an owner or a waiter was found")
	}
	return pids
}

// running are the processes that the demo started, by what they call themselves.
func (d *demoRun) running(t *testing.T) map[string]int {
	t.Helper()
	list, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	for line := range strings.Lines(string(list)) {
		var pid, parent int
		if _, err := fmt.Sscan(line, &pid, &parent); err != nil {
			t.Fatalf("reading %q: %v", line, err)
		}
		_, rest, found := strings.Cut(line, `{"Name":"`)
		if name, _, _ := strings.Cut(rest, `"`); found && parent == d.cmd.Process.Pid {
			pids[name] = pid
		}
	}
	return pids
}

// owners are the processes that own the keys of the demo.
func (d *demoRun) owners(t *testing.T) map[string]int {
	t.Helper()
	owners, running := map[string]int{}, d.running(t)
	for _, key := range d.redis.Keys(context.Background(), "demo:*").Val() {
		value, err := d.redis.Get(context.Background(), key).Bytes()
		if errors.Is(err, redis.Nil) {
			continue // it ended between the two questions
		}
		if err != nil {
			t.Fatal(err)
		}
		label, _, _ := strings.Cut(string(rediscoord.OwnerOf(value).Data), " ")
		if pid, ok := running[label]; ok { // else it was replaced meanwhile
			owners[key] = pid
		}
	}
	return owners
}

func TestADemoRemovesTheFoldersOfOneThatWasKilledAndNoOthers(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it starts a hundred processes and kills them from outside; other tests run demos with the race detector")
	temp, err := os.MkdirTemp("", "coordtop-test-") // not t.TempDir: the user of Postgres must get in
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	if err := os.Chmod(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	start := func(before []string) (cmd *exec.Cmd, s *screen, folder string) {
		t.Helper()
		cmd = withoutRedis(t)
		cmd.Env = append(cmd.Env, "TMPDIR="+temp)
		s = onScreen(t, cmd)
		eventually(t, "it records in a folder of its own", func() bool {
			for _, f := range recordings(t, temp) {
				if !slices.Contains(before, f) {
					folder = f
				}
			}
			return folder != ""
		})
		return cmd, s, folder
	}
	live, liveScreen, kept := start(nil)
	dead, _, left := start([]string{kept})
	if err := dead.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = dead.Wait() // it was killed, so this is an error by design
	if !slices.Contains(recordings(t, temp), left) {
		t.Error("there is nothing to remove")
	}
	next, nextScreen, own := start([]string{kept, left})
	if got := recordings(t, temp); len(got) != 2 || !slices.Contains(got, kept) || !slices.Contains(got, own) {
		t.Errorf("left are %v, not %s and %s", got, kept, own)
	}
	for cmd, s := range map[*exec.Cmd]*screen{live: liveScreen, next: nextScreen} {
		if _, err := s.file.WriteString("q"); err != nil {
			t.Fatal(err)
		}
		if code := ends(t, cmd); code != exitOK {
			t.Errorf("exit code %d", code)
		}
	}
	defer func() {
		if t.Failed() {
			_ = filepath.WalkDir(temp, func(path string, _ os.DirEntry, _ error) error { t.Log(path); return nil })
		}
	}()
	eventually(t, "all folders are gone", func() bool {
		found, err := os.ReadDir(temp)
		return err == nil && len(found) == 0
	})
}

// recordings are the folders in which demos record.
func recordings(t *testing.T, temp string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(temp, "coordtop-demo-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
