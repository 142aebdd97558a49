package ydbsource

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
)

// BenchmarkChangeToEvent measures how late 500 changes come: from the sending of another
// program's acquire or release to the event at a subscriber, with 1,000 semaphores
// watched on the node.
func BenchmarkChangeToEvent(b *testing.B) {
	names := many(1000)
	r := serve(b, ydbtest.Options{}, names...)
	other := r.session(1, testLimit)
	r.watch(Options{Selections: elections(names...)}).synced()
	var late []time.Duration
	for b.Loop() {
		for _, name := range names[:250] {
			began := time.Now()
			term := r.lead(other, name, "a")
			r.Event(sources.EventAcquired, name)
			late = append(late, time.Since(began))
			began = time.Now()
			r.resign(term)
			r.Event(sources.EventReleased, name)
			late = append(late, time.Since(began))
		}
	}
	slices.Sort(late)
	b.ReportMetric(ms(late[len(late)/2]), "p50-ms")
	b.ReportMetric(ms(late[len(late)*99/100]), "p99-ms")
	b.ReportMetric(ms(late[len(late)-1]), "max-ms")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// BenchmarkManySemaphores measures what 5,000 watched semaphores of one node, each with an
// owner, keep in memory beside the emulator, how long the first listing takes, and how
// long the one after a restart of the tablet.
func BenchmarkManySemaphores(b *testing.B) {
	names := many(5000)
	for b.Loop() {
		b.StopTimer()
		r := serve(b, ydbtest.Options{}, names...)
		other := r.session(1, 5*time.Minute)
		for _, name := range names {
			r.lead(other, name, "host-1.example:4711 leads "+name)
		}
		idle := r.client()
		c, err := ydbcoord.NewClient(idle)
		noError(b, err)
		noError(b, c.Ping(b.Context()))
		before := heap()
		b.StartTimer()
		began := time.Now()
		r.watch(Options{Selections: elections(names...)}).synced()
		listed := time.Since(began)
		after := heap()
		began = time.Now()
		noError(b, r.RestartTablet(app))
		r.synced()
		b.ReportMetric(time.Since(began).Seconds(), "resync-s")
		b.ReportMetric(listed.Seconds(), "listing-s")
		b.ReportMetric(float64(after-before)/(1<<20), "heap-MB")
		b.ReportMetric(float64(after-before)/float64(len(names)), "heap-B/semaphore")
		b.StopTimer()
		r.Stop()
		closeClient(c)
		b.StartTimer()
	}
}

// heap is what is reachable.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
