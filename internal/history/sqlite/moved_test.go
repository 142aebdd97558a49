package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// other makes a whole recording elsewhere, in which "other" was owned, and returns its path.
func other(t *testing.T) string {
	t.Helper()
	o := place(t)
	w := begun(t, o, 0)
	write(t, w, batchOf(0, time.Minute, history.LaneChange{Ref: ref("other"), At: after(0), Terms: []sources.Term{term("A", time.Second, 0)}}))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return o.Path
}

// move renames a file, and what lies beside it as far as ends name it.
func move(t *testing.T, from, to string, ends ...string) {
	t.Helper()
	for _, end := range append(ends, "") {
		if err := os.Rename(from+end, to+end); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(t *testing.T, path string, ends ...string) {
	t.Helper()
	for _, end := range ends {
		if err := os.Remove(path + end); err != nil {
			t.Fatal(err)
		}
	}
}

// recordedNames are the lanes of the recording at path; "?": none can be read.
func recordedNames(t *testing.T, path string) string {
	t.Helper()
	s := store(t, Options{Path: path})
	totals, err := s.Totals(t.Context(), span(0, time.Hour))
	if err != nil {
		return "?"
	}
	var names []string
	for _, total := range totals {
		names = append(names, total.Ref.Name)
	}
	return strings.Join(names, " ")
}

// TestAFileThatIsMovedIsNoticed moves the recording away under its Writer. Nothing that was written is lost with a
// file that is still there, and nobody joins what one file says with another one.
func TestAFileThatIsMovedIsNoticed(t *testing.T) {
	tests := map[string]struct {
		do      func(t *testing.T, path, away string)
		between string // what can be read at the path before it is noticed
		after   string // and afterwards, with "new"
		away    string // of the file that was moved
	}{
		"renamed":                     {func(t *testing.T, path, away string) { move(t, path, away) }, "?", "new", "old"},
		"renamed with what is beside": {func(t *testing.T, path, away string) { move(t, path, away, "-wal", "-shm") }, "?", "new", "old"},
		"replaced": {func(t *testing.T, path, away string) {
			from := other(t)
			move(t, path, away)
			move(t, from, path)
		}, "?", "other new", "old"},
		"replaced, and the old one dropped": {func(t *testing.T, path, _ string) { move(t, other(t), path) }, "?", "other new", "?"},
		"removed":                           {func(t *testing.T, path, _ string) { remove(t, path, "") }, "?", "new", "?"},
		"removed with what is beside":       {func(t *testing.T, path, _ string) { remove(t, path, "", "-wal", "-shm", ".lock") }, "?", "new", "?"},
		"its log removed":                   {func(t *testing.T, path, _ string) { remove(t, path, "-wal") }, "?", "old new", "?"},
		"the index of its log removed":      {func(t *testing.T, path, _ string) { remove(t, path, "-shm") }, "old", "old new", "?"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := place(t)
			away := filepath.Join(t.TempDir(), "moved.db")
			w := begun(t, o, 0)
			write(t, w, batchOf(0, time.Minute, history.LaneChange{Ref: ref("old"), At: after(0), Terms: []sources.Term{term("A", time.Second, 0)}}))
			test.do(t, o.Path, away)
			if got := recordedNames(t, o.Path); got != test.between {
				t.Errorf("before it is noticed %q is read, not %q", got, test.between)
			}
			b := batchOf(time.Minute, 2*time.Minute)
			if err := w.Write(b); !errors.Is(err, history.ErrMoved) {
				t.Fatalf("%v, want ErrMoved", err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			w = begun(t, o, 2*time.Minute)
			write(t, w, batchOf(2*time.Minute, 3*time.Minute, history.LaneChange{Ref: ref("new"), At: after(0), Terms: []sources.Term{term("B", 2*time.Minute, 0)}}))
			if got := recordedNames(t, o.Path); got != test.after {
				t.Errorf("afterwards %q is read, not %q", got, test.after)
			}
			if got := recordedNames(t, away); got != test.away {
				t.Errorf("of the one that was moved %q is read, not %q", got, test.away)
			}
		})
	}
}

// TestTheLogOfAnotherFileIsSetAside replaces the file of a recorder that was killed: its WAL is still there.
func TestTheLogOfAnotherFileIsSetAside(t *testing.T) {
	o := place(t)
	killed := begun(t, o, 0)
	write(t, killed, batchOf(0, time.Minute, history.LaneChange{Ref: ref("old"), At: after(0), Terms: []sources.Term{term("A", time.Second, 0)}}))
	if err := unlock(killed.locked); err != nil {
		t.Fatal(err)
	}
	killed.locked = nil
	away := filepath.Join(filepath.Dir(o.Path), "moved.db")
	move(t, o.Path, away)
	move(t, other(t), o.Path)
	if got := recordedNames(t, o.Path); got != "?" {
		t.Errorf("%q is read of a file with the log of another", got)
	}
	w := begun(t, o, time.Hour)
	if !strings.Contains(w.Note(), "history.db-wal.stray-") {
		t.Errorf("the note is %q", w.Note())
	}
	if got := recordedNames(t, o.Path); got != "other" {
		t.Errorf("%q is read", got)
	}
	strays, err := filepath.Glob(o.Path + "-wal.stray-*")
	if err != nil || len(strays) != 1 {
		t.Fatalf("%v %v", strays, err)
	}
	move(t, strays[0], away+"-wal")
	if got := recordedNames(t, away); got != "old" {
		t.Errorf("%q is read of the file with its own log", got)
	}
}

// TestACopyWithAllThatIsBesideIsRead copies the files of a recording while they are written to.
func TestACopyWithAllThatIsBesideIsRead(t *testing.T) {
	o := place(t)
	w := begun(t, o, 0)
	write(t, w, batchOf(0, time.Minute, history.LaneChange{Ref: ref("old"), At: after(0), Terms: []sources.Term{term("A", time.Second, 0)}}))
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(filepath.Dir(o.Path))); err != nil {
		t.Fatal(err)
	}
	if got := recordedNames(t, filepath.Join(to, filepath.Base(o.Path))); got != "old" {
		t.Errorf("%q is read of the copy", got)
	}
}

// TestAPageThatNothingReadsIsFoundDamagedBesideTheWriting spoils the Inputs of a recording, which Begin does not read.
func TestAPageThatNothingReadsIsFoundDamagedBesideTheWriting(t *testing.T) {
	o := place(t)
	w := begun(t, o, 0)
	inputs := make([]byte, 2*(256<<10)) // they are a chunk at once, and as they are in the file: nothing is shorter
	_, _ = rand.NewChaCha8([32]byte{}).Read(inputs)
	first := batchOf(0, time.Minute)
	first.Inputs = inputs
	write(t, w, first)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	part := inputs[(256 << 10):][:64]
	if !bytes.Contains(b, part) {
		t.Fatal("the test does not find the Inputs")
	}
	for at := bytes.Index(b, part); at >= 0; at = bytes.Index(b, part) { // those that were deleted again too
		copy(b[at/4096*4096:], bytes.Repeat([]byte{0x5a}, 4096))
	}
	overwrite(t, o.Path, b)
	w = begun(t, o, time.Hour)
	if w.Note() != "" {
		t.Fatalf("Begin has read it: %s", w.Note())
	}
	err = nil
	for began := time.Now(); err == nil && time.Since(began) < time.Minute; {
		err = w.Write(batchOf(time.Hour, time.Hour))
	}
	if !errors.Is(err, history.ErrMoved) || !strings.Contains(fmt.Sprint(err), "it was renamed to "+o.Path+".broken-") {
		t.Fatalf("the error is %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = begun(t, o, time.Hour)
	write(t, w, batchOf(time.Hour, 2*time.Hour))
	if runs, err := store(t, o).Runs(t.Context()); err != nil || len(runs) != 1 {
		t.Errorf("%+v %v: want a new recording", runs, err)
	}
}
