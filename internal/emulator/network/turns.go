package network

import (
	"context"
	"sync"
	"time"
)

// Turns is the lock of a model. It wakes those who wait for something to happen in the model.
type Turns struct {
	sync.Mutex
	happened chan struct{} // closed when something happens; nil: nobody waits
}

// Happened says, with the lock, that something has happened.
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

// Await waits until condition is true. It asks at once and again after everything that happens;
// condition may take the lock. The error is the context's.
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

// KeepTime calls step whenever something is due in the model, until stopped is closed. next
// returns, with the lock, when that is; false: nothing is due.
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
