package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/internal/emulator/ydbtest"
)

// watchedYDB starts the program as a process of its own that watches so many elections of
// a node, each with an owner if owned, and waits until it has read them all.
func watchedYDB(b *testing.B, others int, owned bool) (s *ydbtest.Server, lines arrivals, cmd *exec.Cmd) {
	b.Helper()
	s = ydbForTest(b, ydbtest.Options{})
	owner := peer(b, s, "the owner of the others")
	url := s.URL(0) + "?node=" + ydbNode + "&election=primary"
	for i := range others {
		name := fmt.Sprint("other-", i)
		if err := s.CreateSemaphore(ydbNode, name, 1, nil); err != nil {
			b.Fatal(err)
		}
		if owned {
			data := coord.SemaphoreOptions{Data: []byte("host-1.example:4711 leads " + name)}
			if _, err := owner.Semaphore(name, data).Acquire(context.Background(), 1); err != nil {
				b.Fatal(err)
			}
		}
		url += "&election=" + name
	}
	lines = make(arrivals, 2*others+4096)
	cmd = command(b, "watch", "-o", "json", url)
	cmd.Stdout = lines
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // it ends the goroutine that reads what the program writes
	})
	lines.next("synced", "")
	return s, lines, cmd
}

// BenchmarkYDBWatchLatency measures from the sending of another client's acquire or release
// to its line out of the standard output of watch, a process of its own. The emulator and
// that client are in this one.
func BenchmarkYDBWatchLatency(b *testing.B) {
	for _, others := range []int{0, 999} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) { ydbWatchLatency(b, others) })
	}
}

func ydbWatchLatency(b *testing.B, others int) {
	s, lines, _ := watchedYDB(b, others, false)
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
	b.ReportMetric(float64(slices.Max(delays))/float64(time.Millisecond), "max-ms")
}

// BenchmarkYDBWatchMemory measures what 5,000 watched semaphores of one node, each with an
// owner, add to the resident memory of watch: the middle of three runs, each beside one
// that watches a single semaphore.
func BenchmarkYDBWatchMemory(b *testing.B) {
	const many, runs = 5000, 3
	measure := func(others int) float64 {
		var seen []float64
		for range runs {
			_, _, cmd := watchedYDB(b, others, true)
			seen = append(seen, settled(b, cmd.Process.Pid))
			_ = cmd.Process.Signal(os.Interrupt)
		}
		slices.Sort(seen)
		b.Logf("%d others: %.1f MB", others, seen)
		return seen[runs/2]
	}
	for b.Loop() {
		idle := measure(0)
		b.ReportMetric(idle, "idle-MB")
		b.ReportMetric(measure(many-1)-idle, "more-MB")
	}
	b.ReportMetric(0, "ns/op") // says nothing here
}

// settled is the resident memory of a process in MB, once it has done for ten seconds
// what it does when nothing changes.
func settled(b *testing.B, pid int) float64 {
	b.Helper()
	<-time.After(10 * time.Second)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skipf("there is no /proc here: %v", err)
	}
	for line := range bytes.Lines(status) {
		if rest, ok := strings.CutPrefix(string(line), "VmRSS:"); ok {
			kB, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kB / 1024
		}
	}
	b.Fatal("the system does not say how much memory a process has")
	return 0
}
