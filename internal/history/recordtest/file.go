package recordtest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/record"
	"coordtop/internal/history/sqlite"
)

// File records all of log into a file, and reads it. The sqlite.Reader is closed when the test ends.
func File(t *testing.T, log history.Log) (s *sqlite.Reader, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "history.db")
	all := history.Span{From: time.Unix(0, 0), To: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}
	err := record.Copy(context.Background(), log, all, false, func(r history.Run) (record.Output, error) {
		return sqlite.Begin(context.Background(), sqlite.Options{Path: path}, r)
	})
	if err != nil {
		t.Fatal(err)
	}
	s = sqlite.NewReader(path)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, path
}
