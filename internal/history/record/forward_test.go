package record

import (
	"context"
	"coordtop/internal/ground/spawn"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/sqlite"
	"coordtop/internal/history/storetest"
	"coordtop/sources"
)

// forgetful is a spool that drops all before an instant after some pieces were read.
type forgetful struct {
	history.Log
	dropped time.Time
	left    int // pieces that are read before
}

func (f *forgetful) Cursor(ctx context.Context, run int64, at time.Time) (history.Cursor, error) {
	if f.left <= 0 {
		at = sources.Later(at, f.dropped)
	}
	c, err := f.Log.Cursor(ctx, run, at)
	return forgetfulCursor{c, f, f.left > 0}, err
}

type forgetfulCursor struct {
	history.Cursor
	f     *forgetful
	early bool
}

func (c forgetfulCursor) Next(ctx context.Context) (history.Piece, error) {
	if c.f.left--; c.early && c.f.left <= 0 {
		return history.Piece{}, history.ErrDropped
	}
	return c.Cursor.Next(ctx)
}

// later is a spool whose first run ended with a write that had no Inputs.
type later struct{ history.Log }

func (l later) Runs(ctx context.Context) ([]history.Run, error) {
	runs, err := l.Log.Runs(ctx)
	runs = slices.Clone(runs)
	runs[0].To = runs[0].To.Add(time.Second)
	return runs, err
}

func TestARunWhoseInputsAreCopiedKeepsBackNoOther(t *testing.T) {
	t.Parallel()
	var hour *historytest.Log
	synctest.Test(t, func(t *testing.T) { hour = historytest.Hour(t, nil, nil) })
	runs, err := hour.Runs(t.Context())
	if err != nil || len(runs) < 2 {
		t.Fatal(runs, err)
	}
	var begun []time.Time
	done := make(chan struct{})
	close(done)
	f := NewForwarder(ForwardOptions{From: later{hour}, Done: done,
		Begin: func(_ context.Context, run history.Run) (Output, error) {
			begun = append(begun, run.From)
			return nil, errors.New("this is enough")
		},
		Since: func(context.Context, []history.Run) (map[int64]time.Time, error) {
			return map[int64]time.Time{runs[0].ID: runs[0].To}, nil
		},
	})
	if err := f.Run(t.Context()); err != nil || len(begun) != 1 || !begun[0].Equal(runs[1].From) {
		t.Errorf("%v, a run began at %v, want the second of %+v", err, begun, runs)
	}
}

// whole lets all runs be copied.
func whole(context.Context, []history.Run) (map[int64]time.Time, error) { return nil, nil }

// superseded is an Output of a run that another recorder has taken over.
type superseded struct{ Output }

func (superseded) Write(*history.Batch) error { return history.ErrSuperseded }

func TestACopyEndsOnceAnotherRecorderHasTakenOver(t *testing.T) {
	t.Parallel()
	var hour *historytest.Log
	synctest.Test(t, func(t *testing.T) { hour = historytest.Hour(t, nil, nil) })
	for _, begin := range []func(context.Context, history.Run) (Output, error){
		func(context.Context, history.Run) (Output, error) { return nil, history.ErrSuperseded },
		func(ctx context.Context, run history.Run) (Output, error) {
			w, err := sqlite.Begin(ctx, sqlite.Options{Path: filepath.Join(t.TempDir(), "store.db")}, run)
			return superseded{w}, err
		},
	} {
		f := NewForwarder(ForwardOptions{From: hour, Begin: begin, Since: whole})
		if err := f.Run(t.Context()); !errors.Is(err, history.ErrSuperseded) || !f.Wrote().IsZero() {
			t.Errorf("%v, and it wrote at %v", err, f.Wrote())
		}
	}
}

// failing is an Output that fails at first, now and then.
type failing struct {
	Output
	n *int
}

func (o failing) Write(b *history.Batch) error {
	if *o.n++; *o.n%500 == 1 {
		return errors.New("a store that is away")
	}
	return o.Output.Write(b)
}

