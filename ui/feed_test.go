package ui

import (
	"slices"
	"sync"
	"time"

	"coordtop/sources"
)

// testFeed is a feed whose state and clock change only when a test sets them. It is safe for
// concurrent use.
type testFeed struct {
	mu        sync.Mutex
	state     *sources.State
	now       time.Time
	events    []sources.Event
	wake      chan struct{}
	visible   []sources.Ref
	selected  sources.Ref
	focused   int
	refreshes int
}

// newTestFeed returns a feed with that state, at the time of its publishing.
func newTestFeed(st *sources.State) *testFeed {
	return &testFeed{state: st, now: st.At, wake: make(chan struct{}, 1)}
}

// State returns what was set last.
func (f *testFeed) State() *sources.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// Now returns the time that was set last.
func (f *testFeed) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Wake receives after Set and Tell.
func (f *testFeed) Wake() <-chan struct{} { return f.wake }

// Events returns what was told since.
func (f *testFeed) Events(max int) ([]sources.Event, uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(max, len(f.events))
	events := f.events[:n]
	f.events = f.events[n:]
	return events, 0
}

// Row looks for a row.
func (f *testFeed) Row(s *sources.State, ref sources.Ref) *sources.Row {
	i := slices.IndexFunc(s.Rows, func(row *sources.Row) bool { return row != nil && row.Ref == ref })
	if i < 0 {
		return nil
	}
	return s.Rows[i]
}

// Focus notes what is on screen.
func (f *testFeed) Focus(visible []sources.Ref, selected sources.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.visible, f.selected = visible, selected
	f.focused++
}

// Refresh counts.
func (f *testFeed) Refresh() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refreshes++
}

// Focused returns the last call of Focus, and how many there were.
func (f *testFeed) Focused() (visible []sources.Ref, selected sources.Ref, calls int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.visible, f.selected, f.focused
}

// Refreshes returns how often a new look was asked for.
func (f *testFeed) Refreshes() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refreshes
}

// Set puts another state in place.
func (f *testFeed) Set(st *sources.State) {
	f.mu.Lock()
	f.state = st
	f.mu.Unlock()
	f.wakeUp()
}

// Pass lets time pass.
func (f *testFeed) Pass(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

// Tell adds events.
func (f *testFeed) Tell(events ...sources.Event) {
	f.mu.Lock()
	f.events = append(f.events, events...)
	f.mu.Unlock()
	f.wakeUp()
}

func (f *testFeed) wakeUp() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}
