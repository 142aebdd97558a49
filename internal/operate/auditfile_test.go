package operate_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"coordtop/internal/operate"
)

// strict reads all files of an audit and fails at a line that is no record.
func strict(t *testing.T, path string) (lines []operate.Record, files int) {
	t.Helper()
	paths, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var r operate.Record
			if err := json.Unmarshal([]byte(line), &r); err != nil || !strings.HasSuffix(line, "\n") || r.Stage == "" {
				t.Fatalf("%s has %q: %v", p, line, err)
			}
			lines = append(lines, r)
		}
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
	return lines, len(paths)
}

const writing = "COORDTOP_TEST_WRITING"

// TestSixProcessesShareAnAudit lets each write until it is killed, and begin anew: the file
// is put aside meanwhile again and again.
func TestSixProcessesShareAnAudit(t *testing.T) {
	t.Parallel()
	if path := os.Getenv(writing); path != "" {
		j := operate.NewAuditLog(path, operate.Actor{User: "ana"})
		j.Bound(20_000, 1000)
		for i := range 1_000_000 {
			name := fmt.Sprintf("%d-%d", os.Getpid(), i)
			if err := j.Write(t.Context(), operate.Record{Stage: operate.Only, Name: name, Detail: strings.Repeat("x", i%700)}); err != nil {
				fmt.Println("error", err)
				return
			}
			fmt.Println("wrote", name)
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "state", "audit.jsonl")
	var mu sync.Mutex
	wrote := map[string]bool{}
	var all sync.WaitGroup
	for n := range 6 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			for range 5 {
				names, err := writer(self, path, 20+random.IntN(60))
				mu.Lock()
				for _, name := range names {
					wrote[name] = true
				}
				mu.Unlock()
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	lines, files := strict(t, path)
	for _, r := range lines {
		delete(wrote, r.Name)
	}
	if len(wrote) > 0 {
		t.Errorf("%d lines are missing: %v", len(wrote), wrote)
	}
	if files < 10 || len(lines) < 600 {
		t.Errorf("only %d lines in %d files", len(lines), files)
	}
}

// writer runs a process that writes, kills it after so many lines, and returns their names.
func writer(self, path string, lines int) (names []string, err error) {
	cmd := exec.Command(self, "-test.run=^TestSixProcessesShareAnAudit$")
	cmd.Env = append(os.Environ(), writing+"="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	scanner := bufio.NewScanner(out)
	for len(names) < lines && scanner.Scan() {
		name, ok := strings.CutPrefix(scanner.Text(), "wrote ")
		if !ok {
			err = errors.Join(err, errors.New(scanner.Text()))
			break
		}
		names = append(names, name)
	}
	err = errors.Join(err, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	return names, err
}

func TestWhatAKilledWriterLeftOfALineIsKept(t *testing.T) {
	t.Parallel()
	whole := `{"at":"2026-01-02T03:04:05Z","id":"1","stage":"only","user":"","host":"","action":"arm"}`
	for _, c := range []struct{ name, left, detail string }{
		{"a beginning", whole[:30], whole[:30]},
		{"all but the line break", whole, ""},
		{"half a character", "{\"name\":\"\xc3", `{"name":"\xc3`},
		{"zeroes", strings.Repeat("\x00", 5000), strings.Repeat("\x00", 5000)},
		{"a number", "12", "12"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			if err := os.WriteFile(path, []byte(whole+"\n"+c.left), 0o600); err != nil {
				t.Fatal(err)
			}
			j := operate.NewAuditLog(path, operate.Actor{})
			if err := j.Write(t.Context(), operate.Record{Stage: operate.Only, Action: "new"}); err != nil {
				t.Fatal(err)
			}
			lines, _ := strict(t, path)
			if len(lines) != 3 || lines[0].ID != "1" || lines[1].Detail != c.detail || lines[2].Action != "new" {
				t.Errorf("got %+v", lines)
			}
		})
	}
}

func TestTheAuditIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	j := operate.NewAuditLog(path, operate.Actor{})
	j.Bound(2000, 3)
	for i := range 200 {
		if err := j.Write(t.Context(), operate.Record{Stage: operate.Only, Name: strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
	}
	lines, files := strict(t, path)
	if files != 4 || len(lines) < 40 || len(lines) > 100 {
		t.Errorf("%d lines in %d files", len(lines), files)
	}
	newest, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(newest), `"name":"199"`) || len(newest) > 2000 {
		t.Errorf("the newest has %q, %v", newest, err)
	}
}

func TestAnAuditThatIsNotOursAloneIsRefusedOrPutRight(t *testing.T) {
	t.Parallel()
	write := func(path string) error {
		return operate.NewAuditLog(path, operate.Actor{}).Write(t.Context(), operate.Record{Stage: operate.Only})
	}
	for name, c := range map[string]struct {
		make func(folder, file string) error
		want string // of the error; "": it is written
	}{
		"a link to a file":  {func(_, file string) error { return os.Symlink(file+".other", file) }, "is a symbolic link: remove it"},
		"a link to nothing": {func(_, file string) error { return os.Symlink("/does/not/exist", file) }, "is a symbolic link: remove it"},
		"a link to a folder": {func(folder, _ string) error {
			return errors.Join(os.Rename(folder, folder+".other"), os.Symlink(folder+".other", folder))
		}, "a symbolic link to one"},
		"a pipe":                             {func(_, file string) error { return syscall.Mkfifo(file, 0o600) }, "is no file"},
		"a folder":                           {func(_, file string) error { return os.Mkdir(file, 0o700) }, "is a folder: remove it"},
		"a socket":                           {func(_, file string) error { return syscall.Mknod(file, syscall.S_IFSOCK|0o600, 0) }, "opening "},
		"a file as folder":                   {func(folder, _ string) error { return errors.Join(os.Remove(folder), os.WriteFile(folder, nil, 0o600)) }, "is no folder"},
		"a folder in which everybody writes": {func(folder, _ string) error { return os.Chmod(filepath.Dir(folder), 0o777) }, "everybody may write to"},
		"a lax file":                         {func(_, file string) error { return errors.Join(os.WriteFile(file, nil, 0o600), os.Chmod(file, 0o666)) }, ""},
		"a lax folder":                       {func(folder, _ string) error { return os.Chmod(folder, 0o777) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "coordtop")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(folder, "audit.jsonl")
			if err := c.make(folder, file); err != nil {
				t.Fatal(err)
			}
			err := write(file)
			if c.want != "" {
				if !errors.Is(err, operate.ErrNoAudit) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			strict(t, file)
			if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the folder is %v, %v", info.Mode(), err)
			}
		})
	}
}

func TestAnAuditOfSomebodyElseIsRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	for _, name := range []string{"", "audit.jsonl"} {
		folder := t.TempDir()
		file := filepath.Join(folder, "audit.jsonl")
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chown(filepath.Join(folder, name), 4711, 4711)); err != nil {
			t.Fatal(err)
		}
		err := operate.NewAuditLog(file, operate.Actor{}).Write(t.Context(), operate.Record{Stage: operate.Only})
		if !errors.Is(err, operate.ErrNoAudit) || !strings.Contains(err.Error(), "belongs to somebody else (user id 4711)") {
			t.Errorf("got %v", err)
		}
	}
}
