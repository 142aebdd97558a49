package record

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

func TestWhatGoesFromHandToHandBetweenTwoWritesHasOneOwner(t *testing.T) {
	t.Parallel()
	for kind, limit := range map[sources.Kind]uint64{sources.KindMutex: 1, sources.KindSemaphore: 2} {
		t.Run(kind.String(), func(t *testing.T) { t.Parallel(); handedOn(t, kind, limit) })
	}
}

// handedOn has 100 owners one after the other, between two writes.
func handedOn(t *testing.T, kind sources.Kind, limit uint64) {
	o := sqlite.Options{Path: filepath.Join(t.TempDir(), "state", "history.db"), Ours: true}
	synctest.Test(t, func(t *testing.T) {
		lock := sources.Ref{Source: "s", Name: "lock"}
		began := time.Now()
		inputs := sources.NewInputBuffer(0, 0)
		hub := sources.NewHub(t.Context(), sources.HubOptions{Recorder: inputs})
		ctx, cancel := context.WithCancel(t.Context())
		r := New(Options{Hub: hub, Inputs: inputs, Logger: slog.New(slog.DiscardHandler), Begin: func(ctx context.Context) (Output, error) {
			return sqlite.Begin(ctx, o, history.Run{Span: history.Span{From: time.Now(), To: time.Now()}})
		}})
		s := sourcetest.NewScript()
		set := func(owner string) []*sources.Primitive {
			return []*sources.Primitive{{Ref: lock, Kind: kind, Limit: limit, LimitHow: sources.Told, OwnersHow: sources.Told, Taken: 1, At: time.Now(), Owners: []sources.Owner{{ID: owner}}}}
		}
		s.OnConnect(func() []sources.Change {
			return []sources.Change{{Scope: "sc", Relists: true, Alive: []string{"sc"}}, {Scope: "sc", Alive: []string{"sc"}, Synced: true, Set: set("first")}}
		})
		done := make(chan error, 2)
		go func() { // both are joined below
			done <- sources.Run(ctx, hub, []sources.Spec{{Name: "s", Type: "redis", Address: "a:1", Source: s}})
		}()
		go func() { done <- r.Run(ctx) }()
		time.Sleep(3010 * time.Millisecond)
		for i := range 100 {
			s.Push(sources.Change{Scope: "sc", At: time.Now(), Alive: []string{"sc"}, Set: set(fmt.Sprint("w", i))})
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		rd := sqlite.NewReader(o.Path)
		lanes, err := rd.Lanes(t.Context(), []sources.Ref{lock}, history.Span{From: began, To: time.Now()})
		if err = errors.Join(err, rd.Close()); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, x := range lanes[0].Terms {
			if x.End.How == sources.Unknown {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d of %d terms run at once, of a lock that one owner has", n, len(lanes[0].Terms))
		}
		cancel()
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
		hub.Close()
	})
}

// flaky fails once, at the second Batch that is full of events.
type flaky struct {
	Output
	left *int
}

func (f *flaky) Write(b *history.Batch) error {
	if len(b.Events) >= 500 {
		if *f.left--; *f.left == 0 {
			return errors.New("disk I/O error")
		}
	}
	return f.Output.Write(b)
}

func TestEventsThatWereWrittenBeforeAFailureAreNotWrittenAgain(t *testing.T) {
	t.Parallel()
	o := sqlite.Options{Path: filepath.Join(t.TempDir(), "state", "history.db"), Ours: true}
	synctest.Test(t, func(t *testing.T) {
		inputs := sources.NewInputBuffer(0, 0)
		hub := sources.NewHub(t.Context(), sources.HubOptions{Recorder: inputs})
		ctx, cancel := context.WithCancel(t.Context())
		left := 2
		r := New(Options{Hub: hub, Inputs: inputs, Logger: slog.New(slog.DiscardHandler), Begin: func(ctx context.Context) (Output, error) {
			w, err := sqlite.Begin(ctx, o, history.Run{Span: history.Span{From: time.Now(), To: time.Now()}})
			if err != nil {
				return nil, err
			}
			return &flaky{w, &left}, nil
		}})
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }() // joined below
		time.Sleep(2010 * time.Millisecond)
		for i := range 1200 {
			hub.AddEvent(sources.Event{Kind: sources.EventAction, Ref: sources.Ref{Source: "s", Name: "n"}, Detail: fmt.Sprint(i)})
		}
		time.Sleep(30 * time.Second)
		rd := sqlite.NewReader(o.Path)
		events, err := rd.Events(t.Context(), time.Now(), 10000, 0, history.EventFilter{})
		if err = errors.Join(err, rd.Close()); err != nil {
			t.Fatal(err)
		}
		times := map[string]int{}
		twice := 0
		for _, e := range events {
			if times[e.Detail]++; times[e.Detail] == 2 {
				twice++
			}
		}
		if len(times) != 1200 || twice > 0 {
			t.Errorf("%d of 1200 events, %d of them twice", len(times), twice)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		hub.Close()
	})
}
