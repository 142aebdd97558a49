package recordtest

import (
	"context"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
)

// Thin thins the file at path as a process does at now, and calls after, if it is not nil, after each
// step.
func Thin(t *testing.T, path string, now time.Time, after func(step int, done bool)) {
	t.Helper()
	for step, done := 1, false; !done; {
		w, err := sqlite.Begin(context.Background(), sqlite.Options{Path: path}, history.Run{Span: history.Span{From: now, To: now}})
		if err != nil {
			t.Fatal(err)
		}
		for same := true; same && !done; step++ {
			if done, err = w.Tidy(now); err != nil {
				t.Fatal(err)
			}
			if after != nil {
				after(step, done)
			}
			same = step&(step+1) != 0 // another process goes on now and then
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
