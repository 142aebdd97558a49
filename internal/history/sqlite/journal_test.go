package sqlite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// TestWithoutAWALReadersAndTheWriterWaitForEachOther writes as on a network file system, while others read.
func TestWithoutAWALReadersAndTheWriterWaitForEachOther(t *testing.T) {
	t.Parallel()
	o := place(t)
	o.remote = true
	w := begun(t, o, 0)
	if !strings.Contains(w.Note(), "set history.file to a local disk") {
		t.Errorf("note %q", w.Note())
	}
	write(t, w, batchOf(0, sec))
	const batches = 30
	done := make(chan error, 2)
	for range cap(done) {
		s := store(t, o)
		go func() { // received below
			for {
				runs, err := s.Runs(t.Context())
				if err == nil {
					_, err = s.Lanes(t.Context(), nil, span(0, h))
				}
				if err != nil || runs[0].To.Equal(after(batches*sec)) {
					done <- err
					return
				}
			}
		}()
	}
	for n := time.Duration(1); n < batches; n++ {
		b := batchOf(n*sec, (n+1)*sec, history.LaneChange{Ref: ref("x"), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{term("a", n*sec, n*sec+1)}})
		b.Keyframe = nil
		write(t, w, b)
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(o.Path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a WAL: %v", err)
	}
}

// TestAFullDiskRefusesABatchAsAWhole fills the file, as a quota does that no look at the disk shows.
func TestAFullDiskRefusesABatchAsAWhole(t *testing.T) {
	t.Parallel()
	o := place(t)
	w := begun(t, o, 0)
	write(t, w, batchOf(0, sec))
	most := func(pages int) {
		t.Helper()
		if _, err := w.conn.ExecContext(t.Context(), fmt.Sprintf("pragma max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	most(1) // which is what it has
	b := batchOf(sec, 2*sec, history.LaneChange{Ref: ref("x"), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{term("a", sec, 0)}})
	long := make([]byte, 200_000) // which nothing makes shorter
	_, _ = rand.NewChaCha8([32]byte{}).Read(long)
	b.Events = []sources.Event{{Seq: 1, At: after(sec), Kind: sources.EventAcquired, Ref: ref("x"), Detail: string(long)}}
	if err := w.Write(b); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("error %v, want ENOSPC", err)
	}
	s := store(t, o)
	if lanes, err := s.Lanes(t.Context(), nil, span(0, h)); err != nil || len(lanes) != 0 {
		t.Errorf("%d lanes, %v: want nothing of it", len(lanes), err)
	}
	most(1 << 20)
	write(t, w, b)
	events, err := s.Events(t.Context(), after(h), 10, 0, history.EventFilter{})
	if l := laneOf(t, s, "x", span(0, h)); err != nil || len(events) != 1 || len(l.Terms) != 1 {
		t.Errorf("%d events, terms %+v, %v", len(events), l.Terms, err)
	}
}

func TestWhatIsNoPlainFileIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make    func(path string) error
		reading error
	}{
		"is a folder":        {func(path string) error { return os.Mkdir(path, 0o700) }, history.ErrForeign},
		"is no file":         {func(path string) error { return syscall.Mkfifo(path, 0o600) }, history.ErrForeign}, // and nobody waits for its other end
		"is a symbolic link": {func(path string) error { return os.Symlink(path+".other", path) }, os.ErrNotExist},
	} {
		path := filepath.Join(t.TempDir(), "history.db")
		if err := c.make(path); err != nil {
			t.Fatal(err)
		}
		if _, err := Begin(t.Context(), Options{Path: path}, history.Run{}); err == nil || !strings.Contains(err.Error(), path+" "+name) || !strings.HasSuffix(err.Error(), "remove it") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := store(t, Options{Path: path}).Runs(t.Context()); !errors.Is(err, c.reading) {
			t.Errorf("reading what %s: %v", name, err)
		}
	}
}

// TestAPipeBesideARecordingIsWaitedForByNobody has one in the place of each file that belongs to a recording.
func TestAPipeBesideARecordingIsWaitedForByNobody(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"-wal", "-shm", "-journal", ".lock"} {
		o := place(t)
		w := begun(t, o, 0)
		write(t, w, batchOf(0, sec))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		pipe := o.Path + end
		if err := os.Remove(pipe); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		refused := func(err error) bool {
			return err != nil && strings.Contains(err.Error(), pipe+" is no file") && strings.HasSuffix(err.Error(), "remove it")
		}
		if _, err := Begin(t.Context(), o, history.Run{}); !refused(err) {
			t.Errorf("%s: writing: %v", end, err)
		}
		if _, err := store(t, o).Runs(t.Context()); !refused(err) && (end != ".lock" || err != nil) {
			t.Errorf("%s: reading: %v", end, err)
		}
	}
}

func TestALargeDiskNeedsNoMoreRoomThanARecording(t *testing.T) {
	t.Parallel()
	for all, want := range map[int64]int64{1 << 30: 64 << 20, 10_000 << 20: 200 << 20, 4 << 40: 1 << 30} {
		if got := leastFree(all); got != want {
			t.Errorf("of %d MB %d are left to others, want %d", all>>20, got>>20, want>>20)
		}
	}
}
