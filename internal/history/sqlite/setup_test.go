package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/storetest"
	"coordtop/sources"
)

const h, m, sec = time.Hour, time.Minute, time.Second

var t0 = storetest.T0

func after(d time.Duration) time.Time { return storetest.After(d) }

func ref(name string) sources.Ref { return storetest.Ref(name) }

func term(owner string, from, to time.Duration) sources.Term { return storetest.Term(owner, from, to) }

func batchOf(from, to time.Duration, lanes ...history.LaneChange) *history.Batch {
	return storetest.BatchOf(from, to, lanes...)
}

func span(from, to time.Duration) history.Span { return storetest.Span(from, to) }

func event(at time.Duration, name string) sources.Event { return storetest.Event(at, name) }

func equal(a, b any) bool { return storetest.Equal(a, b) }

func write(t *testing.T, w *Writer, b *history.Batch) { t.Helper(); storetest.Write(t, w, b) }

func tidied(t *testing.T, w *Writer, now time.Time) (steps int) {
	t.Helper()
	return storetest.Tidied(t, w, now)
}

func laneOf(t *testing.T, s *Reader, name string, span history.Span) history.Lane {
	t.Helper()
	return storetest.LaneOf(t, s, name, span)
}

// placeOf describes a file to the tests of all stores.
func placeOf(t *testing.T, o Options) storetest.Place {
	return storetest.Place{
		Begin: func(run history.Run) (storetest.Writer, error) {
			w, err := Begin(t.Context(), o, run)
			if err != nil {
				return nil, err
			}
			return w, nil
		},
		Read: func() storetest.Reader { return NewReader(o.Path) },
	}
}

func TestAFileIsAStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, keep time.Duration) storetest.Place {
		o := place(t)
		o.Limits.Keep = keep
		return placeOf(t, o)
	})
}

// place is where a test keeps its recording.
func place(t *testing.T) Options {
	t.Helper()
	return Options{Path: filepath.Join(t.TempDir(), "state", "history.db"), Ours: true}
}

// begun is a Writer of a run that began so late, which ends with the test.
func begun(t *testing.T, o Options, began time.Duration) *Writer {
	t.Helper()
	w, err := Begin(t.Context(), o, history.Run{Span: history.Span{From: after(began)}, Host: "here", PID: 1, Version: "v"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// store reads what a test has written.
func store(t *testing.T, o Options) *Reader {
	t.Helper()
	s := NewReader(o.Path)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
