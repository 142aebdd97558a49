package sources_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// world is a Hub with one scripted source, inside a synctest bubble.
type world struct {
	t      *testing.T
	hub    *sources.Hub
	script *sourcetest.Script
	events *sources.Subscription
	spec   sources.Spec
}

// inWorld runs a test in a bubble, and replays it. The source is not connected before start.
func inWorld(t *testing.T, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := sources.HubOptions{Recorder: sources.NewInputBuffer(0, 0)}
		w := &world{t: t, hub: sources.NewHub(t.Context(), o), script: sourcetest.NewScript("main")}
		w.spec = sources.Spec{Name: "redis", Type: "redis", Address: "localhost:1", Source: w.script}
		w.events = w.hub.Subscribe(0)
		defer func() {
			w.hub.Close()
			inputs, lost := o.Recorder.Take()
			if lost > 0 {
				t.Errorf("%d inputs were lost", lost)
			}
			sourcetest.CheckReplay(t, w.hub, o, inputs)
		}()
		test(w)
	})
}

// start runs the source until the test ends.
func (w *world) start() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- sources.Run(ctx, w.hub, []sources.Spec{w.spec}) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("Run = %v", err)
		}
	})
	w.settle()
}

// settle waits until everything that is due was done, and is published.
func (w *world) settle() {
	synctest.Wait()
	w.hub.PublishNow()
}

// tell pushes a Change, of scope "main" if it names none, and waits until it was taken in
// and published.
func (w *world) tell(c sources.Change) {
	w.t.Helper()
	if c.Scope == "" {
		c.Scope = "main"
	}
	w.script.Push(c)
	w.settle()
}

// list tells a whole listing, with its gap and end.
func (w *world) list(prims ...*sources.Primitive) {
	w.t.Helper()
	w.tell(sources.Change{Relists: true, Set: prims, Synced: true, Alive: []string{"main"}})
}

// happened reads the new events as short lines, and fails if some were missed.
func (w *world) happened() []string {
	w.t.Helper()
	events, missed := w.events.Events(0)
	if missed > 0 {
		w.t.Errorf("%d events were missed", missed)
	}
	var lines []string
	for _, e := range events {
		lines = append(lines, line(e))
	}
	return lines
}

func line(e sources.Event) string {
	s := fmt.Sprintf("%s %s", e.Kind, e.Ref.Name)
	if e.Previous != (sources.OwnerRef{}) {
		s += " -" + e.Previous.ID
	}
	if e.Owner != (sources.OwnerRef{}) {
		s += " +" + e.Owner.ID
	}
	if e.Cause != sources.CauseUnknown {
		s += " " + e.Cause.String()
	}
	return s + " " + e.How.String()
}

// row finds the row of a name in the latest state.
func (w *world) row(name string) *sources.Row {
	w.t.Helper()
	row := w.hub.Row(w.hub.State(), ref(name))
	if row == nil {
		w.t.Fatalf("%s has no row", name)
	}
	return row
}

func (w *world) hasRow(name string) bool { return w.hub.Row(w.hub.State(), ref(name)) != nil }

func (w *world) status(name string) sources.Status {
	w.t.Helper()
	return w.row(name).Status(w.hub.State())
}

func ref(name string) sources.Ref { return sources.Ref{Source: "redis", Space: "0", Name: name} }

// election is an election read now, led by the owners given.
func election(name string, owners ...sources.Owner) *sources.Primitive {
	return &sources.Primitive{Ref: ref(name), Kind: sources.KindElection, Limit: 1, Taken: uint64(len(owners)),
		LimitHow: sources.Told, OwnersHow: sources.Told, Owners: owners, At: time.Now()}
}

// leased is an owner whose lease ends in left.
func leased(id string, left time.Duration) sources.Owner {
	return sources.Owner{ID: id, Label: id, Lease: left, Expires: sources.Stamp{At: time.Now().Add(left), How: sources.Told}}
}
