package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

var t0 = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return t0.Add(d) }

func ref(name string) sources.Ref { return sources.Ref{Source: "leases", Space: "0", Name: name} }

func seen(d time.Duration) sources.Stamp { return sources.Stamp{At: after(d), How: sources.Seen} }

func term(owner string, from, to time.Duration) sources.Term {
	t := sources.Term{Owner: sources.OwnerRef{ID: owner, Fence: 7}, Start: seen(from)}
	if to != 0 {
		t.End, t.Cause, t.How = seen(to), sources.CauseReleased, sources.Inferred
	}
	return t
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

// from and to bound a Batch, whose group is of no interest.
func batchOf(from, to time.Duration, lanes ...history.LaneChange) *history.Batch {
	return &history.Batch{
		Keyframe: []byte("key"), Inputs: []byte("inputs"), Count: 1, Seq: [2]uint64{1, 2},
		Span: history.Span{From: after(from), To: after(to)}, Lanes: lanes,
	}
}

func write(t *testing.T, w *Writer, b *history.Batch) {
	t.Helper()
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
}

func span(from, to time.Duration) history.Span { return history.Span{From: after(from), To: after(to)} }

// laneOf is what is recorded of one primitive.
func laneOf(t *testing.T, s *Reader, name string, span history.Span) history.Lane {
	t.Helper()
	lanes, err := s.Lanes(t.Context(), []sources.Ref{ref(name)}, span)
	if err != nil {
		t.Fatal(err)
	}
	return lanes[0]
}
