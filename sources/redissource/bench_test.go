package redissource

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// quantile returns the q-th of the sorted list in milliseconds.
func quantile(list []time.Duration, q float64) float64 {
	slices.Sort(list)
	return list[int(q*float64(len(list)-1))].Seconds() * 1000
}

// follow reads events of the Hub until one is of kind and about name, and returns when it
// came to us.
func (r *rig) follow(kind sources.EventKind, name string) time.Time {
	for {
		if e := r.Next(); e.Kind == kind && e.Ref.Name == name {
			return time.Now()
		}
	}
}

// BenchmarkChangeToEvent measures from before a write is sent until its event was read from
// the Hub: 200 changes among 1,000 watched keys.
func BenchmarkChangeToEvent(b *testing.B) {
	b.Run("one prefix", func(b *testing.B) {
		r := serve(b, localserver.RedisOptions{})
		for i := range 1000 {
			r.do("SET", fmt.Sprintf("app:leader:%d", i), uuidA, "PX", "600000")
		}
		r.changes(b, Options{Selections: leaders()}, "app:leader:%d")
	})
	b.Run("no common prefix", func(b *testing.B) {
		r := serve(b, localserver.RedisOptions{})
		r.scatter(1000)
		r.changes(b, Options{Selections: scattered()}, "svc%d:leader:x")
	})
}

// changes measures changes of the keys that pattern makes of a number.
func (r *rig) changes(b *testing.B, o Options, pattern string) {
	watch(b, r, o).synced()
	for b.Loop() {
		var took []time.Duration
		for i := range 200 {
			name := fmt.Sprintf(pattern, 5*i)
			id := fmt.Sprintf("host-%d:%d", i, time.Now().UnixNano())
			start := time.Now()
			r.do("SET", name, id, "PX", "600000")
			took = append(took, r.follow(sources.EventOwnerChanged, name).Sub(start))
		}
		b.ReportMetric(quantile(took, 0.5), "p50-ms")
		b.ReportMetric(quantile(took, 0.99), "p99-ms")
	}
}

// BenchmarkExpiryToEvent measures from the end of a TTL until its event was read, with
// 10,000 other keys that have one.
func BenchmarkExpiryToEvent(b *testing.B) {
	r := serve(b, localserver.RedisOptions{})
	r.crowd(10_000)
	watch(b, r, Options{Selections: leaders()}).synced()
	const ttl = 50 * time.Millisecond
	for b.Loop() {
		var took []time.Duration
		for i := range 50 {
			name := fmt.Sprintf("app:leader:%d", i)
			start := time.Now() // the lease ends at least a TTL later
			r.do("SET", name, uuidA, "PX", int(ttl/time.Millisecond))
			r.follow(sources.EventAcquired, name)
			r.ranOut(name)
			took = append(took, time.Since(start.Add(ttl)))
		}
		b.ReportMetric(quantile(took, 0.5), "p50-ms")
		b.ReportMetric(quantile(took, 0.95), "p95-ms")
		b.ReportMetric(quantile(took, 1), "max-ms")
	}
}

// BenchmarkIdleLoad measures what the server has to do while nothing changes among 1,000
// watched keys, over ten seconds in which everything is read again once as in each minute.
func BenchmarkIdleLoad(b *testing.B) {
	b.Run("one prefix", func(b *testing.B) {
		r := serve(b, localserver.RedisOptions{})
		for i := range 1000 {
			r.do("SET", fmt.Sprintf("app:leader:%d", i), uuidA)
		}
		r.idle(b, Options{Selections: leaders()})
	})
	b.Run("no common prefix", func(b *testing.B) {
		r := serve(b, localserver.RedisOptions{})
		r.scatter(1000)
		r.idle(b, Options{Selections: scattered()})
	})
}

// idle counts the commands of a source that is left alone.
func (r *rig) idle(b *testing.B, o Options) {
	o.Resync = time.Hour
	watch(b, r, o).synced()
	for b.Loop() {
		const watched = 10 * time.Second
		before := r.commands()
		<-time.After(watched)
		quiet := float64(r.commands()-before-1) / watched.Seconds()
		b.ReportMetric(quiet, "commands/s")
		before = r.commands()
		r.Hub.Refresh("src")
		<-time.After(watched)
		sweep := float64(r.commands()-before-1) - quiet*watched.Seconds()
		b.ReportMetric(quiet+sweep/time.Minute.Seconds(), "with-resync/s")
	}
}

// commands is how many commands the server has processed.
func (r *rig) commands() int {
	for line := range strings.Lines(r.do("INFO", "stats").(string)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "total_commands_processed:"); ok {
			n, err := strconv.Atoi(text)
			noError(r.t, err)
			return n
		}
	}
	r.t.Fatal("the server does not count its commands")
	return 0
}
