package metrics

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
	"coordtop/ui/rows"
	"coordtop/ui/uitest"
)

// BenchmarkScrape looks at 50,000 elections, all of whose names are selected, and writes some 2,000 series: the bound.
func BenchmarkScrape(b *testing.B) {
	hub := sources.NewHub(b.Context(), sources.HubOptions{})
	defer hub.Close()
	script := sourcetest.NewScript()
	all := uitest.Many(50_000, time.Now())
	script.Push(sources.Change{Relists: true, Synced: true, Alive: []string{""}, Set: all})
	go func() { // ends with the benchmark's context
		_ = spawn.Call(b.Context(), func() error {
			return sources.Run(b.Context(), hub, []sources.Spec{{Name: uitest.Redis, Type: "redis", Source: script}})
		})
	}()
	for news := hub.Subscribe(0); len(hub.State().Rows) < len(all); <-news.Wake() {
	}
	names := &rows.Selection{}
	names.Parse("kind=election", func() []string { return nil })
	c := New(Options{Hub: hub, Version: "1", Names: names})
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	b.Run("look", func(b *testing.B) {
		for b.Loop() {
			c.mu.Lock()
			c.look()
			c.mu.Unlock()
		}
	})
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			families, err := registry.Gather()
			if err != nil {
				b.Fatal(err)
			}
			encoder := expfmt.NewEncoder(discard{}, expfmt.NewFormat(expfmt.TypeOpenMetrics))
			for _, f := range families {
				if err := encoder.Encode(f); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.ReportMetric(float64(len(c.samples)), "samples")
	if len(c.samples) < 1500 {
		b.Fatal(fmt.Sprint(len(c.samples), " samples"))
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
