package ydbcoord_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
)

// following is a session that follows n semaphores of an emulator on loopback, and the
// bytes of live heap that this took, the emulator's part of it included.
func following(b *testing.B, n int) (*bench, *ydbcoord.Follower, []string, float64) {
	b.Helper()
	server := start(b, ydbtest.Options{})
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("semaphore-%05d", i)
		noError(b, server.CreateSemaphore(node, names[i], 1, []byte("some data")))
	}
	d, err := client(b, server.URL(0)).Driver(node, ydbcoord.Options{TTL: 10 * time.Minute})
	noError(b, err)
	before := liveHeap()
	s, err := d.OpenSession(b.Context(), sessionOptions)
	noError(b, err)
	b.Cleanup(s.Abandon)
	f := s.Follow()
	noError(b, f.Add(names...))
	for range names {
		if _, err := f.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	return server, f, names, liveHeap() - before
}

func liveHeap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkFollow is a change of one of 1,000 followed semaphores, from the service's hand
// to the follower's.
func BenchmarkFollow(b *testing.B) {
	server, f, names, _ := following(b, 1000)
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		noError(b, server.UpdateSemaphore(node, names[i%len(names)], []byte(fmt.Sprint(i))))
		if _, err := f.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "us-p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "us-p99")
}

// BenchmarkFollow5000 measures the memory of 5,000 followed semaphores and how long it
// takes until all are known.
func BenchmarkFollow5000(b *testing.B) {
	var heap float64
	for b.Loop() {
		_, _, _, heap = following(b, 5000)
	}
	b.ReportMetric(heap/1e6, "MB")
}

var sessionOptions = coord.SessionOptions{Description: "bench"}
