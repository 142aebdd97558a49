package record

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
	"coordtop/sources/tape"
)

const manyRows = 10_000

// leader is one of many rows, renewed at an instant.
func leader(i int, now time.Time) *sources.Primitive {
	now = now.Round(0)
	return &sources.Primitive{
		Ref: sources.Ref{Source: "s", Space: "0", Name: fmt.Sprintf("team-%d:leader:service-%d", i%40, i)}, Kind: sources.KindElection,
		Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, Taken: 1, At: now,
		Owners: []sources.Owner{{ID: fmt.Sprintf("host-%d:%d", i%200, i), Label: fmt.Sprintf("host-%d", i%200), Fence: 1, Lease: 15 * time.Second,
			Expires: sources.Stamp{At: now.Add(15 * time.Second), How: sources.Told}, Renewed: sources.Stamp{At: now, How: sources.Seen}}},
	}
}

// many is a Hub of many leaders, with a recording where inputs is not nil.
func many(b *testing.B, inputs *sources.InputBuffer) (hub *sources.Hub, renew func(n int), stop func()) {
	b.Helper()
	hub = sources.NewHub(b.Context(), sources.HubOptions{Recorder: inputs})
	s := sourcetest.NewScript()
	s.OnConnect(func() []sources.Change {
		all := sources.Change{Scope: "sc", Alive: []string{"sc"}, Synced: true}
		for i := range manyRows {
			all.Set = append(all.Set, leader(i, time.Now()))
		}
		return []sources.Change{{Scope: "sc", Relists: true, Alive: []string{"sc"}}, all}
	})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() {
		done <- sources.Run(ctx, hub, []sources.Spec{{Name: "s", Type: "redis", Address: "a:1", Source: s}})
	}() // received in stop
	sub := hub.Subscribe(0)
	defer sub.Close()
	for len(hub.State().Rows) < manyRows {
		<-sub.Wake()
	}
	next := 0
	renew = func(n int) {
		for range n {
			s.Push(sources.Change{Scope: "sc", Alive: []string{"sc"}, Set: []*sources.Primitive{leader(next%manyRows, time.Now())}})
			next++
		}
	}
	return hub, renew, func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
		hub.Close()
	}
}

func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRecord renews 1,000 leaders a second for ten seconds, with and without a recording:
// what that costs of a core, and when its events can be read.
func BenchmarkRecord(b *testing.B) {
	for _, on := range []bool{false, true, false, true} {
		b.Run(fmt.Sprintf("recording=%v", on), func(b *testing.B) {
			var inputs *sources.InputBuffer
			if on {
				inputs = sources.NewInputBuffer(0, 0)
			}
			hub, renew, stop := many(b, inputs)
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan struct{})
			if on {
				r := newRecorder(b, hub, inputs)
				go func() { defer close(done); _ = r.Run(ctx) }() // waited for below
			} else {
				close(done)
			}
			sub := hub.Subscribe(hub.State().LastSeq)
			<-time.After(2 * time.Second) // the first listing is written
			sub.Events(0)
			var late []time.Duration
			for b.Loop() {
				began, start, ticker := used(b), time.Now(), time.NewTicker(time.Millisecond)
				for range 10_000 {
					<-ticker.C
					pushed := time.Now()
					renew(1)
					for n := 0; n == 0; {
						<-sub.Wake()
						events, _ := sub.Events(0)
						n = len(events)
					}
					late = append(late, time.Since(pushed))
				}
				ticker.Stop()
				b.ReportMetric(100*float64(used(b)-began)/float64(time.Since(start)), "%core")
			}
			slices.Sort(late)
			b.ReportMetric(float64(late[len(late)*99/100].Microseconds()), "p99-us")
			sub.Close()
			cancel()
			<-done
			stop()
		})
	}
}

func newRecorder(b *testing.B, hub *sources.Hub, inputs *sources.InputBuffer) *Recorder {
	o := sqlite.Options{Path: b.TempDir() + "/state/history.db", Ours: true}
	return New(Options{Hub: hub, Inputs: inputs, Logger: nil, Begin: func(ctx context.Context) (Output, error) {
		return sqlite.Begin(ctx, o, history.Run{Span: history.Span{From: time.Now(), To: time.Now()}})
	}})
}

// BenchmarkStateAtAnInstant makes the state again at the end of a group as long as groups get: of
// 10,000 leaders and 40,000 renewals.
func BenchmarkStateAtAnInstant(b *testing.B) {
	inputs := sources.NewInputBuffer(1<<20, 1<<30)
	hub, renew, stop := many(b, inputs)
	path := b.TempDir() + "/state/history.db"
	store, err := sqlite.Begin(b.Context(), sqlite.Options{Path: path, Ours: true}, history.Run{Span: history.Span{From: time.Now(), To: time.Now()}})
	if err != nil {
		b.Fatal(err)
	}
	r := newBatcher(hub, store, tape.EncoderOptions{}, time.Now(), time.Time{})
	sub := hub.Subscribe(hub.State().LastSeq)
	for range 40 {
		if err := r.flush(time.Now(), inputs.Take); err != nil {
			b.Fatal(err)
		}
		renew(1000)
		for n := 0; n < 1000; {
			<-sub.Wake()
			events, _ := sub.Events(0)
			n += len(events)
		}
	}
	if err := r.flush(time.Now(), inputs.Take); err != nil {
		b.Fatal(err)
	}
	stop()
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
	s := sqlite.NewReader(path)
	defer s.Close()
	began := used(b)
	for b.Loop() {
		if _, err := history.LastKnown(b.Context(), s, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(used(b)-began)/float64(b.N)/1e6, "cpu-ms/op")
}
