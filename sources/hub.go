package sources

import (
	"sync/atomic"
	"time"
)

// HubOptions bounds what a Hub remembers. Zero fields take the defaults.
type HubOptions struct {
	Events   int           // how many events are kept for subscribers; 0: 100,000
	EventAge time.Duration // how long they are kept; 0: 24 h
}

// Hub turns the Changes of all sources into events and states.
type Hub struct {
	state atomic.Pointer[State]
}

// NewHub returns a Hub whose publisher runs until Close.
func NewHub(o HubOptions) *Hub {
	h := &Hub{}
	h.state.Store(&State{})
	return h
}

// Close stops and joins the publisher.
func (h *Hub) Close() {}

// State returns the latest published state, never nil.
func (h *Hub) State() *State { return h.state.Load() }

// Watch names the rows on screen: changes of owner in them are published at once.
func (h *Hub) Watch(rows []Ref) {}

// Focus is Watch, and tells every source that can read faster what is on screen.
func (h *Hub) Focus(visible []Ref, selected Ref) {}

// Refresh asks a source, or all with "", to look again now. It never blocks.
func (h *Hub) Refresh(source string) {}

// Slot finds a row in State.Rows.
func (h *Hub) Slot(ref Ref) (slot int, ok bool) { return 0, false }

func (h *Hub) register(specs []Spec) {}

// Subscription reads events in order, at its own pace.
type Subscription struct{ wake chan struct{} }

// Subscribe starts reading behind the event numbered from; 0: all that are kept.
func (h *Hub) Subscribe(from uint64) *Subscription {
	return &Subscription{wake: make(chan struct{}, 1)}
}

// Wake receives after new events or a new state.
func (s *Subscription) Wake() <-chan struct{} { return s.wake }

// Events returns at most max events and moves the cursor behind them; missed counts
// those that were dropped before they could be read.
func (s *Subscription) Events(max int) (events []Event, missed uint64) { return nil, 0 }

// Close ends the subscription.
func (s *Subscription) Close() {}
