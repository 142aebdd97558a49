package historytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// The sources of the Hour and some of its rows.
const (
	Leases = "leases"
	Coord  = "coord"
)

// The Hour begins at Noon. StepAt after that, its clock is set forward by Step. From Stopped to Started nobody records.
const (
	StepAt  = 30 * time.Minute
	Step    = 90 * time.Second
	Stopped = 40 * time.Minute
	Started = 41*time.Minute + 30*time.Second
	Silent  = 20 * time.Minute // Leases answers nothing for two minutes
	Answers = 22 * time.Minute
	Length  = time.Hour
)

// Billing, Search and Pool are rows of Leases and Coord.
func Billing() sources.Ref { return sources.Ref{Source: Leases, Space: "0", Name: "billing/cron"} }

// Search is an election whose leader changes while Leases is silent, and while nobody records.
func Search() sources.Ref { return sources.Ref{Source: Leases, Space: "0", Name: "search/indexer"} }

// Pool is a semaphore.
func Pool() sources.Ref { return sources.Ref{Source: Coord, Space: "/app", Name: "connections"} }

// Led describes a leader of Billing in the Hour.
type Led struct {
	Owner      string
	Fence      uint64
	Start, End time.Duration // since Noon on the recorded clock; End 0: the term still lasts
	Cause      sources.Cause
}

// Leaders returns all leaders of Billing, exact to the millisecond. The third leads in both runs: it was seen before
// and after the time in which nobody recorded.
func Leaders() []Led {
	return []Led{
		{"host-1", 1, 0, 10 * time.Minute, sources.CauseExpired},
		{"host-2", 2, 10*time.Minute + 300*time.Millisecond, 10*time.Minute + 2*time.Second, sources.CauseReplaced},
		{"host-1", 3, 10*time.Minute + 2*time.Second, 10*time.Minute + 2500*time.Millisecond, sources.CauseReleased},
		{"host-2", 4, 10*time.Minute + 4001*time.Millisecond, 50*time.Minute + Step, sources.CauseExpired},
		{"host-3", 5, 50*time.Minute + Step + 7*time.Second, 0, 0},
	}
}

// world is the state of the servers of the Hour.
type world struct {
	shift   atomic.Int64 // offset of the wall clock
	base    sources.Clock
	silent  atomic.Bool // Leases answers nothing
	scripts map[string]*sourcetest.Script
	rows    map[sources.Ref]*sources.Primitive
	order   []sources.Ref
}

// Now implements sources.Clock for the Hubs.
func (w *world) Now() sources.Instant {
	at := w.base.Now()
	at.Wall = at.Wall.Add(time.Duration(w.shift.Load()))
	return at
}

// row sets the state of a row.
func (w *world) row(ref sources.Ref, kind sources.Kind, limit uint64, owners ...sources.Owner) *sources.Primitive {
	p := &sources.Primitive{Ref: ref, Kind: kind, Limit: limit, LimitHow: sources.Told, OwnersHow: sources.Told,
		Owners: owners, Taken: uint64(len(owners)), At: w.Now().Wall}
	if ref.Source == Coord {
		p.Queue = sources.Queue{How: sources.Told, At: p.At}
	}
	if w.rows[ref] == nil {
		w.order = append(w.order, ref)
	}
	w.rows[ref] = p
	return p
}

// tell changes a row and reports the change to the Hub. cause is the reported reason for the end of previous; 0 if none
// is reported.
func (w *world) tell(previous string, cause sources.Cause, ref sources.Ref, kind sources.Kind, limit uint64, owners ...sources.Owner) {
	p := w.row(ref, kind, limit, owners...)
	c := sources.Change{At: p.At, Set: []*sources.Primitive{p}, Alive: []string{""}}
	if cause != 0 {
		c.Ended = []sources.Ending{{Ref: ref, Owner: previous, Cause: cause, How: sources.Told}}
	}
	w.scripts[ref.Source].Push(c)
}

func (w *world) leased(id string, fence uint64) sources.Owner {
	return sources.Owner{ID: id, Label: id, Fence: fence, Lease: 15 * time.Second,
		Expires: sources.Stamp{At: w.Now().Wall.Add(15 * time.Second), How: sources.Told}}
}

func session(id string, fence uint64) sources.Owner {
	return sources.Owner{ID: id, Label: id, Fence: fence, Session: id, NoExpiry: true}
}

// listing returns the first changes of a connection.
func (w *world) listing(source string) []sources.Change {
	if source == Leases && w.silent.Load() {
		return nil
	}
	c := sources.Change{At: w.Now().Wall, Relists: true, Synced: true, Alive: []string{""},
		About: &sources.About{Mode: "push", Version: "7.4.1"}}
	for _, ref := range w.order {
		if ref.Source == source {
			p := *w.rows[ref]
			p.At = c.At
			c.Set = append(c.Set, &p)
		}
	}
	return []sources.Change{c}
}

// step is an action at an instant.
type step struct {
	at time.Duration
	do func()
}

// Recorder records one Hub after the other.
type Recorder interface {
	// Begin returns the options of the next Hub.
	Begin() (sources.HubOptions, error)

	// Record records the Hub that was made with these options until stop is called, which must be before its Close.
	Record(hub *sources.Hub) (stop func() error)
}

// Hour returns the recording of Recorded as a Log.
func Hour(t *testing.T, instants []time.Duration, look func(hub *sources.Hub, now time.Time)) *Log {
	t.Helper()
	log := &Log{}
	Recorded(t, log, instants, look)
	return log
}

