package pgcoord_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
)

// BenchmarkHandOver measures the time from the end of an owner to a grant that a queued
// claim of ours can be trusted with: its fence asked for, its window running.
func BenchmarkHandOver(b *testing.B) {
	p := localserver.PostgresForTest(b, localserver.PostgresOptions{})
	d := closing(b, p.URL(), pgcoord.Options{})
	s := open(b, d, coord.SessionOptions{})
	look := sql(b, p.URL())
	claim := coord.Claim{Kind: coord.KindMutex, Name: "4242", Wait: coord.Forever}
	ours := func() (coord.Grant, func()) {
		g := must(b, open(b, d, coord.SessionOptions{}), claim)
		return g, func() {}
	}
	for _, way := range []struct {
		name string
		own  func() (end, after func())
	}{
		{"unlock", func() (end, after func()) {
			g, done := ours()
			return func() {
				if err := g.Release(context.Background()); err != nil {
					b.Error(err)
				}
			}, done
		}},
		{"terminate", func() (end, after func()) {
			g, done := ours()
			pid, _, _ := strings.Cut(g.Info().Owner, "@")
			return func() { one[bool](b, look, "select pg_terminate_backend($1)", pid) }, done
		}},
		{"kill", func() (end, after func()) {
			c := startChild(b, p.URL(), claim.Name)
			c.awaitOwner(b)
			return func() { c.kill(b) }, func() {}
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				b.StopTimer()
				end, after := way.own()
				outcome := wait(b, s, look, claim)
				b.StartTimer()
				start := time.Now()
				go end()
				w := <-outcome
				times = append(times, time.Since(start))
				b.StopTimer()
				if w.err != nil {
					b.Fatal(w.err)
				}
				noError(b, w.grant.Release(context.Background()))
				after()
				b.StartTimer()
			}
			report(b, times)
		})
	}
}

// BenchmarkLossSeen measures how soon an owner whose session was terminated knows.
func BenchmarkLossSeen(b *testing.B) {
	p := localserver.PostgresForTest(b, localserver.PostgresOptions{})
	s := open(b, closing(b, p.URL(), pgcoord.Options{}), coord.SessionOptions{})
	look := sql(b, p.URL())
	var times []time.Duration
	for b.Loop() {
		b.StopTimer()
		g := must(b, s, coord.Claim{Kind: coord.KindMutex, Name: "1"})
		pid, _, _ := strings.Cut(g.Info().Owner, "@")
		b.StartTimer()
		start := time.Now()
		one[bool](b, look, "select pg_terminate_backend($1)", pid)
		<-g.Done()
		times = append(times, time.Since(start))
	}
	report(b, times)
}

// BenchmarkAcquireAndRelease measures an uncontended claim, its connection included.
func BenchmarkAcquireAndRelease(b *testing.B) {
	p := localserver.PostgresForTest(b, localserver.PostgresOptions{})
	s := open(b, closing(b, p.URL(), pgcoord.Options{}), coord.SessionOptions{})
	for b.Loop() {
		noError(b, must(b, s, coord.Claim{Kind: coord.KindMutex, Name: "1"}).Release(context.Background()))
	}
}

// BenchmarkRenew measures one renewal.
func BenchmarkRenew(b *testing.B) {
	p := localserver.PostgresForTest(b, localserver.PostgresOptions{})
	s := open(b, closing(b, p.URL(), pgcoord.Options{}), coord.SessionOptions{})
	g := must(b, s, coord.Claim{Kind: coord.KindMutex, Name: "1"})
	for b.Loop() {
		if _, err := g.(coord.Renewer).Renew(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func report(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	at := func(part int) float64 { return float64(times[(len(times)-1)*part/100].Microseconds()) / 1000 }
	b.ReportMetric(at(50), "p50-ms")
	b.ReportMetric(at(95), "p95-ms")
	b.ReportMetric(at(100), "max-ms")
}
