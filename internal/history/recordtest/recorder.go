package recordtest

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"coordtop/internal/history"
	"coordtop/internal/history/record"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
)

// Recorder records Hubs into the file at Path, one after the other, each of which goes on with
// what the last one knew: what the program does.
type Recorder struct {
	Path string
	Wrap func(record.Output) record.Output // nil: as it is

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
