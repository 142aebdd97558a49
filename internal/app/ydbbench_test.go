package app

import (
	"context"
	"fmt"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/internal/emulator/ydbtest"
)

// BenchmarkYDBWatchLatency measures from the sending of another client's acquire or release
// to its line out of watch, with the emulator, that client and the program on this machine,
// in one process.
func BenchmarkYDBWatchLatency(b *testing.B) {
	for _, others := range []int{0, 999} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) { ydbWatchLatency(b, others) })
	}
}

func ydbWatchLatency(b *testing.B, others int) {
	s := ydbForTest(b, ydbtest.Options{})
	url := s.URL(0) + "?node=" + ydbNode + "&election=primary"
	for i := range others {
		name := fmt.Sprint("other-", i)
		if err := s.CreateSemaphore(ydbNode, name, 1, nil); err != nil {
			b.Fatal(err)
		}
		url += "&election=" + name
	}
	lines := make(arrivals, 4096)
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan int)
	go func() { ended <- newWorld(b).mainTo(ctx, lines, "watch", "-o", "json", url) }()
	b.Cleanup(func() {
		end()
		<-ended
	})
	lines.next("synced", "")
	m := peer(b, s, "a").Semaphore("primary", coord.SemaphoreOptions{Data: []byte("host-1:1")})
	var delays []time.Duration
	change := func() {
		start := time.Now()
		lease, err := m.Acquire(context.Background(), 1)
		if err != nil {
			b.Fatal(err)
		}
		delays = append(delays, lines.next("acquired", "primary").Sub(start))
		start = time.Now()
		if err := lease.Release(context.Background()); err != nil {
			b.Fatal(err)
		}
		delays = append(delays, lines.next("released", "primary").Sub(start))
	}
	for b.Loop() {
		change()
	}
	for len(delays) < 500 {
		change()
	}
	report(b, delays)
}
