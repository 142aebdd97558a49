package metrics

import (
	"bytes"
	"context"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"coordtop/sources"
	"coordtop/sources/sourcetest"
	"coordtop/ui/rows"
	"coordtop/ui/uitest"
)

// watched is a Collector over a Hub with one source, in a bubble.
type watched struct {
	*testing.T
	hub       *sources.Hub
	script    *sourcetest.Script
	collector *Collector
	registry  *prometheus.Registry
}

// watch runs body in a bubble; names is the filter of the config, and change may change the options.
func watch(t *testing.T, names string, change func(*Options), body func(w *watched)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{T: t, script: sourcetest.NewScript(), registry: prometheus.NewPedanticRegistry()}
		w.hub = sources.NewHub(t.Context(), sources.HubOptions{Thresholds: sources.DefaultThresholds()})
		defer w.hub.Close()
		selection := &rows.Selection{}
		selection.Parse(names, func() []string { return nil })
		o := Options{Hub: w.hub, Version: "1.2.3", Names: selection}
		if change != nil {
			change(&o)
		}
		w.collector = New(o)
		w.registry.MustRegister(w.collector)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 2)
		go func() { done <- w.collector.Run(ctx) }() // received below
		go func() {
			done <- sources.Run(ctx, w.hub, []sources.Spec{{Name: uitest.Redis, Type: "redis", Source: w.script}})
		}()
		body(w)
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// push sends primitives as they are now; listing begins and ends a listing.
func (w *watched) push(listing bool, prims ...*sources.Primitive) {
	w.script.Push(sources.Change{Relists: listing, Synced: listing, Alive: []string{""}, Set: prims})
	synctest.Wait()
}

// pass lets time pass, and a look happen after it.
func (w *watched) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// led is an election as its source reads it now.
func led(name, owner string) *sources.Primitive {
	p := uitest.Led(name, owner, time.Now())
	if owner == "" {
		p.Owners, p.Taken = nil, 0
		return p
	}
	p.Owners[0].Since = sources.Stamp{}
	return p
}

// samples has the samples of a scrape as text: the name without coordtop_, and its labels but source and backend.
type samples map[string]float64

// scrape reads the metrics in both formats as a program does that knows only the formats.
func (w *watched) scrape() samples {
	w.Helper()
	w.pass(every + time.Millisecond)
	text := w.exposition(expfmt.NewFormat(expfmt.TypeTextPlain))
	open := w.exposition(expfmt.NewFormat(expfmt.TypeOpenMetrics))
	if !strings.HasSuffix(open, "# EOF\n") {
		w.Errorf("this is no OpenMetrics: %q", open)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	parsed, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		w.Fatalf("%v in\n%s", err, text)
	}
	got := samples{}
	for name, f := range parsed {
		for _, m := range f.Metric {
			got[key(name, m)] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return got
}

func (w *watched) exposition(format expfmt.Format) string {
	w.Helper()
	all, err := w.registry.Gather()
	if err != nil {
		w.Fatal(err)
	}
	var b bytes.Buffer
	encoder := expfmt.NewEncoder(&b, format)
	for _, f := range all {
		if err := encoder.Encode(f); err != nil {
			w.Fatal(err)
		}
	}
	if c, ok := encoder.(expfmt.Closer); ok {
		_ = c.Close()
	}
	return b.String()
}

func key(name string, m *dto.Metric) string {
	var labels []string
	for _, l := range m.Label {
		if !strings.Contains(" source backend space version kind ", " "+l.GetName()+" ") {
			labels = append(labels, l.GetValue())
		}
	}
	sort.Strings(labels)
	return strings.TrimPrefix(name, "coordtop_") + strings.TrimSuffix(" "+strings.Join(labels, ","), " ")
}

// wants compares samples; a value below 0 stands for no sample.
func (s samples) wants(t *testing.T, want samples) {
	t.Helper()
	for k, v := range want {
		got, ok := s[k]
		if ok != (v >= 0) || ok && (got < v-0.01 || got > v+0.01) {
			t.Errorf("%s is %v (there: %v), want %v", k, got, ok, v)
		}
	}
}

// of returns the samples whose text has a part, those of rows and problems also with other labels.
func (s samples) of(part string) (list []string) {
	for k := range s {
		if strings.Contains(k, part) {
			list = append(list, k)
		}
	}
	sort.Strings(list)
	return list
}
