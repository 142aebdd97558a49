package ui

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// present is a feed of a Hub, as the program has one.
type present struct {
	*sources.Hub
	*sources.Subscription
}

func (present) Now() time.Time { return time.Now() }

// BenchmarkFrame100000 measures a frame, from the wake-up to what is handed to the renderer,
// while the Hub takes in what happens at its real pace: every owner change with its event
// and its term.
func BenchmarkFrame100000(b *testing.B) {
	const rows = 100_000
	b.Run(fmt.Sprintf("rows=%d/changes=10000", rows), func(b *testing.B) {
		hub := sources.NewHub(b.Context(), sources.HubOptions{})
		defer hub.Close()
		ctx, stop := context.WithCancel(context.Background())
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		running.Go(func() { _ = uitest.Load{Rows: rows, Changes: 10_000, Turnover: 100}.Run(ctx, hub) })
		sub := hub.Subscribe(0)
		defer sub.Close()
		m := newModel(Options{Feed: present{hub, sub}, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}})
		m.Update(tea.WindowSizeMsg{Width: 160, Height: 48})
		var frames []time.Duration
		frame := func() {
			for shown := hub.State().Rev; hub.State().Rev == shown; { // ten times a second
				<-sub.Wake()
			}
			start := time.Now()
			m.Update(terminal.WakeMsg{})
			_ = m.View()
			frames = append(frames, time.Since(start))
		}
		for hub.State().Sources == nil || hub.State().Sources[0].Rows < rows {
			<-sub.Wake()
		}
		frame() // the listing itself
		frames = frames[:0]
		for b.Loop() {
			frame()
		}
		for len(frames) < 300 {
			frame()
		}
		slices.Sort(frames)
		at := func(q float64) float64 {
			return float64(frames[int(q*float64(len(frames)-1))]) / float64(time.Millisecond)
		}
		b.ReportMetric(at(0.50), "p50-ms")
		b.ReportMetric(at(0.99), "p99-ms")
		b.ReportMetric(0, "ns/op") // paced
	})
}
