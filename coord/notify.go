package coord

import (
	"context"
	"sync"

	"coordtop/internal/ground/spawn"
)

// notifier passes state changes to OnState one after the other, in order. A slow OnState delays nobody else, because a
// goroutine calls it. The goroutine runs while there are changes to pass, and flush waits for it.
type notifier struct {
	f     func(StateChange) // writes to Log and calls OnState; nil: there is neither
	start func(func())      // starts a goroutine

	mu    sync.Mutex
	queue []StateChange
	busy  chan struct{} // closed when the goroutine of handOver is done; nil while none runs
}

// newNotifier returns a notifier without a goroutine. A panic of OnState goes to the handler of ctx.
func newNotifier(ctx context.Context, o SessionOptions) *notifier {
	t := &notifier{start: func(f func()) { spawn.Go(ctx, nil, f) }}
	if o.Log != nil || o.OnState != nil {
		t.f = o.noteState
	}
	return t
}

func (t *notifier) notify(c StateChange) {
	if t.f == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = append(t.queue, c)
	if t.busy == nil {
		t.busy = make(chan struct{})
		busy := t.busy
		t.start(func() { t.handOver(busy) })
	}
}

func (t *notifier) handOver(done chan struct{}) {
	defer close(done)
	for {
		t.mu.Lock()
		if len(t.queue) == 0 {
			t.busy = nil
			t.mu.Unlock()
			return
		}
		next := t.queue[0]
		t.queue = t.queue[1:]
		t.mu.Unlock()
		t.f(next)
	}
}

// flush waits until all changes so far have been passed to OnState.
func (t *notifier) flush() {
	t.mu.Lock()
	busy := t.busy
	t.mu.Unlock()
	if busy != nil {
		<-busy
	}
}

// health derives a session's state from the results of its renewals, and reports
// each change of it.
type health struct {
	t *notifier

	mu       sync.Mutex
	state    State
	doubtful map[*keeper]error // keepers whose last renewal failed
}

func newHealth(t *notifier) *health {
	return &health{t: t, doubtful: map[*keeper]error{}}
}

func (h *health) now() State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// set changes the state. Nothing is reported after StateEnded.
func (h *health) set(s State, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.setLocked(s, why)
}

func (h *health) setLocked(s State, why error) {
	if h.state == s || h.state == StateEnded {
		return
	}
	h.state = s
	h.t.notify(StateChange{State: s, Err: why})
}

// failed notes that a renewal of k has failed or is late.
func (h *health) failed(k *keeper, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.doubtful[k] = err
	h.setLocked(StateDoubtful, err)
}

// confirmed notes an answer of the service. k is nil if the answer was not to a renewal.
func (h *health) confirmed(k *keeper) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.doubtful, k)
	if h.state == StateDoubtful && len(h.doubtful) == 0 {
		h.setLocked(StateOpen, nil)
	}
}

// left notes that k has ended. This proves nothing about the service, so a doubtful session stays doubtful until the
// next answer to any request.
func (h *health) left(k *keeper) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.doubtful, k)
}
