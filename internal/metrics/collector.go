package metrics

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"coordtop/internal/history/record"
	"coordtop/internal/objective"
	"coordtop/sources"
	"coordtop/ui/rows"
)

// defaultSeries is the bound of the series with the name of a primitive, unless the config has another.
const defaultSeries = 2000

// Options select what a Collector shows.
type Options struct {
	Hub        *sources.Hub
	Version    string
	Names      *rows.Selection           // of the rows whose names are labels; nil or empty: none
	Series     int                       // most series with names; 0: defaultSeries
	Recorder   func() record.Health      // nil: this process does not record, so that it shows all and never stands by
	Store      func() (bool, time.Time)  // of the team, see record.Forwarder; nil: it has none
	Objectives func() []objective.Result // nil: there are none
}

// every is the time between two looks, and the most that a sample is old.
const every = time.Second

// Collector is a prometheus.Collector over a Hub. Its methods are safe for concurrent use.
type Collector struct {
	o      Options
	descs  [families]*prometheus.Desc
	looked atomic.Int64 // Unix nanoseconds of the last look

	mu      sync.Mutex // held while it looks
	index   rows.Index
	news    *sources.Subscription
	pending []sources.Event // newer than the State that was looked at
	unseen  uint64
	bySrc   map[string]*tally // by source
	byRow   map[sources.Ref]*rowCounters
	looks   uint64
	samples []sample
}

// New returns a Collector; Run must be called. Its counters begin now.
func New(o Options) *Collector {
	c := &Collector{
		o: o, descs: descriptions(), news: o.Hub.Subscribe(o.Hub.State().LastSeq),
		bySrc: map[string]*tally{}, byRow: map[sources.Ref]*rowCounters{},
	}
	c.o.Series = cmp.Or(max(o.Series, 0), defaultSeries)
	c.news.SkipCalm()
	c.index.Order = rows.ByName
	c.index.Filter = rows.Selection{Only: func(sources.Ref) bool { return false }}
	if o.Names != nil && !o.Names.Expr.Empty() {
		c.index.Filter = *o.Names
	}
	return c
}

// Run looks once a second until ctx ends.
func (c *Collector) Run(ctx context.Context) error {
	defer c.news.Close()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		c.mu.Lock()
		c.look()
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// hung is the age of the last look from which on the process counts as hung.
const hung = 10 * time.Second

// Alive returns an error if the last look is older than that. It does not block, and does not depend on any source.
func (c *Collector) Alive() error {
	if at := c.looked.Load(); at != 0 && time.Since(time.Unix(0, at)) > hung {
		return errors.New("coordtop does not look at its sources any more: restart it")
	}
	return nil
}

// Ready returns what the process does, or an error while it has not looked yet, or should record and cannot. It does not
// block, and does not depend on any source.
func (c *Collector) Ready() (string, error) {
	h := record.Health{}
	if c.o.Recorder != nil {
		h = c.o.Recorder()
	}
	switch {
	case c.looked.Load() == 0:
		return "", errors.New("coordtop has just started")
	case c.o.Recorder == nil:
		return "watching", nil
	case h.Stopped:
		return "", errors.New("the recording cannot be written: coordtop prints the reason to its standard error")
	case h.Active:
		if c.o.Store != nil {
			if takes, _ := c.o.Store(); !takes {
				return "recording on this machine: the store of the team takes nothing", nil
			}
		}
		return "recording", nil
	}
	return "standing by: this one records as soon as no other does", nil
}

// Describe is part of prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		out <- d
	}
}

// Collect is part of prometheus.Collector. It looks again if the last look is a second old.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	if time.Since(time.Unix(0, c.looked.Load())) >= every {
		c.look()
	}
	list := c.samples // never changed, only replaced
	c.mu.Unlock()
	for i := range list {
		m, err := list[i].metric(&c.descs)
		if err != nil {
			m = prometheus.NewInvalidMetric(c.descs[list[i].family], err)
		}
		out <- m
	}
}

// look counts what happened since the last look, and replaces the samples.
func (c *Collector) look() {
	now := c.o.Hub.Now()
	st := c.o.Hub.State()
	c.looks++
	c.index.Update(st, now.Wall)
	c.index.Sweep(now.Wall, nil)
	list := make([]sample, 0, len(c.samples)+16)
	total := c.countEvents(st.LastSeq)
	health := record.Health{Active: true}
	if c.o.Recorder != nil {
		health = c.o.Recorder()
		list = c.recorderSamples(list, health, now.Wall)
	}
	if health.Active || health.Stopped {
		list = c.sourceSamples(list, st, now.Wall)
		list = c.rowSamples(list, st, now.Wall)
	} else {
		list = append(list, sample{family: standby, value: 1})
	}
	list = append(list, sample{family: buildInfo, value: 1, more: []string{c.o.Version}},
		sample{family: events, value: float64(total)}, sample{family: eventsMissed, value: float64(c.unseen)})
	c.samples = list
	c.looked.Store(time.Now().UnixNano())
}

// recorderSamples appends the samples of a recorder.
func (c *Collector) recorderSamples(list []sample, h record.Health, now time.Time) []sample {
	add := func(f family, v float64) { list = append(list, sample{family: f, value: v}) }
	switch {
	case h.Active && !h.Stopped:
		add(recording, 1)
	case h.Stopped:
		add(recording, 0)
	default: // another one records, or this one has not begun
		return list
	}
	if !h.Written.IsZero() {
		add(recordLag, max(now.Sub(h.Written), 0).Seconds())
		add(recordUnwritten, float64(h.Unwritten))
	}
	add(recordUnwrittenInputs, float64(h.Waiting))
	add(recordLost, float64(h.Lost))
	add(recordHoles, float64(h.Holes))
	if c.o.Store != nil {
		takes, until := c.o.Store()
		if add(storeUp, truth(takes)); !until.IsZero() {
			add(storeLag, max(now.Sub(until), 0).Seconds())
		}
	}
	return list
}
