package truth

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what has to come.
const patience = 2 * time.Minute

// built is the program, made once for all tests.
type built struct {
	once sync.Once
	dir  string
	path string
	err  error
	out  []byte
}

// programPath builds the program, unless -program or COORDTOP_TRUTH_PROGRAM names one. A verdict is kept by
// the go command until a file changes that the tests looked at, so they look at the program, or at all that it is
// built from.
func (b *built) programPath(t testing.TB) string {
	t.Helper()
	if *program != "" {
		return *program
	}
	if path := os.Getenv("COORDTOP_TRUTH_PROGRAM"); path != "" {
		if _, err := os.Stat(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	b.once.Do(func() {
		if b.err = lookAtSources("../.."); b.err != nil {
			return
		}
		if b.dir, b.err = os.MkdirTemp("", "coordtop-truth"); b.err == nil {
			b.path = filepath.Join(b.dir, "coordtop")
			build := exec.Command("go", "build", "-tags", "grpcnotrace", "-o", b.path, "coordtop")
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			b.out, b.err = build.CombinedOutput()
		}
	})
	if b.err != nil {
		t.Fatalf("building the program: %v\n%s", b.err, b.out)
	}
	return b.path
}

// lookAtSources looks at the files of the module.
func lookAtSources(root string) error {
	for _, name := range []string{"go.mod", "main.go", "coord", "internal", "sources", "ui"} {
		err := filepath.WalkDir(filepath.Join(root, name), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			return err
		}
	}
	return nil
}

// watch is a running "coordtop watch -o json".
type watch struct {
	t    testing.TB
	cmd  *exec.Cmd
	read sync.WaitGroup
	errs bytes.Buffer

	mu    sync.Mutex
	lines []line
	bad   error
	more  chan struct{} // closed, and replaced, with each line
}

func command(t testing.TB, path string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	return cmd
}

// startWatch starts the program, and ends it with the test unless stop did.
func startWatch(t testing.TB, path string, args ...string) *watch {
	t.Helper()
	w := &watch{t: t, cmd: command(t, path, append([]string{"watch", "-o", "json"}, args...)...), more: make(chan struct{})}
	w.cmd.Stderr = &w.errs
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.read.Go(func() { w.receive(out) }) // ends with the program
	t.Cleanup(func() {
		if w.cmd.ProcessState == nil {
			_ = w.cmd.Process.Kill()
			w.read.Wait()
			_ = w.cmd.Wait()
		}
	})
	return w
}

func (w *watch) receive(out io.Reader) {
	scan := bufio.NewScanner(out)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		l, err := parseLine(scan.Bytes())
		w.mu.Lock()
		w.lines = append(w.lines, l)
		if err != nil && w.bad == nil {
			w.bad = err
		}
		close(w.more)
		w.more = make(chan struct{})
		w.mu.Unlock()
	}
}

// await waits until the lines are as wished; false: they never were.
func (w *watch) await(wish func([]line) bool) bool {
	w.t.Helper()
	bound := time.NewTimer(patience)
	defer bound.Stop()
	for {
		w.mu.Lock()
		lines, more := w.lines, w.more
		w.mu.Unlock()
		if wish(lines) {
			return true
		}
		select {
		case <-more:
		case <-bound.C:
			return false
		}
	}
}

// stop ends the program as ctrl-c does and returns all that it printed.
func (w *watch) stop() []line {
	w.t.Helper()
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		w.t.Fatal(err)
	}
	w.read.Wait()
	if err := w.cmd.Wait(); err != nil || w.errs.Len() > 0 {
		w.t.Errorf("the program ended with %v: %s", err, w.errs.String())
	}
	if w.bad != nil {
		w.t.Error(w.bad)
	}
	return w.lines
}

// shows reports whether the lines so far end in these owners and waiters.
func shows(lines []line, owners, waiters map[string]map[string]int) bool {
	type set = map[string]map[string]int
	own, wait := set{}, set{}
	add := func(s set, row, who string, in bool) {
		if s[row] == nil {
			s[row] = map[string]int{}
		}
		if in {
			s[row][who]++
		} else {
			less(s[row], who)
		}
	}
	for i := range lines {
		l := &lines[i]
		if l.Event == "present" && l.Owner != nil {
			add(own, l.row(), l.Owner.key(), true)
		}
		for _, c := range l.claims() {
			switch c.what {
			case begins, ends:
				add(own, l.row(), c.who.key(), c.what == begins)
				if c.what == begins {
					add(wait, l.row(), c.who.key(), false)
				}
			case joins, leaves:
				add(wait, l.row(), c.who.key(), c.what == joins)
			}
		}
	}
	return equalSets(own, owners) && equalSets(wait, waiters)
}

func equalSets(a, b map[string]map[string]int) bool {
	covers := func(x, y map[string]map[string]int) bool {
		for row := range x {
			for who, n := range x[row] {
				if n > y[row][who] {
					return false
				}
			}
		}
		return true
	}
	return covers(a, b) && covers(b, a)
}

// sampling is the pause between two looks that the program prints.
func sampling(t testing.TB, path string, args ...string) time.Duration {
	t.Helper()
	out, err := command(t, path, append([]string{"get", "-o", "json"}, args...)...).Output()
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	var got struct {
		Sources []struct {
			Sampling int64 `json:"sampling_ms"`
		}
	}
	if err := json.Unmarshal(out, &got); err != nil || len(got.Sources) != 1 {
		t.Fatalf("get printed %s: %v", out, err)
	}
	return time.Duration(got.Sources[0].Sampling) * time.Millisecond
}
