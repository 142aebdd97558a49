package record

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// disk is an Output that fails as it is told, and keeps what it was given.
type disk struct {
	stuck chan struct{} // nil: it is not
	clock sources.Clock // of the Hub; nil: that of this machine

	mu      sync.Mutex
	begins  error // why it cannot be begun
	err     error // of Write
	tidies  error // of Tidy
	batches []*history.Batch
	closed  int
}

func (d *disk) Write(b *history.Batch) error {
	if d.stuck != nil {
		<-d.stuck
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.batches = append(d.batches, b)
	}
	return d.err
}

func (d *disk) Tidy(time.Time) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return true, d.tidies
}
func (d *disk) Note() string      { return "" }
func (d *disk) Before() time.Time { return time.Time{} }

func (d *disk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed++
	return nil
}

// fails says how the disk fails from now on.
func (d *disk) fails(begins, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begins, d.err = begins, err
}

// written takes what was written since the last call.
func (d *disk) written() []*history.Batch {
	d.mu.Lock()
	defer d.mu.Unlock()
	batches := d.batches
	d.batches = nil
	return batches
}

func (d *disk) begin() (Output, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d, d.begins
}

// recorded runs a Hub and a Recorder until stop is called, which says how long that took.
func recorded(t *testing.T, d *disk) (r *Recorder, hub *sources.Hub, stop func() time.Duration) {
	t.Helper()
	inputs := sources.NewInputBuffer(0, 0)
	hub = sources.NewHub(t.Context(), sources.HubOptions{Recorder: inputs, Clock: d.clock})
	ctx, cancel := context.WithCancel(t.Context())
	r = New(Options{Hub: hub, Inputs: inputs, Begin: func(context.Context) (Output, error) { return d.begin() }})
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }() // received in stop
	return r, hub, func() time.Duration {
		began := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		hub.Close()
		return time.Since(began)
	}
}

func text(r *Recorder) string {
	text, _ := r.Recording()
	return text
}

func TestAFullDiskStopsTheRecordingUntilThereIsRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		r, hub, stop := recorded(t, d)
		time.Sleep(time.Second)
		if b := d.written(); text(r) != "" || len(b) == 0 || b[0].Keyframe == nil {
			t.Fatalf("%q, %d batches: want a recording that begins with a keyframe", text(r), len(b))
		}
		d.fails(nil, syscall.ENOSPC)
		hub.AddEvent(sources.Event{Kind: sources.EventAction, Ref: sources.Ref{Source: "s", Name: "n"}, Detail: "while it is full"})
		time.Sleep(5 * time.Second)
		if got, want := text(r), "recording stopped at 00:00: no space left on device"; got != want {
			t.Errorf("says %q, want %q", got, want)
		}
		d.written()
		d.fails(nil, nil)
		time.Sleep(retry)
		if b := d.written(); text(r) != "" || len(b) == 0 || b[0].Keyframe == nil || len(b[0].Events) != 1 {
			t.Errorf("%q, %+v: want a new group, and the event that the Hub has kept", text(r), b)
		}
		if stop(); d.closed != 1 {
			t.Errorf("closed %d times", d.closed)
		}
	})
}

// shifted is a clock that was set.
type shifted struct {
	sources.Clock
	by atomic.Int64
}

func (c *shifted) Now() sources.Instant {
	now := c.Clock.Now()
	now.Wall = now.Wall.Add(time.Duration(c.by.Load()))
	return now
}

func TestAClockThatIsPutBackDelaysNoRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := &shifted{Clock: sources.SystemClock()}
		d := &disk{clock: clock, err: syscall.ENOSPC}
		r, _, stop := recorded(t, d)
		time.Sleep(time.Second)
		clock.by.Store(-int64(time.Hour))
		d.fails(nil, nil)
		time.Sleep(retry)
		if b := d.written(); text(r) != "" || len(b) == 0 {
			t.Errorf("%q, %d batches: want it written by now", text(r), len(b))
		}
		stop()
	})
}

func TestARecordingThatIsFoundDamagedIsBegunAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{tidies: history.ErrDamaged}
		r, _, stop := recorded(t, d)
		time.Sleep(time.Second)
		if got, want := text(r), "recording stopped at 00:00: it is damaged"; got != want || d.closed != 1 {
			t.Errorf("says %q, want %q; closed %d times", got, want, d.closed)
		}
		d.written()
		d.mu.Lock()
		d.tidies = nil
		d.mu.Unlock()
		time.Sleep(retry)
		if b := d.written(); text(r) != "" || len(b) == 0 || b[0].Keyframe == nil {
			t.Errorf("%q, %d batches: want a new beginning", text(r), len(b))
		}
		stop()
	})
}

func TestAnotherRecorderIsFollowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{begins: history.ErrBusy}
		r, hub, stop := recorded(t, d)
		hub.AddEvent(sources.Event{Kind: sources.EventAction, Ref: sources.Ref{Source: "s", Name: "n"}, Detail: "recorded by the other"})
		time.Sleep(time.Second)
		if !strings.Contains(text(r), "another coordtop records") || r.Active() {
			t.Errorf("says %q", text(r))
		}
		d.fails(nil, nil)
		time.Sleep(takeOver)
		if b := d.written(); text(r) != "" || !r.Active() || len(b) == 0 || len(b[0].Events) > 0 {
			t.Errorf("%q, %+v: want what happens from now on", text(r), b)
		}
		stop()
	})
}

func TestADiskThatDoesNotAnswerKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{stuck: make(chan struct{})}
		_, hub, stop := recorded(t, d)
		time.Sleep(time.Second)
		hub.AddEvent(sources.Event{Kind: sources.EventAction, Ref: sources.Ref{Source: "s", Name: "n"}})
		if took := stop(); took > patience {
			t.Errorf("the end took %v", took)
		}
		close(d.stuck) // the goroutine that was given up ends
	})
}

func TestARunThatGoesOnKeepsItsTermsAndItsOwners(t *testing.T) {
	t.Parallel()
	o := sqlite.Options{Path: filepath.Join(t.TempDir(), "state", "history.db"), Ours: true}
	synctest.Test(t, func(t *testing.T) {
		pool, leader := sources.Ref{Source: "s", Name: "pool"}, sources.Ref{Source: "s", Name: "leader"}
		run := func(of string) {
			pool, leader := pool, leader
			pool.Source, leader.Source = of, of
			store := sqlite.NewReader(o.Path)
			last, err := history.LastKnown(t.Context(), store, []string{of})
			if err := errors.Join(store.Close()); err != nil {
				t.Error(err)
			}
			t.Logf("resuming: %v, %v", last != nil, err)
			inputs := sources.NewInputBuffer(0, 0)
			hub := sources.NewHub(t.Context(), sources.HubOptions{Recorder: inputs, Resume: last})
			ctx, cancel := context.WithCancel(t.Context())
			r := New(Options{Hub: hub, Inputs: inputs, Logger: slog.New(slog.DiscardHandler), Begin: func(ctx context.Context) (Output, error) {
				return sqlite.Begin(ctx, o, history.Run{Span: history.Span{From: time.Now(), To: time.Now()}})
			}})
			s := sourcetest.NewScript()
			s.OnConnect(func() []sources.Change {
				now := time.Now()
				owner := []sources.Owner{{ID: "a", Fence: 1}}
				return []sources.Change{{Scope: "sc", Relists: true, Alive: []string{"sc"}}, {Scope: "sc", Alive: []string{"sc"}, Synced: true, Set: []*sources.Primitive{
					{Ref: leader, Kind: sources.KindElection, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, At: now, Owners: owner},
					{Ref: pool, Kind: sources.KindSemaphore, Limit: 5, LimitHow: sources.Told, OwnersHow: sources.Told, Taken: 1, At: now, Owners: owner},
				}}}
			})
			done := make(chan error, 2)
			go func() {
				done <- sources.Run(ctx, hub, []sources.Spec{{Name: of, Type: "redis", Address: "a:1", Source: s}})
			}() // both are received below
			go func() { done <- r.Run(ctx) }()
			time.Sleep(5 * time.Second)
			if text := text(r); text != "" {
				t.Error(text)
			}
			cancel()
			if err := errors.Join(<-done, <-done); err != nil {
				t.Error(err)
			}
			hub.Close()
		}
		run("s")
		time.Sleep(time.Minute)
		run("other") // it knows nothing of s, and takes nothing from what was known
		run("s")
		s := sqlite.NewReader(o.Path)
		lanes, err := s.Lanes(t.Context(), []sources.Ref{pool, leader}, history.Span{From: time.Now().Add(-time.Hour), To: time.Now()})
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		for _, l := range lanes {
			if len(l.Terms) != 1 || l.Terms[0].End.At.Sub(l.Terms[0].Start.At) < time.Minute {
				t.Errorf("%s: %+v: want one term of both runs", l.Ref.Name, l.Terms)
			}
		}
		synctest.Wait()
	})
}
