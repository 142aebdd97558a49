package record

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
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
	"coordtop/sources/tape"
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
		if h := r.Health(); !h.Active || h.Stopped || h.Written.IsZero() || h.Lost > 0 || h.Holes > 0 || h.Unwritten > 0 {
			t.Errorf("at the start: %+v", h)
		}
		d.fails(nil, syscall.ENOSPC)
		hub.AddEvent(sources.Event{Kind: sources.EventAction, Ref: sources.Ref{Source: "s", Name: "n"}, Detail: "while it is full"})
		time.Sleep(5 * time.Second)
		if got, want := text(r), "recording stopped at 00:00: no space left on device"; got != want {
			t.Errorf("says %q, want %q", got, want)
		}
		if h := r.Health(); !h.Stopped || time.Since(h.Written) < 4*time.Second || h.Lost == 0 || h.Holes != 1 || h.Unwritten != 1 {
			t.Errorf("while it is full: %+v", h)
		}
		d.written()
		d.fails(nil, nil)
		time.Sleep(retry)
		if b := d.written(); text(r) != "" || len(b) == 0 || b[0].Keyframe == nil || len(b[0].Events) != 1 {
			t.Errorf("%q, %+v: want a new group, and the event that the Hub has kept", text(r), b)
		}
		if h := r.Health(); h.Stopped || h.Lost == 0 || h.Holes != 1 || h.Unwritten > 0 {
			t.Errorf("when there is room again: %+v", h)
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
		if !strings.Contains(text(r), "another coordtop records") || r.Active() || r.Health().Lost > 0 || r.Health().Stopped {
			t.Errorf("says %q: %+v", text(r), r.Health())
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
			last, err := history.LastKnown(t.Context(), store, []sources.SourceStatus{{Name: of, Type: "redis", Address: "a:1"}}, func(*sources.Primitive) bool { return true })
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

// TestWhatIsKnownOfASourceOutlivesRunsWithoutIt records two sources in one run, then one of them, then a source
// of the other one's name at another address.
func TestWhatIsKnownOfASourceOutlivesRunsWithoutIt(t *testing.T) {
	t.Parallel()
	o := sqlite.Options{Path: filepath.Join(t.TempDir(), "state", "history.db"), Ours: true}
	one, two := sources.SourceStatus{Name: "one", Type: "redis", Address: "a:1"}, sources.SourceStatus{Name: "two", Type: "redis", Address: "b:1"}
	elsewhere := sources.SourceStatus{Name: "one", Type: "redis", Address: "c:1"}
	all := func(*sources.Primitive) bool { return true }
	known := func(selected func(*sources.Primitive) bool, of ...sources.SourceStatus) *sources.Keyframe {
		store := sqlite.NewReader(o.Path)
		last, err := history.LastKnown(t.Context(), store, of, selected)
		if err := errors.Join(store.Close()); err != nil {
			t.Error(err)
		}
		if err != nil && !errors.Is(err, history.ErrNothing) && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		return last
	}
	now := time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)
	run := func(of ...sources.SourceStatus) {
		inputs, seq := sources.NewInputBuffer(0, 0), uint64(0)
		r := sources.NewReplayer(sources.HubOptions{Recorder: inputs})
		apply := func(in sources.Input) {
			seq++
			now = now.Add(time.Second)
			in.Seq, in.At = seq, sources.Instant{Wall: now, Mono: time.Duration(seq) * time.Second}
			if err := r.Apply(in); err != nil {
				t.Fatal(err)
			}
		}
		limits := sources.DefaultThresholds()
		apply(sources.Input{Kind: sources.InputStarted, Thresholds: &limits, Resume: known(all, of...)})
		var added []sources.AddedSource
		for _, s := range of {
			added = append(added, sources.AddedSource{Name: s.Name, Type: s.Type, Address: s.Address})
		}
		apply(sources.Input{Kind: sources.InputSources, Added: added})
		for _, s := range of {
			leader := &sources.Primitive{Ref: sources.Ref{Source: s.Name, Name: "led at " + s.Address}, Kind: sources.KindElection, Limit: 1, ForgetAfter: time.Hour,
				LimitHow: sources.Told, OwnersHow: sources.Told, At: now, Owners: []sources.Owner{{ID: "x"}}}
			apply(sources.Input{Kind: sources.InputChange, Source: s.Name, Change: sources.Change{At: now, Relists: true, Synced: true, Alive: []string{""}, Set: []*sources.Primitive{leader}}})
		}
		apply(sources.Input{Kind: sources.InputPublished})
		store, err := sqlite.Begin(t.Context(), o, history.Run{Span: history.Span{From: now, To: now}})
		if err != nil {
			t.Fatal(err)
		}
		b := newBatcher(r.Hub(), store, tape.EncoderOptions{}, now, time.Time{})
		if err := errors.Join(b.flush(now, inputs.Take), store.Close()); err != nil {
			t.Fatal(err)
		}
	}
	run(one, two)
	run(two)
	run(elsewhere)
	only := func(p *sources.Primitive) bool { return p.Source == "two" }
	for _, look := range []struct {
		want     string
		selected func(*sources.Primitive) bool
		of       []sources.SourceStatus
	}{
		{"led at a:1", all, []sources.SourceStatus{one}},
		{"led at a:1, led at b:1", all, []sources.SourceStatus{one, two}},
		{"led at c:1", all, []sources.SourceStatus{elsewhere}},
		{"led at b:1, led at c:1", all, []sources.SourceStatus{elsewhere, two}},
		{"led at b:1", only, []sources.SourceStatus{one, two}}, // as the config says now
		{"", all, []sources.SourceStatus{{Name: "one", Type: "postgres", Address: "a:1"}}},
	} {
		if got := rowsOf(t, known(look.selected, look.of...), now, look.of...); got != look.want {
			t.Errorf("known of %v: %q, want %q", look.of, got, look.want)
		}
	}
	run(two, one)
	if got := rowsOf(t, known(all, one, two), now, one, two); got != "led at a:1, led at b:1" {
		t.Errorf("a run that goes on with both knows %q", got)
	}
}

// rowsOf are the rows of a Hub that goes on with k at an instant.
func rowsOf(t *testing.T, k *sources.Keyframe, now time.Time, of ...sources.SourceStatus) string {
	t.Helper()
	if k == nil {
		return ""
	}
	if _, err := tape.NewDecoder().Keyframe(tape.NewEncoder(tape.EncoderOptions{}).Keyframe(nil, k)); err != nil {
		t.Errorf("it cannot be recorded: %v", err)
	}
	var added []sources.AddedSource
	for _, s := range of {
		added = append(added, sources.AddedSource{Name: s.Name, Type: s.Type, Address: s.Address})
	}
	r, limits, at := sources.NewReplayer(sources.HubOptions{}), sources.DefaultThresholds(), sources.Instant{Wall: now.Add(time.Minute)}
	for i, in := range []sources.Input{{Kind: sources.InputStarted, Thresholds: &limits, Resume: k}, {Kind: sources.InputSources, Added: added}, {Kind: sources.InputPublished}} {
		in.Seq, in.At = uint64(i+1), at
		if err := r.Apply(in); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, row := range r.Hub().State().Rows {
		names = append(names, row.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
