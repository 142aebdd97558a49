package network

import (
	"context"
	"sync"
	"time"
)

// Turns is the lock of a model. It wakes those who wait for an event in the model.
type Turns struct {
	sync.Mutex
	happened chan struct{} // closed at the next event; nil: nobody waits
}

// Happened wakes those who wait for an event. The caller must have the lock.
func (t *Turns) Happened() {
	if t.happened != nil {
		close(t.happened)
		t.happened = nil
	}
}

func (t *Turns) waitLocked() <-chan struct{} {
	if t.happened == nil {
		t.happened = make(chan struct{})
	}
	return t.happened
}

// Await blocks until condition returns true. It calls condition at once and again after every event, without the lock.
// The error is the context's.
func (t *Turns) Await(ctx context.Context, condition func() bool) error {
	for {
		t.Lock()
		happened := t.waitLocked()
		t.Unlock()
		if condition() {
			return nil
		}
		select {
		case <-happened:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// KeepTime calls step whenever something is due in the model, until stopped is closed. It calls next with the lock
// held; next returns the time at which something is due, or false.
func (t *Turns) KeepTime(stopped <-chan struct{}, next func() (time.Time, bool), step func()) {
	for {
		t.Lock()
		due, ok := next()
		happened := t.waitLocked()
		t.Unlock()
		var wake <-chan time.Time
		if ok {
			wake = time.After(time.Until(due))
		}
		select {
		case <-wake:
			step()
		case <-happened:
		case <-stopped:
			return
		}
	}
}
