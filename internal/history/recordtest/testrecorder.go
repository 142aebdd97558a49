package recordtest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/record"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
)

// Recorder records Hubs into the file at Path, one after the other. Like in the program, each Hub starts with the last
// recorded state.
type Recorder struct {
	Path string
	Wrap func(record.Output) record.Output // nil: the Output is used unchanged

	inputs *sources.InputBuffer
}

// Begin returns the options of the next Hub.
func (r *Recorder) Begin() (sources.HubOptions, error) {
	s := sqlite.NewReader(r.Path)
	last, err := history.LastKnown(context.Background(), s, nil, nil)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	r.inputs = sources.NewInputBuffer(0, 0)
	return sources.HubOptions{Recorder: r.inputs, Resume: last}, errors.Join(err, s.Close())
}

// Record records hub, which was made with these options, until it is stopped.
func (r *Recorder) Record(hub *sources.Hub) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	recorder := record.New(record.Options{Hub: hub, Inputs: r.inputs, Logger: slog.New(slog.DiscardHandler), Begin: func(ctx context.Context) (record.Output, error) {
		now := hub.Now().Wall
		store, err := sqlite.Begin(ctx, sqlite.Options{Path: r.Path}, history.Run{Span: history.Span{From: now, To: now}, Host: "test", PID: 1})
		if err != nil || r.Wrap == nil {
			return store, err
		}
		return r.Wrap(store), nil
	}})
	done := make(chan error, 1)
	go func() { done <- recorder.Run(ctx) }() // received in stop
	return func() error {
		cancel()
		err := <-done
		if text, _ := recorder.Recording(); text != "" {
			err = errors.Join(err, errors.New(text))
		}
		return err
	}
}

// File records all of log into a file, and returns a Reader of it, which is closed when the test ends.
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
