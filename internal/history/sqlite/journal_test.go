package sqlite

import (
	"errors"
	"os"
	"strings"
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