func TestWhatTheSpoolDroppedIsAHoleOfTheStore(t *testing.T) {
	t.Parallel()
	var hour *historytest.Log
	synctest.Test(t, func(t *testing.T) { hour = historytest.Hour(t, nil, nil) })
	hour.Group = 40
	path := filepath.Join(t.TempDir(), "store.db")
	store := sqlite.NewReader(path)
	defer closed(t, store)
	runs, err := hour.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	noon := runs[0].From
	spool := &forgetful{Log: hour, dropped: noon.Add(20 * time.Minute), left: 3}
	failures := 0
	f := NewForwarder(ForwardOptions{From: spool,
		Begin: func(ctx context.Context, run history.Run) (Output, error) {
			w, err := sqlite.Begin(ctx, sqlite.Options{Path: path, Limits: sqlite.Limits{Keep: 100 * 365 * 24 * time.Hour}}, run)
			if err != nil {
				return nil, err
			}
			return failing{w, &failures}, nil
		},
		Since: func(ctx context.Context, from []history.Run) (map[int64]time.Time, error) {
			runs, _ := store.Runs(ctx) // none while there is no file yet
			since := map[int64]time.Time{}
			for _, run := range from {
				if len(runs) > 0 {
					since[run.ID] = runs[len(runs)-1].To
				}
			}
			return since, nil
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	whole := func() bool {
		got, _ := store.Runs(t.Context())
		return len(got) > 0 && !got[len(got)-1].To.Before(runs[len(runs)-1].To) && !got[len(got)-1].Live
	}
	for late := time.After(30 * time.Second); !whole(); {
		select {
		case <-late:
			text, _ := f.Status()
			got, _ := store.Runs(t.Context())
			t.Fatalf("the store has %+v of %+v: %s", got, runs, text)
		case <-time.After(20 * time.Millisecond):
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	got, err := store.Runs(t.Context())
	if err != nil || len(got) != len(runs)+1 || !got[1].From.After(got[0].To) || got[1].From.After(spool.dropped) {
		t.Fatalf("runs %+v, %v: want one more than %+v, with a hole before its second", got, err, runs)
	}
	var want []history.Event
	all, _ := hour.Events(t.Context(), noon.Add(48*time.Hour), 10_000, 0, history.EventFilter{})
	for _, e := range all {
		if !e.At.After(got[0].To) || e.At.After(got[1].From) {
			want = append(want, e)
		}
	}
	events, err := store.Events(t.Context(), noon.Add(48*time.Hour), 10_000, 0, history.EventFilter{})
	for i := range events {
		events[i].Run = 0
	}
	for i := range want {
		want[i].Run, want[i].Mono = 0, 0
	}
	if err != nil || len(want) == 0 || !storetest.Equal(events, want) {
		t.Errorf("%d events, %v; want the %d outside the hole from %v to %v", len(events), err, len(want), got[0].To.Sub(noon), got[1].From.Sub(noon))
	}
}

// noted is an Output that counts its writes and announces each.
type noted struct {
	Output
	n    *atomic.Int64
	wake chan struct{}
}

func (o noted) Write(b *history.Batch) error {
	err := o.Output.Write(b)
	o.n.Add(1)
	spawn.Wake(o.wake)
	return err
}

func TestTheStoreIsWrittenNoMoreOftenThanTheSpool(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path, inputs, wake := filepath.Join(t.TempDir(), "spool.db"), sources.NewInputBuffer(0, 0), make(chan struct{}, 1)
		hub := sources.NewHub(t.Context(), sources.HubOptions{Recorder: inputs})
		defer hub.Close()
		var spooled, stored atomic.Int64
		ctx, stop := context.WithCancel(t.Context())
		r := New(Options{Hub: hub, Inputs: inputs, Followed: true, Begin: func(ctx context.Context) (Output, error) {
			now := hub.Now().Wall
			w, err := sqlite.Begin(ctx, sqlite.Options{Path: path}, history.Run{Span: history.Span{From: now, To: now}})
			return noted{w, &spooled, wake}, err
		}})
		spool := sqlite.NewReader(path)
		defer closed(t, spool)
		f := NewForwarder(ForwardOptions{From: spool, Wake: wake,
			Begin: func(context.Context, history.Run) (Output, error) {
				return noted{&disk{}, &stored, make(chan struct{}, 1)}, nil
			},
			Since: whole,
		})
		var running sync.WaitGroup
		running.Go(func() {
			if err := r.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(2 * time.Second) // there is a spool
		running.Go(func() {
			if err := f.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(5 * time.Second)
		before, was := spooled.Load(), stored.Load()
		for range 30 { // as a source that is at rest
			hub.AddEvent(sources.Event{Kind: sources.EventNote})
			time.Sleep(time.Millisecond)
			hub.AddEvent(sources.Event{Kind: sources.EventNote})
			time.Sleep(time.Second)
		}
		if writes, copies := spooled.Load()-before, stored.Load()-was; was == 0 || copies < writes-2 || copies > writes+2 {
			t.Errorf("%d writes of the spool were %d of the store, and %d at first", writes, copies, was)
		}
		stop()
		running.Wait()
	})
}

// aged is a store that keeps the times by which it should drop old records.
type aged struct {
	Output
	before time.Time
	tidied *[]time.Time
}

func (aged) Write(*history.Batch) error { return nil }

func (a aged) Before() time.Time { return a.before }

func (a aged) Tidy(now time.Time) (done bool, err error) {
	*a.tidied = append(*a.tidied, now)
	return true, nil
}

func TestAClockThatIsAheadDropsNothingFromTheStore(t *testing.T) {
	t.Parallel()
	previous := time.Now().AddDate(0, 0, -40) // the end of a run, as the other clocks have it
	before, tidied := previous, []time.Time(nil)
	f := NewForwarder(ForwardOptions{Begin: func(context.Context, history.Run) (Output, error) {
		return aged{before: before, tidied: &tidied}, nil
	}})
	for range 2 {
		store, err := f.begin(t.Context(), history.Run{})
		if err == nil {
			err = store.Write(&history.Batch{})
		}
		if err != nil {
			t.Fatal(err)
		}
		before = time.Now() // this clock ended the first run
	}
	for _, at := range tidied {
		if at.After(previous.Add(time.Minute)) {
			t.Errorf("records are dropped as if %v was over", at.Sub(previous))
		}
	}
	if len(tidied) != 2 {
		t.Errorf("old records were dropped %d times", len(tidied))
	}
}
