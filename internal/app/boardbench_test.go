package app

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/ui/uitest"
)

// rates are what a board cost over some time.
type rates struct{ cpu, bytes float64 } // percent of a core; a second

// over measures for that long.
func (m *meter) over(d time.Duration) rates {
	start, cpu, bytes := time.Now(), m.cpu(), m.bytes.Load()
	<-time.After(d)
	took := time.Since(start).Seconds()
	return rates{
		cpu:   100 * (m.cpu() - cpu).Seconds() / took,
		bytes: float64(m.bytes.Load()-bytes) / took,
	}
}

// watchFor is how long each case is measured, after settleFor.
const (
	watchFor  = 20 * time.Second
	settleFor = 5 * time.Second
)

// BenchmarkBoard runs the board as a process of its own on a real terminal, 160x48, and
// measures what it costs that process, the load's own making included: so that is what the
// case without changes is for.
func BenchmarkBoard(b *testing.B) {
	var idle float64
	for _, c := range []struct {
		name string
		load uitest.Load
		pace int64
	}{
		{name: "idle", load: uitest.Load{Rows: 10_000}},
		{name: "renewals", load: uitest.Load{Rows: 10_000, Changes: 1000}},
		{name: "1 in 100 another owner", load: uitest.Load{Rows: 10_000, Changes: 1000, Turnover: 100}},
		{name: "all in visible rows", load: uitest.Load{Rows: 10_000, Changes: 1000, Among: 20}},
		{name: "visible rows, 1 in 100 another owner", load: uitest.Load{Rows: 10_000, Changes: 1000, Among: 20, Turnover: 100}},
		{name: "the same, read at 2 kB per s", load: uitest.Load{Rows: 10_000, Changes: 1000, Among: 20, Turnover: 100}, pace: 2000},
		{name: "100000 rows idle", load: uitest.Load{Rows: 100_000}},
		{name: "100000 rows, 10000 changes, 1 in 100 another owner", load: uitest.Load{Rows: 100_000, Changes: 10_000, Turnover: 100}},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := underLoad(b, c.load)
			m.pace.Store(c.pace)
			<-time.After(settleFor)
			var r rates
			for b.Loop() {
				r = m.over(watchFor)
			}
			m.quit()
			if c.load.Changes == 0 {
				idle = r.cpu
			}
			b.ReportMetric(r.cpu, "cpu-%")
			b.ReportMetric(r.cpu-idle, "above-idle-%")
			b.ReportMetric(r.bytes, "bytes/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkKeyToScreen measures from a key's byte to the cursor's row on the terminal.
func BenchmarkKeyToScreen(b *testing.B) {
	m := underLoad(b, uitest.Load{Rows: 10_000, Changes: 1000, Turnover: 100})
	m.keys("j")
	m.Until(b, "the cursor", time.Minute, func(string) bool { return m.Selected() >= 0 })
	<-time.After(settleFor)
	var delays []time.Duration
	press := func() {
		key, before := "jk"[len(delays)%2:len(delays)%2+1], m.Selected()
		<-time.After(time.Duration(100+len(delays)%17) * time.Millisecond) // at no fixed place between two frames
		start := time.Now()
		m.keys(key)
		m.Until(b, "the cursor elsewhere", time.Minute, func(string) bool { return m.Selected() != before && m.Selected() >= 0 })
		delays = append(delays, time.Since(start))
	}
	for b.Loop() {
		press()
	}
	for len(delays) < 200 {
		press()
	}
	m.quit()
	report(b, delays)
}

// BenchmarkFirstFrame measures from the start of the process to what a person reads, with
// one source that answers and one that accepts the connection and is silent.
func BenchmarkFirstFrame(b *testing.B) {
	server := localserver.RedisForTest(b, localserver.RedisOptions{})
	set(b, writer(b, server.Addr()), "app:leader:billing", "host-07:4411", time.Hour)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = silent.Close() })
	for _, c := range []struct{ name, text string }{{"frame", "READ-ONLY"}, {"row", "app:leader:billing  "}} {
		b.Run(c.name, func(b *testing.B) {
			var delays []time.Duration
			start := func() {
				cmd := command(b, server.URL()+"?election=app:leader:*", "redis://"+silent.Addr().String()+"/0")
				began := time.Now()
				m := onMeter(b, cmd, 160, 48)
				m.Await(b, c.text)
				delays = append(delays, time.Since(began))
				m.quit()
			}
			for b.Loop() {
				start()
			}
			for len(delays) < 30 {
				start()
			}
			report(b, delays)
		})
	}
}

// BenchmarkStoppedTerminal wins a lease on the board, stops reading from the board's
// terminal for a minute while keys make it draw, and tells how long the server was left
// without a renewal of the lease of 30 s, which is due every 3 s.
func BenchmarkStoppedTerminal(b *testing.B) {
	server := localserver.RedisForTest(b, localserver.RedisOptions{})
	c := writer(b, server.Addr())
	for b.Loop() {
		m := onMeter(b, command(b, "--write", server.URL()+"?mutex=app:lock:disk"), 160, 48)
		m.Await(b, "app:lock:disk")
		m.keys("aa")
		m.Await(b, "(needs the name)")
		m.keys("\x1b[Z" + "app:lock:disk") // from Cancel back to the last field
		m.Until(b, "the name", time.Minute, func(string) bool { return !strings.Contains(m.Text(), "(needs the name)") })
		m.keys("\t\t\r")
		m.Await(b, "we hold 1")
		ctx, stop := context.WithCancel(context.Background())
		var running sync.WaitGroup
		lowest := time.Hour
		var renewals []time.Time
		running.Go(func() { // joined below
			for last := time.Duration(0); ctx.Err() == nil; <-time.After(20 * time.Millisecond) {
				left := c.PTTL(ctx, "app:lock:disk").Val()
				if left > last+time.Second {
					renewals = append(renewals, time.Now())
				}
				if last = left; ctx.Err() == nil {
					lowest = min(lowest, left)
				}
			}
		})
		<-time.After(15 * time.Second) // some renewals with a terminal that reads
		m.stopped.Lock()
		before := m.bytes.Load()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
			m.keys("?") // the help, and back: whole frames
		}
		m.stopped.Unlock()
		stop()
		running.Wait()
		m.Until(b, "the list", time.Minute, func(string) bool { return m.bytes.Load() > before })
		m.keys("\x03")
		m.keys("r")
		_ = ends(b, m.cmd)
		var gaps []time.Duration
		for i := range renewals[1:] {
			gaps = append(gaps, renewals[i+1].Sub(renewals[i]))
		}
		b.ReportMetric(lowest.Seconds(), "lowest-lease-s")
		b.ReportMetric(slices.Max(gaps).Seconds(), "longest-gap-s")
		b.ReportMetric(float64(len(renewals)), "renewals")
		b.ReportMetric(0, "ns/op")
	}
}
