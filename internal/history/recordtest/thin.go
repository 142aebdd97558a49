package recordtest

import (
	"context"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
)

// Thin thins the file at path as a process does at now, and calls after, if it is not nil, after each
// step. Now and then another process goes on.
func Thin(t *testing.T, path string, now time.Time, after func(step int, done bool)) {
	t.Helper()
	var w *sqlite.Writer
	for step, done := 1, false; !done; step++ {
		if step&(step-1) == 0 {
			if w != nil {
				end(t, w)
			}
			var err error
			if w, err = sqlite.Begin(context.Background(), sqlite.Options{Path: path}, history.Run{Span: history.Span{From: now, To: now}}); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if done, err = w.Tidy(now); err != nil {
			t.Fatal(err)
		}
		if after != nil {
			after(step, done)
		}
	}
	end(t, w)
}

func end(t *testing.T, w *sqlite.Writer) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
