package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// watchedStore keeps what was written before it is compressed.
type watchedStore struct {
	*sqlite.Writer
	written bytes.Buffer
}

func (s *watchedStore) Write(b *history.Batch) error {
	s.written.Write(slices.Concat(b.Keyframe, b.Inputs))
	fmt.Fprintf(&s.written, "%+v %+v %+v", b.Lanes, b.Dark, b.Events)
	return s.Writer.Write(b)
}

// TestDataThatIsNotRecordedIsNowhereInTheFile has two sources with the same data, one of which is
// recorded with it.
func TestDataThatIsNotRecordedIsNowhereInTheFile(t *testing.T) {
	t.Parallel()
	for _, without := range []string{"one", "two", "none"} {
		t.Run(without, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "state")
			synctest.Test(t, func(t *testing.T) { testUnrecorded(t, folder, without) })
		})
	}
}

func testUnrecorded(t *testing.T, folder, without string) {
	store := &watchedStore{}
	inputs := sources.NewInputBuffer(0, 0)
	hub := sources.NewHub(t.Context(), sources.HubOptions{Recorder: inputs})
	ctx, cancel := context.WithCancel(t.Context())
	r := New(Options{
		Hub: hub, Inputs: inputs, Logger: slog.New(slog.DiscardHandler), WithoutData: func(source string) bool { return source == without },
		Begin: func(ctx context.Context) (Output, error) {
			var err error
			store.Writer, err = sqlite.Begin(ctx, sqlite.Options{Path: filepath.Join(folder, "history.db"), Ours: true}, history.Run{Span: history.Span{From: time.Now(), To: time.Now()}})
			return store, err
		},
	})
	var specs []sources.Spec
	for _, name := range []string{"one", "two"} {
		s := sourcetest.NewScript()
		change := func(said string) sources.Change {
			data := func(kind string) sources.Blob {
				text := name + " " + kind + " says " + said
				return sources.NewBlob([]byte(text), len(text))
			}
			p := &sources.Primitive{Ref: sources.Ref{Source: name, Name: "led"}, Kind: sources.KindElection, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, At: time.Now(),
				Data: data("row"), Owners: []sources.Owner{{ID: "a", Data: data("owner")}},
				Queue: sources.Queue{How: sources.Told, At: time.Now(), Len: 1, Waiters: []sources.Waiter{{ID: "b", Data: data("waiter")}}}}
			return sources.Change{Scope: "sc", Alive: []string{"sc"}, Synced: true, Set: []*sources.Primitive{p}}
		}
		s.OnConnect(func() []sources.Change { return []sources.Change{change("hello")} })
		time.AfterFunc(2*time.Second, func() { s.Push(change("goodbye")) })
		specs = append(specs, sources.Spec{Name: name, Type: "redis", Address: "a:1", Source: s})
	}
	done := make(chan error, 2) // both are received below
	go func() { done <- sources.Run(ctx, hub, specs) }()
	go func() { done <- r.Run(ctx) }()
	time.Sleep(5 * time.Second)
	cancel()
	if err := errors.Join(<-done, <-done); err != nil || text(r) != "" {
		t.Fatal(err, text(r))
	}
	hub.Close()
	file, err := os.ReadFile(filepath.Join(folder, "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		for _, kind := range []string{"row", "owner", "waiter"} {
			found := bytes.Contains(append(file, store.written.Bytes()...), []byte(name+" "+kind+" says"))
			if found == (name == without) {
				t.Errorf("data of the %s of %s: found %t", kind, name, found)
			}
		}
	}
}