// Recorded plays an hour to two Hubs, one after the other: flaps of milliseconds, a silent source, a clock that is set
// forward, and a restart of the program. At each of the instants it calls look with the present Hub, or with nil
// between two Hubs. It must be called in a synctest bubble.
func Recorded(t *testing.T, log Recorder, instants []time.Duration, look func(hub *sources.Hub, now time.Time)) {
	t.Helper()
	w := &world{base: sources.SystemClock(), rows: map[sources.Ref]*sources.Primitive{}}
	noon := time.Now()
	var stop func()
	var hub *sources.Hub
	steps := w.story()
	steps = append(steps,
		step{0, func() { hub, stop = w.start(t, log) }},
		step{Stopped, func() { stop(); hub = nil }},
		step{Started, func() { hub, stop = w.start(t, log) }},
		step{Length, func() { stop() }})
	for _, at := range instants {
		steps = append(steps, step{at, func() { look(hub, w.Now().Wall) }})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return int(a.at - b.at) })
	for _, s := range steps {
		time.Sleep(s.at - time.Since(noon))
		synctest.Wait()
		s.do()
		synctest.Wait()
	}
}

// start runs a Hub and records it; stop ends both.
func (w *world) start(t *testing.T, log Recorder) (hub *sources.Hub, stop func()) {
	t.Helper()
	o, err := log.Begin()
	if err != nil {
		t.Fatal(err)
	}
	o.Clock = w
	hub = sources.NewHub(t.Context(), o)
	w.scripts = map[string]*sourcetest.Script{}
	var specs []sources.Spec
	for _, name := range []string{Coord, Leases} {
		s := sourcetest.NewScript()
		s.OnConnect(func() []sources.Change { return w.listing(name) })
		w.scripts[name] = s
		specs = append(specs, sources.Spec{Name: name, Type: map[string]string{Coord: "ydb", Leases: "redis"}[name], Address: name + ":1", Source: s})
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- sources.Run(ctx, hub, specs) }() // received in stop
	synctest.Wait()                                      // otherwise the listings in the first write would be random
	recorded := log.Record(hub)
	return hub, func() {
		cancel()
		if err := errors.Join(<-done, recorded()); err != nil {
			t.Error(err)
		}
		hub.Close()
	}
}

// story returns the actions of the hour.
func (w *world) story() []step {
	const election, semaphore = sources.KindElection, sources.KindSemaphore
	steady := sources.Ref{Source: Coord, Space: "/app", Name: "orders/outbox"}
	var billing, search string
	var fence uint64
	leads := func(id string, n uint64) { billing, fence = id, n }
	recorded := func(at time.Duration) bool { return at < Stopped || at >= Started }
	steps := []step{
		{0, func() {
			leads("host-1", 1)
			search = "host-7"
			w.row(Billing(), election, 1, w.leased(billing, fence))
			w.row(Search(), election, 1, w.leased(search, 0))
			w.row(Pool(), semaphore, 3, session("worker-1", 0))
			w.row(steady, election, 1, session("host-9", 41))
		}},
		{Silent, func() {
			w.silent.Store(true)
			w.scripts[Leases].Silence(true)
		}},
		{21 * time.Minute, func() { search = "host-8" }},
		{Answers, func() {
			w.row(Search(), election, 1, w.leased(search, 0))
			w.row(Billing(), election, 1, w.leased(billing, fence))
			w.silent.Store(false)
			w.scripts[Leases].Silence(false)
			w.scripts[Leases].Push(w.listing(Leases)...)
		}},
		{StepAt, func() { w.shift.Store(int64(Step)) }},
		{41 * time.Minute, func() {
			search = "host-6"
			w.row(Search(), election, 1, w.leased(search, 0))
			w.row(Billing(), election, 1, w.leased(billing, fence))
		}},
	}
	shown := func(d time.Duration) time.Duration { // converts to a clock that is not set forward
		if d > StepAt {
			return d - Step
		}
		return d
	}
	all := Leaders()
	for i, led := range all {
		end := shown(led.End)
		if next := i + 1; next < len(all) && all[next].Start > led.End {
			steps = append(steps, step{end, func() { leads("", 0); w.tell(led.Owner, led.Cause, Billing(), election, 1) }})
		}
		if i == 0 {
			continue
		}
		steps = append(steps, step{shown(led.Start), func() {
			before := billing
			leads(led.Owner, led.Fence)
			var cause sources.Cause
			if before != "" {
				cause = all[i-1].Cause
			}
			w.tell(before, cause, Billing(), election, 1, w.leased(led.Owner, led.Fence))
		}})
	}
	for at := 5 * time.Second; at < Length; at += 5 * time.Second { // renewals
		if !recorded(at) || at > Silent && at < Answers {
			continue
		}
		steps = append(steps, step{at - 100*time.Millisecond, func() {
			if billing != "" {
				w.tell("", 0, Billing(), election, 1, w.leased(billing, fence))
			}
			w.tell("", 0, Search(), election, 1, w.leased(search, 0))
		}})
	}
	for i := range 12 { // permits of the semaphore are taken and released
		at := time.Duration(i*5)*time.Minute + 37*time.Second
		if !recorded(at) {
			continue
		}
		steps = append(steps, step{at, func() {
			var owners []sources.Owner
			for n := range 1 + i%3 {
				owners = append(owners, session(fmt.Sprintf("worker-%d", n+1), 0))
			}
			w.tell("", 0, Pool(), semaphore, 3, owners...)
		}})
	}
	return steps
}
