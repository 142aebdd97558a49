package record

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

func TestARowThatVanishesWithItsOwnerHasTheEndOfItsTerm(t *testing.T) {
	t.Parallel()
	o := sqlite.Options{Path: filepath.Join(t.TempDir(), "state", "history.db"), Ours: true}
	synctest.Test(t, func(t *testing.T) {
		refs := []sources.Ref{{Source: "s", Name: "leader"}, {Source: "s", Name: "pool"}}
		inputs := sources.NewInputBuffer(0, 0)
		hub := sources.NewHub(t.Context(), sources.HubOptions{Recorder: inputs})
		ctx, cancel := context.WithCancel(t.Context())
		r := New(Options{Hub: hub, Inputs: inputs, Logger: slog.New(slog.DiscardHandler), Begin: func(ctx context.Context) (Output, error) {
			return sqlite.Begin(ctx, o, history.Run{Span: history.Span{From: time.Now(), To: time.Now()}})
		}})
		began := time.Now()
		list := func(owner string) (set []*sources.Primitive) {
			for i, kind := range []sources.Kind{sources.KindElection, sources.KindSemaphore} {
				set = append(set, &sources.Primitive{Ref: refs[i], Kind: kind, Limit: []uint64{1, 5}[i], LimitHow: sources.Told, OwnersHow: sources.Told,
					Taken: 1, At: time.Now(), Owners: []sources.Owner{{ID: owner}}})
			}
			return set
		}
		s := sourcetest.NewScript()
		s.OnConnect(func() []sources.Change {
			return []sources.Change{{Relists: true, Alive: []string{""}}, {Alive: []string{""}, Synced: true, Set: list("a")}}
		})
		done := make(chan error, 2)
		go func() {
			done <- sources.Run(ctx, hub, []sources.Spec{{Name: "s", Type: "redis", Address: "a:1", Source: s}})
		}() // both are received below
		go func() { done <- r.Run(ctx) }()
		time.Sleep(5*time.Second + 20*time.Millisecond)
		at := time.Now()
		s.Push(sources.Change{After: at.Add(-time.Millisecond), At: at, Gone: refs})
		time.Sleep(200 * time.Millisecond) // it comes back before the next write
		s.Push(sources.Change{Set: list("b")})
		time.Sleep(3 * time.Second)
		gone := time.Now()
		s.Push(sources.Change{At: gone, Gone: refs})
		time.Sleep(3 * time.Second)
		cancel()
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
		hub.Close()
		store := sqlite.NewReader(o.Path)
		lanes, err := store.Lanes(t.Context(), refs, history.Span{From: began, To: time.Now()})
		if err = errors.Join(err, store.Close()); err != nil {
			t.Fatal(err)
		}
		for _, l := range lanes {
			if len(l.Terms) != 2 || !l.Terms[0].End.At.Equal(at) || l.Terms[0].End.How != sources.Seen || !l.Terms[1].End.At.Equal(gone) {
				t.Errorf("%s: terms %+v, want one up to %v and one up to %v", l.Ref.Name, l.Terms, at, gone)
			}
			if n := len(l.Dark); n == 0 || !l.Dark[n-1].From.Equal(gone) {
				t.Errorf("%s: dark %+v, want it from %v on", l.Ref.Name, l.Dark, gone)
			}
		}
		synctest.Wait()
	})
}

func TestWhatWasThereAlreadyIsWrittenAlsoAfterALongWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		_, hub, stop := recorded(t, d)
		time.Sleep(time.Second)
		d.fails(nil, syscall.ENOSPC)
		hub.AddEvent(sources.Event{Kind: sources.EventPresent, Ref: sources.Ref{Source: "s", Name: "n"}})
		time.Sleep(3 * time.Minute)
		d.written()
		d.fails(nil, nil)
		time.Sleep(2 * retry)
		var got int
		for _, b := range d.written() {
			for i := range b.Events {
				if b.Events[i].Kind == sources.EventPresent {
					got++
				}
			}
		}
		if got != 1 {
			t.Errorf("%d events tell of what was there", got)
		}
		stop()
	})
}
