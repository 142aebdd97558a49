package app

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
)

// arrivals tells when the line about each key came out of the program.
type arrivals chan arrival

type arrival struct {
	event, key string
	at         time.Time
}

func (a arrivals) Write(b []byte) (int, error) {
	at := time.Now()
	for line := range bytes.Lines(b) {
		_, rest, _ := bytes.Cut(line, []byte(`"event":"`))
		event, rest, _ := bytes.Cut(rest, []byte(`"`))
		_, rest, _ = bytes.Cut(rest, []byte(`"name":"`))
		key, _, _ := bytes.Cut(rest, []byte(`"`))
		a <- arrival{string(event), string(key), at}
	}
	return len(b), nil
}

// next waits for an event of a key.
func (a arrivals) next(event, key string) time.Time {
	for {
		if got := <-a; got.event == event && (key == "" || got.key == key) {
			return got.at
		}
	}
}

// report adds the middle and the tail of the delays to a benchmark's line.
func report(b *testing.B, delays []time.Duration) {
	slices.Sort(delays)
	at := func(q float64) float64 {
		return float64(delays[min(int(q*float64(len(delays))), len(delays)-1)]) / float64(time.Millisecond)
	}
	b.ReportMetric(at(0.50), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(float64(len(delays)), "samples")
	b.ReportMetric(0, "ns/op") // says nothing here
}

// watched1000 starts a server with a thousand keys and a watch over them.
func watched1000(b *testing.B) (*redis.Client, arrivals) {
	server := localserver.RedisForTest(b, localserver.RedisOptions{})
	c := writer(b, server.Addr())
	fill(b, c, "app:leader:bench-", 1000)
	lines := make(arrivals, 4096)
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan int)
	go func() {
		ended <- newWorld(b).mainTo(ctx, lines, "watch", "-o", "json", server.URL()+"?election=app:leader:*")
	}()
	b.Cleanup(func() {
		end()
		<-ended
	})
	lines.next("synced", "")
	return c, lines
}

func fill(b *testing.B, c *redis.Client, prefix string, n int) {
	b.Helper()
	if n == 0 {
		return
	}
	pipe := c.Pipeline()
	for i := range n {
		pipe.Set(context.Background(), fmt.Sprint(prefix, i), "host:1", time.Hour)
	}
	if _, err := pipe.Exec(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkWatchLatency measures from the sending of a change to its line, with a
// thousand keys watched; both ends run on this machine.
func BenchmarkWatchLatency(b *testing.B) {
	b.Run("change", func(b *testing.B) {
		c, lines := watched1000(b)
		var delays []time.Duration
		change := func() {
			key := fmt.Sprint("app:leader:bench-", len(delays)%1000)
			start := time.Now()
			set(b, c, key, fmt.Sprint("host:", len(delays)+2), time.Hour)
			delays = append(delays, lines.next("owner_changed", key).Sub(start))
		}
		for b.Loop() {
			change()
		}
		for len(delays) < 200 {
			change()
		}
		report(b, delays)
	})
	for _, others := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("expiry/others=%d", others), func(b *testing.B) {
			c, lines := watched1000(b)
			fill(b, c, "elsewhere:", others)
			var delays []time.Duration
			for b.Loop() {
				delays = append(delays, expiries(b, c, lines, len(delays))...)
			}
			for len(delays) < 200 {
				delays = append(delays, expiries(b, c, lines, len(delays))...)
			}
			report(b, delays)
		})
	}
}

// expiries lets fifty keys run out and measures from the end of their TTL, counted from
// the sending, to the line. Where the machine is too busy to prove that none was given up
// before, the line says released, without a cause.
func expiries(b *testing.B, c *redis.Client, lines arrivals, serial int) []time.Duration {
	const ttl = 250 * time.Millisecond
	var delays []time.Duration
	ends := map[string]time.Time{}
	for i := range 50 {
		key := fmt.Sprint("app:leader:short-", serial+i)
		ends[key] = time.Now().Add(ttl)
		set(b, c, key, "host:1", ttl)
	}
	for len(ends) > 0 {
		if got := <-lines; got.event == "expired" || got.event == "released" {
			delays = append(delays, got.at.Sub(ends[got.key]))
			delete(ends, got.key)
		}
	}
	return delays
}
