package sourcetest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/sources"
)

// Patience bounds each wait of a Witness. It allows for a busy machine and is no promise of sources.
const Patience = time.Minute

// shownRows is the maximum number of rows that a failure prints.
const shownRows = 20

// Witness watches one source through a Hub, as the board does. If a wait is in vain, the test fails with what the Hub
// shows. Only the goroutine of the test may use it.
type Witness struct {
	Hub *sources.Hub

	t      testing.TB
	events *sources.Subscription
	queued []sources.Event
	stop   func()
}

// Watch runs a source, with the name src, until Stop or the end of the test. kind is the type of its backend. At the
// end it checks that a replay shows the same as the Hub, see CheckReplay.
func Watch(t testing.TB, kind string, source sources.Source) *Witness {
	t.Helper()
	var o sources.HubOptions
	if _, ok := t.(*testing.B); !ok {
		o.Recorder = sources.NewInputBuffer(math.MaxInt, math.MaxInt)
	}
	hub := sources.NewHub(t.Context(), o)
	w := &Witness{Hub: hub, t: t, events: hub.Subscribe(0)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	spec := sources.Spec{Name: "src", Type: kind, Source: source, Retry: backoff.Policy{Min: 50 * time.Millisecond, Max: 200 * time.Millisecond}}
	go func() { done <- sources.Run(ctx, hub, []sources.Spec{spec}) }() // joined by stop
	w.stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		w.events.Close()
		hub.Close()
		if o.Recorder != nil {
			inputs, _ := o.Recorder.Take()
			CheckReplay(t, hub, o, inputs)
		}
	}
	t.Cleanup(w.Stop)
	return w
}

// Stop ends the source and waits for it. A second call does nothing.
func (w *Witness) Stop() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// Next returns the next event of any kind.
func (w *Witness) Next() sources.Event {
	w.t.Helper()
	limit := time.NewTimer(Patience)
	defer limit.Stop()
	for {
		if len(w.queued) > 0 {
			e := w.queued[0]
			w.queued = w.queued[1:]
			return e
		}
		events, missed := w.events.Events(1000)
		if missed > 0 {
			w.t.Fatalf("missed %d events", missed)
		}
		if w.queued = events; len(events) > 0 {
			continue
		}
		select {
		case <-w.events.Wake():
		case <-limit.C:
			w.t.Fatalf("no event came; %s", w)
		}
	}
}

// Event skips events until one of this kind comes, about name or, if that is "", about any primitive.
func (w *Witness) Event(kind sources.EventKind, name string) sources.Event {
	w.t.Helper()
	for range 100_000 {
		if e := w.Next(); e.Kind == kind && (name == "" || e.Ref.Name == name) {
			return e
		}
	}
	w.t.Fatalf("no %v of %q among 100,000 events; %s", kind, name, w)
	return sources.Event{}
}

// Expect returns the next event about a primitive, which must have this kind and name.
func (w *Witness) Expect(kind sources.EventKind, name string) sources.Event {
	w.t.Helper()
	for {
		e := w.Next()
		if e.Ref.Name == "" {
			continue
		}
		if e.Kind != kind || e.Ref.Name != name {
			w.t.Fatalf("%v %q came (%+v), want %v %q", e.Kind, e.Ref.Name, e, kind, name)
		}
		return e
	}
}

// Synced waits until the next listing is complete.
func (w *Witness) Synced() {
	w.t.Helper()
	w.Event(sources.EventSynced, "")
}

// Drain returns every event so far that was not returned before.
func (w *Witness) Drain() []sources.Event {
	events, _ := w.events.Events(0)
	events = append(w.queued, events...)
	w.queued = nil
	return events
}

// NoOwnerEvents drains the events and fails the test if any is about a change of an owner.
func (w *Witness) NoOwnerEvents() {
	w.t.Helper()
	for _, e := range w.Drain() {
		if e.Kind.EndsOwner() || e.Kind.BeginsOwner() && e.Kind != sources.EventPresent {
			w.t.Errorf("invented: %v of %q (%+v)", e.Kind, e.Ref.Name, e)
		}
	}
}

// State waits until a published state satisfies ok, and returns it.
func (w *Witness) State(what string, ok func(*sources.State) bool) *sources.State {
	w.t.Helper()
	limit := time.NewTimer(Patience)
	defer limit.Stop()
	look := time.NewTicker(2 * time.Millisecond) // a new state wakes nobody
	defer look.Stop()
	for {
		if s := w.Hub.State(); ok(s) {
			return s
		}
		select {
		case <-look.C:
		case <-limit.C:
			w.t.Fatalf("waited in vain for %s; %s", what, w)
		}
	}
}

// Row waits until the row of name, in the given space or, if that is "", in any, satisfies ok.
func (w *Witness) Row(space, name, what string, ok func(*sources.Row, *sources.State) bool) *sources.Row {
	w.t.Helper()
	var row *sources.Row
	w.State("the row of "+name+" to be "+what, func(s *sources.State) bool {
		for _, row = range s.Rows {
			if row != nil && row.Name == name && (space == "" || row.Space == space) {
				return ok(row, s)
			}
		}
		return false
	})
	return row
}

// About waits until a scope, or the first one if that is "", is synced and its About satisfies ok.
func (w *Witness) About(scope, what string, ok func(sources.About) bool) sources.About {
	w.t.Helper()
	var about sources.About
	w.State(what, func(s *sources.State) bool {
		for i := range s.Scopes {
			if c := &s.Scopes[i]; scope == "" || c.Name == scope {
				about = c.About
				return c.Synced && about.Mode != "" && ok(about)
			}
		}
		return false
	})
	return about
}

// Status returns the Hub's status of the source.
func (w *Witness) Status() sources.SourceStatus {
	for _, s := range w.Hub.State().Sources {
		return s
	}
	return sources.SourceStatus{}
}

// String returns what the Hub shows, for a failure message.
func (w *Witness) String() string {
	s := w.Hub.State()
	var b strings.Builder
	fmt.Fprintf(&b, "the source says %+v, %+v", w.Status(), s.Scopes)
	for i, row := range s.Rows {
		if row != nil && i < shownRows {
			fmt.Fprintf(&b, "\n%s/%s %v %+v", row.Space, row.Name, row.Status(s), *row.Primitive)
		}
	}
	return b.String()
}
